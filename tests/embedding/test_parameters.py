import inspect
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.utils._param_validation import Interval, InvalidParameterError

from gramfold import LLE, ClassicalMDS, Isomap, KernelPCA, LandmarkMDS, NystromEmbedding, OrientedPCA
from gramfold.embedding import Embedding, attribute, method, parameter
from tests.contract.discovery import by_name, exported


@method
class Toy(Embedding):
    """A toy.

    Notes
    -----
    Kept.
    """

    size: Literal["small", "large"] = parameter(default="small", allowed=[str], words="How big.")
    toy_ = attribute("int", "Its own.")

    def _build(self, fit: Any) -> Any: ...


def test_one_line_makes_constructor_constraint_and_words():
    signature = inspect.signature(Toy)
    common = {"n_components", "inverse", "random_state", "n_jobs", "verbose", "progress"}
    assert set(signature.parameters) == {*common, "size"}
    assert next(iter(signature.parameters)) == "n_components"
    assert signature.parameters["size"].kind is inspect.Parameter.KEYWORD_ONLY
    assert signature.parameters["n_components"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = {"n_components": 3, "inverse": "auto", "random_state": 0, "n_jobs": None, "size": "large", "verbose": 0}
    assert Toy(3, size="large").get_params() == {**given, "progress": None}
    assert Toy._parameter_constraints["size"] == [str]
    with pytest.raises(InvalidParameterError, match="'size' parameter of Toy must be an instance of 'str'"):
        Toy(size=3)._validate_params()


def test_sections_of_the_documentation_are_put_together():
    doc = Toy.__doc__
    assert doc.startswith(
        "A toy.\n\nParameters\n----------\nn_components : int, default=2\n    Number of dimensions of the embedding."
    )
    assert (
        'size : {"small", "large"}, default=\'small\'\n    How big.\nrandom_state :' in doc
    )  # what all have comes last
    attributes = doc.split("Attributes\n----------\n")[1].split("\n\n")[0]
    assert attributes.startswith("toy_ : int\n    Its own.\nembedding_ : ndarray")
    assert doc.endswith("Notes\n-----\nKept.\n")


def test_an_attribute_is_what_the_fit_found():
    model = Toy()
    assert not hasattr(model, "toy_")
    assert not hasattr(model, "embedding_")
    found = Isomap().fit(np.random.default_rng(0).random((30, 3)))
    assert found.embedding_ is found.model_.embedding
    with pytest.raises(AttributeError, match="'Isomap' object has no attribute 'feature_names_in_'"):
        _ = found.feature_names_in_
    assert inspect.isdatadescriptor(Isomap.embedding_)  # so that help() shows it as one, with its words
    assert inspect.getdoc(Isomap.embedding_).startswith("Coordinates of the training rows")


def test_what_a_fit_found_is_not_set():
    model = Isomap()
    with pytest.raises(AttributeError, match="embedding_ is a result of fit and cannot be assigned"):
        model.embedding_ = 1
    model.fit(np.random.default_rng(0).random((30, 3)))
    with pytest.raises(AttributeError, match="store the value under another name"):
        model.embedding_ = model.embedding_[:, ::-1]
    with pytest.raises(AttributeError):
        del model.embedding_
    assert model.fit_transform(np.random.default_rng(0).random((20, 3))).shape == (20, 2)


def test_own_parameters_of_one_method_do_not_reach_another():
    assert "reg" in LLE._parameter_constraints
    assert "reg" not in Isomap._parameter_constraints
    assert "reg :" not in Isomap.__doc__


@pytest.mark.parametrize("cls", exported(), ids=by_name)
def test_true_is_no_number(cls):
    for name, allowed in cls._parameter_constraints.items():
        if "boolean" in allowed or not any(isinstance(one, Interval) for one in allowed):
            continue
        with pytest.raises(InvalidParameterError, match=rf"'{name}' parameter of {cls.__name__} .* Got True instead"):
            cls(**{name: True})._validate_params()


@pytest.mark.parametrize("value", [np.array(2), {}, {0, 1}])
@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (LandmarkMDS, "landmarks"),
        (NystromEmbedding, "landmarks"),
        (KernelPCA, "landmarks"),
        (ClassicalMDS, "center"),
        (OrientedPCA, "signal_covariance"),
    ],
)
def test_an_array_has_entries(cls, name, value):
    with pytest.raises(InvalidParameterError, match=rf"'{name}' parameter of {cls.__name__} must be .*an array-like"):
        cls(**{name: value}).fit(np.eye(4))
    cls(**{name: range(2, 4)})._validate_params()


def test_constructor_only_stores():
    odd = object()
    model = Isomap(n_neighbors=odd)  # judged in fit, not here
    assert vars(model)["n_neighbors"] is odd
    assert set(vars(model)) == set(model.get_params())

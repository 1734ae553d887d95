import inspect
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.utils._param_validation import Interval, InvalidParameterError

from gramfold import LLE, ClassicalMDS, Isomap, KernelPCA, LandmarkMDS, NystromEmbedding, OrientedPCA
from gramfold.embedding import KernelEmbedding, method, parameter
from tests.contract.discovery import by_name, exported


@method
class Toy(KernelEmbedding):
    """A toy.

    Attributes
    ----------
    toy_ : int
        Its own.

    Notes
    -----
    Kept.
    """

    size: Literal["small", "large"] = parameter(default="small", allowed=[str], words="How big.")

    def _kernel(self, source: Any, stages: Any) -> Any: ...
    def _place(self, piece: Any, new: Any) -> Any: ...

    _precomputed = False


def test_one_line_makes_constructor_constraint_and_words():
    signature = inspect.signature(Toy)
    assert list(signature.parameters) == ["n_components", "inverse", "n_jobs", "verbose", "size"]
    assert signature.parameters["size"].kind is inspect.Parameter.KEYWORD_ONLY
    assert signature.parameters["n_components"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = {"n_components": 3, "inverse": "auto", "n_jobs": None, "size": "large", "verbose": 0}
    assert Toy(3, size="large").get_params() == given
    assert Toy._parameter_constraints["size"] == [str]
    with pytest.raises(InvalidParameterError, match="'size' parameter of Toy must be an instance of 'str'"):
        Toy(size=3)._validate_params()


def test_sections_of_the_documentation_are_put_together():
    doc = Toy.__doc__
    assert doc.startswith("A toy.\n\nParameters\n----------\nn_components : int, default=2\n    Dimensions of the map.")
    assert 'size : {"small", "large"}, default=\'small\'\n    How big.' in doc
    attributes = doc.split("Attributes\n----------\n")[1].split("\n\n")[0]
    assert attributes.startswith("toy_ : int\n    Its own.\nembedding_ : ndarray")
    assert doc.endswith("Notes\n-----\nKept.\n")


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

"""A fitted model is plain data: it travels, and neither parameters nor other threads reach it."""

import pickle
import threading
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse, sparray, spmatrix
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import KNeighborsTransformer

from gramfold import LLE, PCA, DiffusionMap, Isomap, KernelPCA, NystromEmbedding, OrdinalMDS, SpectralClustering
from gramfold.errors import GramfoldWarning, InputError
from tests.contract.checks import sheet
from tests.contract.discovery import by_name, exported
from tests.contract.test_whole_models import PLACING, answers, assert_same

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")

ESTIMATORS = exported()
PLAIN = (np.ndarray, np.generic, np.dtype, sparray, spmatrix, str, bytes, int, float, bool, type(None))


def leaves_of_a_user(model: object, path: str, found: list[str]) -> None:
    """Walk a model; whatever is neither plain data nor frozen is an error, what came from the user is noted."""
    if isinstance(model, PLAIN):
        return
    if is_dataclass(model) and not isinstance(model, BaseEstimator):
        assert type(model).__dataclass_params__.frozen, f"{path} is a {type(model).__name__}, which can be changed"
        for one in fields(model):
            leaves_of_a_user(getattr(model, one.name), f"{path}.{one.name}", found)
        return
    if isinstance(model, Mapping):
        for name, value in model.items():
            assert isinstance(name, str | int), path
            leaves_of_a_user(value, f"{path}[{name!r}]", found)
        return
    if isinstance(model, tuple | list):
        for number, value in enumerate(model):
            leaves_of_a_user(value, f"{path}[{number}]", found)
        return
    assert callable(model) or isinstance(model, BaseEstimator), f"{path} is a {type(model).__name__}"
    found.append(path)


def cityblock(x, y):
    return float(np.abs(x - y).sum())


@pytest.mark.parametrize("cls", ESTIMATORS, ids=by_name)
def test_a_model_is_a_tree_of_frozen_data(cls):
    model = cls().fit(sheet(80))
    found: list[str] = []
    leaves_of_a_user(model.model_, "model_", found)
    assert not found
    with pytest.raises(AttributeError):
        model.model_.name = "another"
    assert set(vars(model)) == {*model.get_params(), "model_"}, "a fit leaves one thing"


@pytest.mark.parametrize(
    ("model", "leaf"),
    [
        (Isomap(metric=cityblock), ("metric.name",)),
        (KernelPCA(kernel=cityblock), ("function.name", "own.kernel")),
        (LLE(search=KNeighborsTransformer(n_neighbors=8)), ("transformer",)),
        (SpectralClustering(metric=cityblock), ("metric.name",)),
        (OrdinalMDS(metric=cityblock), ()),
    ],
)
def test_what_came_from_the_user_is_a_leaf(model, leaf):
    found: list[str] = []
    leaves_of_a_user(model.fit(sheet(60)).model_, "model_", found)
    assert all(path.endswith(leaf) for path in found) if leaf else not found
    assert bool(found) == bool(leaf)


@pytest.mark.parametrize("cls", PLACING, ids=by_name)
def test_use_does_not_make_a_pickle_larger(cls):
    model = cls().fit(sheet(80))
    before = len(pickle.dumps(model))
    first = answers(model, sheet(5, seed=1))
    assert len(pickle.dumps(model)) == before, "what is derived is not stored"
    assert_same(answers(pickle.loads(pickle.dumps(model)), sheet(5, seed=1)), first)


def test_derived_things_are_found_by_the_walk():
    """The walk sees fields; a search tree is none of them."""
    index = Isomap().fit(sheet(60)).model_.source.components.net.index
    assert any(isinstance(value, cached_property) for base in type(index).__mro__ for value in vars(base).values())
    assert not issparse(index.points)


def changed(model: BaseEstimator) -> dict[str, object]:
    """Other values of parameters, all valid, for those that only a fit may read."""
    others = {
        "n_components": 3,
        "n_neighbors": 11,
        "reg": 0.5,
        "metric": "cityblock",
        "kernel": "linear",
        "gamma": 3.0,
        "weights": "binary",
        "on_disconnected": "error",
        "conformal": True,
        "whiten": True,
        "landmarks": 7,
        "n_clusters": 2,
        "random_state": 5,
        "max_iter": 3,
        "t": 9.0,
        "alpha": 0.3,
    }
    return {name: value for name, value in others.items() if name in model.get_params()}


@pytest.mark.parametrize("cls", PLACING, ids=by_name)
def test_parameters_changed_after_a_fit_change_nothing(cls):
    fresh = sheet(5, seed=1)
    model = cls().fit(sheet(80))
    before = answers(model, fresh)
    again = clone(model).set_params(**changed(model))
    model.set_params(**changed(model), n_jobs=1, verbose=0)
    assert_same(answers(model, fresh), before)
    assert clone(model).get_params() == {**again.get_params(), "n_jobs": 1}


def in_threads(*calls):
    """Results of calls made at the same time."""
    results: list[object] = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def run(number):
        start.wait()
        results[number] = calls[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("cls", [Isomap, LLE, DiffusionMap, KernelPCA])
def test_two_threads_fit_clones_and_share_a_model(cls):
    X, Z, fresh = sheet(150), sheet(150, seed=3), sheet(40, seed=1)
    expected = [cls().fit(X).embedding_, cls().fit(Z).embedding_]
    found = in_threads(lambda: cls().fit(X).embedding_, lambda: cls().fit(Z).embedding_)
    assert_same(found, expected)
    model = pickle.loads(pickle.dumps(cls().fit(X)))  # whose search trees are not built yet
    alone = answers(cls().fit(X), fresh)
    for one in in_threads(*4 * [lambda: answers(model, fresh)]):
        assert_same(one, alone)


def test_a_refit_does_not_reach_a_transform_under_way():
    X, Z, fresh = sheet(150), sheet(150, seed=3) * 7, sheet(40, seed=1)
    model = Isomap().fit(X)
    allowed = [Isomap().fit(X).transform(fresh), Isomap().fit(Z).transform(fresh)]
    places = in_threads(
        lambda: [model.fit(rows) for rows in 5 * [Z, X]], lambda: [model.transform(fresh) for _ in range(30)]
    )[1]
    for one in places:
        assert any(np.array_equal(one, known) for known in allowed)


def test_an_inverse_may_be_made_while_others_transform():
    """scikit-learn's check of whether a model is fitted walks through all attributes; ours does not."""
    fresh = sheet(5, seed=1)
    for _ in range(40):
        model = pickle.loads(pickle.dumps(FITTED))
        calls = [lambda model=model: [model.transform(fresh) for _ in range(5)]] * 3
        results = in_threads(*calls, lambda model=model: model.inverse_transform(model.embedding_[:3]))
        assert all(result is not None for result in results)


FITTED = Isomap().fit(sheet(60))


class OwnConstructor(Isomap):
    def __init__(self, extra=3):
        self.extra = extra


def test_a_subclass_may_have_a_constructor_of_its_own():
    np.testing.assert_array_equal(OwnConstructor(5).fit(sheet(60)).embedding_, FITTED.embedding_)


@pytest.mark.parametrize("cls", [PCA, KernelPCA, NystromEmbedding])
def test_dense_and_sparse_rows_meet(cls):
    X, fresh = np.abs(sheet(80)), np.abs(sheet(9, seed=1))
    far = fresh + 50.0
    dense, sparse = cls().fit(X), cls().fit(csr_array(X))
    for model in (dense, sparse):
        for rows in (fresh, far):
            np.testing.assert_allclose(model.transform(rows), model.transform(csr_array(rows)), atol=1e-8)
            expected = model.extrapolation(rows, of="rows")
            np.testing.assert_allclose(model.extrapolation(csr_array(rows), of="rows"), expected, rtol=1e-6)


@pytest.mark.parametrize("n_jobs", ["2", 1.5, True])
def test_threads_that_are_no_number_are_refused_at_any_time(n_jobs):
    with pytest.raises(InputError, match="is not a number of threads"):
        clone(FITTED).fit(sheet(60)).set_params(n_jobs=n_jobs).transform(sheet(5))

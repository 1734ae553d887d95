"""A fitted model is whole and its own: no half-finished fit, no array of the user's, nothing made by looking at it."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from gramfold import KernelPCA
from gramfold.errors import GramfoldWarning
from gramfold.runtime import memory
from gramfold.runtime.progress import Stages
from tests.contract.checks import sheet
from tests.contract.discovery import by_name, exported

ESTIMATORS = exported()
PLACING = [cls for cls in ESTIMATORS if hasattr(cls, "transform") or hasattr(cls, "predict")]

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


def answers(model: object, fresh: np.ndarray) -> list[np.ndarray]:
    """All that a model says of new rows and of places."""
    if hasattr(model, "predict"):
        return [model.predict(fresh), np.array(model.score(fresh))]
    places = model.transform(fresh)
    return [places, model.inverse_transform(places), model.extrapolation(fresh, of="rows")]


def assert_same(left: list[np.ndarray], right: list[np.ndarray]) -> None:
    for one, other in zip(left, right, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("cls", PLACING, ids=by_name)
@pytest.mark.parametrize("given", [np.ascontiguousarray, np.asfortranarray, pd.DataFrame], ids=["C", "F", "frame"])
def test_a_model_owns_its_rows(cls, given):
    X, fresh = sheet(80), sheet(5, seed=1)
    expected = answers(cls().fit(X.copy()), fresh)
    table = given(X)
    model = cls().fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas may copy before it writes
        table *= 0
    X *= 0
    assert_same(answers(model, pd.DataFrame(fresh) if given is pd.DataFrame else fresh), expected)


@pytest.mark.parametrize("cls", [cls for cls in ESTIMATORS if hasattr(cls, "fit_transform")], ids=by_name)
def test_the_map_that_is_returned_is_the_users(cls):
    model = cls()
    places = model.fit_transform(sheet(60))
    before = model.embedding_.copy()
    places *= 0
    np.testing.assert_array_equal(model.embedding_, before)


def test_sparse_rows_are_owned_too():
    X = csr_array(np.abs(sheet(60)))
    model = KernelPCA(kernel="linear").fit(X)
    before = model.transform(csr_array(np.abs(sheet(5, seed=1))))
    X.data *= 0
    np.testing.assert_array_equal(model.transform(csr_array(np.abs(sheet(5, seed=1)))), before)


def test_a_map_of_a_file_is_not_copied_and_a_copy_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", sheet(60))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = KernelPCA(landmarks=5).fit(mapped)
    assert np.shares_memory(model.model_.rows, mapped)
    monkeypatch.setattr(memory, "available_memory", lambda: 100.0)
    with pytest.raises(MemoryError, match=r"a copy of X \(60 x 3\) that the model can keep needs"):
        KernelPCA(landmarks=5).fit(sheet(60))


class Interrupted:
    """Lets so many stages begin, and presses the key in the next."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, allowed: int) -> None:
        self.left, self.pressed, begin = allowed, False, Stages.__call__

        def called(stages: Stages, name: str):
            self.left -= 1
            if self.left < 0:
                self.pressed = True
                raise KeyboardInterrupt
            return begin(stages, name)

        monkeypatch.setattr(Stages, "__call__", called)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=by_name)
def test_an_interrupted_fit_changes_nothing(cls):
    first, second, fresh = sheet(60), sheet(70, seed=2) * 3, sheet(5, seed=1)
    model = cls().fit(first)
    before = pickle.dumps(vars(model))
    for allowed in range(20):
        with pytest.MonkeyPatch.context() as patch:
            key = Interrupted(patch, allowed)
            try:
                model.fit(second)
            except KeyboardInterrupt:
                assert pickle.dumps(vars(model)) == before
            unfitted = cls()
            key.left = allowed
            try:
                unfitted.fit(second)
            except KeyboardInterrupt:
                assert vars(unfitted) == vars(cls())
        if not key.pressed:
            break
    assert allowed > 0, "no stage was ever begun"
    if cls in PLACING:
        assert_same(answers(model, fresh), answers(cls().fit(second), fresh))


@pytest.mark.parametrize("cls", PLACING, ids=by_name)
def test_after_a_first_fit_that_failed_nothing_is_fitted(cls):
    model = cls()
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.fit(np.where(sheet(30) > 0.9, np.inf, sheet(30)))
    with pytest.raises(NotFittedError):
        (model.predict if hasattr(model, "predict") else model.transform)(sheet(5))


@pytest.mark.parametrize("cls", ESTIMATORS, ids=by_name)
def test_showing_a_model_makes_nothing(cls):
    model = cls().fit(sheet(60))
    before = pickle.dumps(vars(model))
    inspect.getmembers(model)
    model._repr_html_()
    assert pickle.dumps(vars(model)) == before
    assert set(vars(model)) == {*model.get_params(), "model_"}, "something was made by looking"

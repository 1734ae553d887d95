"""The callback `progress` of every estimator."""

import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

import gramfold
from gramfold import PCA, Isomap, compare
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import kernel_coefficients, stability, sweep
from gramfold.embedding.estimator import Estimator
from gramfold.errors import InputError

METHODS = [
    cls
    for name in gramfold.__all__
    if isinstance(cls := getattr(gramfold, name), type) and issubclass(cls, Estimator) and cls is not Estimator
]
ROWS = make_swiss_roll(150, random_state=0).points


class Heard(list):
    """Keeps what it is called with, and cannot be copied."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def __call__(self, stage, done, total):
        assert threading.current_thread() is threading.main_thread()
        self.append((stage, done, total))


def check_order(heard):
    """Every stage begins at 0, goes up, and ends with all done; what is within it ends before it."""
    under_way = []
    for stage, done, total in heard:
        if not under_way or under_way[-1][0] != stage:
            assert done == 0
            under_way.append([stage, 0])
            continue
        assert done >= under_way[-1][1]
        under_way[-1][1] = done
        if done == total:
            under_way.pop()
    assert not under_way


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_every_method_tells_its_stages(cls, monkeypatch):
    monkeypatch.setattr("gramfold.runtime.progress._PAUSE", 0.0)
    heard = Heard()
    model = cls(progress=heard).fit(ROWS)
    check_order(heard)
    assert {stage for stage, _, _ in heard if ": " not in stage} == set(model.timings_)
    plain = cls().fit(ROWS)
    if hasattr(model, "embedding_"):
        np.testing.assert_array_equal(model.embedding_, plain.embedding_)


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_an_error_ends_the_fit_and_leaves_all_as_it_was(cls, monkeypatch):
    monkeypatch.setattr("gramfold.runtime.progress._PAUSE", 0.0)
    heard = Heard()
    cls(progress=heard).fit(ROWS)
    for when in {0, len(heard) // 2, len(heard) - 1}:
        enough, calls = ValueError("enough"), []

        def cancel(*call, calls=calls, when=when, enough=enough):
            calls.append(call)
            if len(calls) > when:
                raise enough

        model = cls(progress=cancel)
        with pytest.raises(ValueError, match="enough") as caught:
            model.fit(ROWS)
        assert caught.value is enough
        with pytest.raises(NotFittedError):
            model._model()


def test_a_cancelled_refit_leaves_the_first_fit():
    model = Isomap().fit(ROWS)
    before = model.embedding_.copy()
    model.progress = lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        model.fit(ROWS[:100])
    np.testing.assert_array_equal(model.embedding_, before)
    with pytest.raises(ZeroDivisionError):
        model.transform(ROWS[:3])
    model.progress = None
    assert model.transform(ROWS[:3]).shape == (3, 2)


def test_work_of_a_fitted_model_is_told():
    model = Isomap().fit(ROWS)
    model.progress = heard = Heard()
    places = model.transform(ROWS[:3] + 1e-3)
    model.inverse_transform(places)
    model.leading_eigenvalues(5)
    model.sensitivity(ROWS[:3] + 1e-3)
    check_order(heard)
    assert [stage for stage, done, _ in heard if not done] == [
        "transform",
        "inverse",
        "inverse_transform",
        "spectrum",
        "sensitivity",
    ]


def test_pickles_and_clones():
    heard = Heard()
    model = PCA(progress=heard).fit(ROWS)
    back = pickle.loads(pickle.dumps(model))
    assert back.progress is None
    np.testing.assert_array_equal(back.transform(ROWS), model.transform(ROWS))
    assert model.progress is heard
    fresh = clone(model)
    assert fresh.progress is heard
    assert not hasattr(fresh, "model_")
    assert model.get_params()["progress"] is heard
    assert PCA().set_params(progress=heard).progress is heard


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_works(n_jobs):
    whole = make_pipeline(StandardScaler(), Isomap(progress=Heard()))
    found = GridSearchCV(whole, {"isomap__n_neighbors": [6, 8]}, cv=2, n_jobs=n_jobs, error_score="raise").fit(ROWS)
    assert found.best_params_["isomap__n_neighbors"] in {6, 8}


def test_what_cannot_be_called_is_refused():
    with pytest.raises(InvalidParameterError, match="'progress' parameter of PCA must be a callable"):
        PCA(progress=3).fit(ROWS)
    model = PCA().fit(ROWS)
    model.progress = 3
    with pytest.raises(InputError, match="progress=3 cannot be called"):
        model.transform(ROWS)


def test_diagnostics_tell_their_steps_and_can_be_ended():
    heard = Heard()
    stability(Isomap(), ROWS, refits=2, progress=heard)
    sweep(Isomap(), ROWS, [6, 8], progress=heard)
    kernel_coefficients(Isomap(), ROWS, sizes=[50, 100, 150], progress=heard)
    compare(ROWS, ["pca", "isomap"], progress=heard)
    check_order(heard)
    assert ("refits: drawn rows", 2, 2) in heard
    assert ("fits: numbers of neighbors", 2, 2) in heard

    def cancel(stage, done, total):
        raise ValueError("enough")

    for work in (
        lambda: stability(Isomap(), ROWS, refits=2, progress=cancel),
        lambda: sweep(Isomap(), ROWS, [6, 8], progress=cancel),
        lambda: kernel_coefficients(Isomap(), ROWS, sizes=[50, 100, 150], progress=cancel),
        lambda: compare(ROWS, ["pca", "isomap"], progress=cancel),
    ):
        with pytest.raises(ValueError, match=r"^enough$"):
            work()

"""Contract items 1–9 for every exported estimator: a new method gets all of it by being exported."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramfold.embedding import LinearMap
from gramfold.errors import GramfoldWarning, PrecomputedInputError
from gramfold.runtime import memory
from tests.contract import checks
from tests.contract.discovery import by_name, exported, unfit_for_weights, worked_example

ESTIMATORS = [*exported(), worked_example()]
# A check of scikit-learn that may fail needs a reason here: {class name: {check name: reason}}.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {}
# A method that knows nothing of unseen rows is named here; all others have transform, inverse_transform and score.
ONLY_FIT = {"OrdinalMDS"}
# A map that is a function of the rows' own columns refuses precomputed values already in fit.
NEEDS_COLUMNS = {"KernelEigenmaps", "LPP"}

# Landmarks, centres and starts are drawn by row number: another order of the rows is another map.
BY_ROW_NUMBER = {"NystromEmbedding", "KernelEigenmaps", "MixturePPCA"}

# Noise is each column's own: columns that are turned into one another are others, with other factors.
OWN_COLUMNS = {"FactorAnalysis"}

# The sheet of the checks is five times as long as it is high: the leading coordinates of a Laplacian repeat themselves.
pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
# A clusterer gives rows a label where all others give them a place: it has predict, and checks of its own.
CLUSTERERS = [cls for cls in ESTIMATORS if hasattr(cls, "fit_predict")]
MAPS = [cls for cls in ESTIMATORS if cls not in CLUSTERERS]

every_estimator = pytest.mark.parametrize("cls", ESTIMATORS, ids=by_name)
every_map = pytest.mark.parametrize("cls", MAPS, ids=by_name)
every_clusterer = pytest.mark.parametrize("cls", CLUSTERERS, ids=by_name)


@parametrize_with_checks(
    [cls() for cls in ESTIMATORS],
    expected_failed_checks=lambda estimator: {
        **unfit_for_weights(estimator),
        **EXPECTED_FAILURES.get(type(estimator).__name__, {}),
    },
)
@pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_map
def test_capabilities_are_declared(cls):
    assert hasattr(cls, "fit_transform")
    for capability in ("transform", "inverse_transform", "score"):
        assert hasattr(cls, capability) == (cls.__name__ not in ONLY_FIT)


def test_clusterers_are_declared():
    assert {cls.__name__ for cls in CLUSTERERS} == {"SpectralClustering"}
    for cls in CLUSTERERS:
        assert hasattr(cls, "predict")
        assert hasattr(cls, "score")
        assert not hasattr(cls, "fit_transform")


@pytest.mark.parametrize("check", checks.ALWAYS, ids=lambda check: check.__name__)
@every_map
def test_always(cls, check):
    checks.quietly(check, cls)


@pytest.mark.parametrize("check", checks.NEW_POINTS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("cls", [c for c in ESTIMATORS if hasattr(c, "transform")], ids=by_name)
def test_new_points(cls, check):
    checks.quietly(check, cls)


@pytest.mark.parametrize("cls", [c for c in ESTIMATORS if hasattr(c, "inverse_transform")], ids=by_name)
@pytest.mark.parametrize("check", checks.INVERSE, ids=lambda check: check.__name__)
def test_inverse(cls, check):
    checks.quietly(check, cls)


@pytest.mark.parametrize("cls", [c for c in ESTIMATORS if hasattr(c, "inverse_transform")], ids=by_name)
def test_inverse_of_precomputed(cls):
    if cls.__name__ in NEEDS_COLUMNS:
        with pytest.raises(PrecomputedInputError, match="pass the rows themselves"):
            cls(metric="precomputed").fit(np.zeros((20, 20)))
        return
    for word in ("metric", "kernel"):
        allowed = cls._parameter_constraints.get(word, [])
        if (word == "metric" and allowed) or any("precomputed" in str(one) for one in allowed):
            checks.inverse_of_precomputed_is_refused(cls, {word: "precomputed"})
            return
    if issubclass(cls, LinearMap):  # directions are of rows; distances have none
        assert not {"metric", "kernel"} & set(cls._parameter_constraints)
        return
    pytest.fail("takes no precomputed values: state so in the contract")


@every_map
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_thread_counts_agree(cls, dtype):
    checks.quietly(checks.thread_counts_agree, cls, dtype)


@pytest.mark.parametrize("check", checks.INVARIANCE, ids=lambda check: check.__name__)
@pytest.mark.parametrize("cls", [c for c in MAPS if c.__name__ not in BY_ROW_NUMBER], ids=by_name)
def test_invariance(cls, check):
    if cls.__name__ in OWN_COLUMNS and check is checks.moved_rows_give_the_same_map:
        pytest.skip("a method of columns does not follow a rotation of them")
    check(cls)


@every_clusterer
@pytest.mark.parametrize("check", checks.CLUSTERS, ids=lambda check: check.__name__)
def test_clusters(cls, check):
    check(cls)


@every_estimator
def test_memory(cls, monkeypatch):
    def set_free_memory(free):
        monkeypatch.setattr(memory, "available_memory", lambda: free)

    checks.what_does_not_fit_is_refused(cls, set_free_memory)

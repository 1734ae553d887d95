"""Jaccard and Hamming of rows of 0 and 1: SciPy's distances, exact and approximate neighbours."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramfold import ClassicalMDS, Isomap, LaplacianEigenmaps
from gramfold.errors import InputError
from gramfold.neighbors.binary import BinaryMetric
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.search import build_index

NAMES = ["jaccard", "hamming"]


def fingerprints(n=400, d=70, seed=0, groups=12):
    """Noisy copies of some sparse rows, of very different sizes, with an empty row."""
    rng = np.random.default_rng(seed)
    kinds = rng.random((groups, d)) < rng.uniform(0.05, 0.6, (groups, 1))
    rows = kinds[rng.integers(groups, size=n)] ^ (rng.random((n, d)) < 0.05)
    rows[0] = False
    return rows.astype(np.float64)


def searched(X, name, n_jobs=1, search="approximate", k=8):
    if search == "approximate":
        pytest.importorskip("faiss")
    state = np.random.RandomState(0)
    options = {"metric": name, "metric_params": None, "n_neighbors": k, "radius": None}
    return build_index(X, search=search, n_jobs=n_jobs, random_state=state, **options)[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NAMES)
def test_distances_are_those_of_scipy_to_the_last_bit(name, dtype):
    X, new = fingerprints().astype(dtype), fingerprints(50, seed=1).astype(dtype)
    metric = make_metric(name, None, X)
    assert isinstance(metric, BinaryMetric)
    rows = metric.prepare(X)
    for left in (X, new, new * 2):  # the last are not of 0 and 1
        expected = cdist(left.astype(float), X.astype(float), name)
        assert np.array_equal(metric.block(left, X), expected)
        assert np.array_equal(metric.block(metric.prepare(left), rows), expected)
        i, j = (part.ravel()[::7] for part in np.indices(expected.shape))
        assert np.array_equal(metric.pairs(metric.prepare(left), i, rows, j, 1), expected[i, j])


@pytest.mark.parametrize("name", NAMES)
def test_exact_neighbours_are_those_of_scipy(name):
    index = searched(fingerprints(300), name, search="exact")
    slow = cdist(index.points, index.points, name)
    np.fill_diagonal(slow, np.inf)
    assert np.array_equal(index.own(8, None).distances.reshape(-1, 8), np.sort(slow, axis=1)[:, :8])


def test_rows_of_other_values_stay_with_scipy():
    X = np.random.default_rng(0).integers(0, 4, (60, 5)).astype(float)
    for name in NAMES:
        metric = make_metric(name, None, X)
        assert not isinstance(metric, BinaryMetric)
        assert np.array_equal(metric.block(X[:9], X), cdist(X[:9], X, name))
        with pytest.raises(InputError, match=f"not '{name}' of other values: use search='exact'"):
            Isomap(metric=name, search="approximate").fit(X)


@pytest.mark.parametrize("name", NAMES)
def test_approximate_neighbours_and_their_recall(name):
    X = fingerprints(3000, 120, groups=40)
    index, exact = searched(X, name), searched(X, name, search="exact")
    found, truth = index.own(8, None), exact.own(8, None)
    slow = cdist(exact.points[:50], exact.points, name)
    rows = np.repeat(np.arange(50), 8)
    assert np.array_equal(found.distances[:400], slow[rows, found.indices[:400]])  # exact distances of what was found
    recall = np.mean(found.distances <= np.repeat(truth.farthest, 8))
    assert recall > 0.95
    assert abs(index.recall - recall) < 0.03
    within = index.within(X[:40], np.full(40, 0.3), np.zeros(index.size))
    wanted = exact.within(X[:40], np.full(40, 0.3), np.zeros(index.size))
    assert len(within.indices) > 0.95 * len(wanted.indices) > 0


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")  # groups are connected components
@pytest.mark.parametrize("name", NAMES)
def test_approximate_rows_do_not_depend_on_threads_or_pickles(name):
    X, new = fingerprints(1500, groups=30), fingerprints(100, seed=2, groups=30)
    pytest.importorskip("faiss")
    one, two = (LaplacianEigenmaps(metric=name, search="approximate", n_neighbors=15, n_jobs=n).fit(X) for n in (1, 2))
    assert 0.9 < one.neighbors_.recall <= 1
    np.testing.assert_array_equal(one.neighbors_.indices, two.neighbors_.indices)
    placed = one.transform(new)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).transform(new), placed)
    np.testing.assert_array_equal(two.transform(new), placed)
    with pytest.raises(InputError, match="new rows hold values other than 0 and 1"):
        one.transform(2 * new)


@pytest.mark.parametrize("name", NAMES)
def test_a_scaling_of_sets_is_that_of_their_distances(name):
    X = fingerprints(80)
    model = ClassicalMDS(metric=name).fit(X)
    given = ClassicalMDS(metric="precomputed").fit(cdist(X, X, name))
    np.testing.assert_allclose(model.embedding_, given.embedding_, atol=1e-10)
    new = fingerprints(9, seed=5)
    np.testing.assert_allclose(model.transform(new), given.transform(cdist(new, X, name)), atol=1e-10)

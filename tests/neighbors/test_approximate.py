"""The approximate search: how good, always the same, and what it refuses."""

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramfold.errors import InputError, MissingExtraError
from gramfold.neighbors.metrics import make_metric

pytest.importorskip("faiss")
from gramfold.neighbors.approximate import SmallWorldIndex, _float32, faiss_installed, load_faiss

N, D, K = 3000, 30, 10


def make(X, metric="euclidean", n_jobs=1):
    return SmallWorldIndex.of(X, make_metric(metric, None, X), n_jobs)


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(0)
    return 5.0 * rng.normal(size=(20, D))[rng.integers(0, 20, N)] + rng.normal(size=(N, D))


@pytest.fixture(scope="module")
def index(clusters):
    return make(clusters)


@pytest.fixture(scope="module")
def distances(clusters):
    found = cdist(clusters, clusters)
    np.fill_diagonal(found, np.inf)
    return found


def share_found(lists, distances, k):
    truth = np.argsort(distances, axis=1)[:, :k]
    return np.mean([len(np.intersect1d(a, b)) / k for a, b in zip(lists.indices.reshape(-1, k), truth, strict=True)])


def test_nearly_all_true_neighbours_are_found(index, distances):
    lists = index.own(K, None)
    assert share_found(lists, distances, K) > 0.9
    assert not (lists.indices == lists.rows).any()
    np.testing.assert_allclose(lists.distances, distances[lists.rows, lists.indices], rtol=1e-12)
    by_row = lists.distances.reshape(-1, K)
    assert (np.diff(by_row, axis=1) >= 0).all()


@pytest.mark.parametrize("k", [1, K])
def test_recall_is_that_of_the_lists(index, distances, k):
    poor = replace(index, width=2)  # enough to tell
    measured = poor.measure_recall(k, np.random.RandomState(0), sample_size=N)
    assert measured == pytest.approx(share_found(poor.own(k, None), distances, k), abs=1e-12)
    assert measured < index.measure_recall(k, np.random.RandomState(0), sample_size=N) <= 1


def test_recall_of_a_sample_is_near_that_of_all(index, distances):
    poor = replace(index, width=2)
    measured = poor.measured(K, np.random.RandomState(1))
    assert measured.recall == poor.measure_recall(K, np.random.RandomState(1))
    assert measured.recall == pytest.approx(share_found(measured.own(K, None), distances, K), abs=0.08)
    assert poor.recall is None


def test_equally_near_neighbours_count_as_found():
    X = np.unique(np.random.default_rng(1).integers(0, 2, (400, 16)).astype(float), axis=0)
    assert make(X).measure_recall(3, np.random.RandomState(0)) > 0.95


def test_the_same_rows_for_any_number_of_threads(clusters, index):
    one, two, again = index.own(K, None), make(clusters, n_jobs=2).own(K, None), make(clusters, n_jobs=2).own(K, None)
    for other in (two, again):
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_array_equal(one.distances, other.distances)


def test_a_batch_equals_its_rows_one_by_one(clusters, index):
    queries = clusters[:20] + 0.1
    whole = index.nearest(queries, K)
    for row in range(20):
        one = index.nearest(queries[row : row + 1], K)
        np.testing.assert_array_equal(one.indices, whole.take(np.array([row])).indices)
        np.testing.assert_array_equal(one.distances, whole.take(np.array([row])).distances)


def test_rows_far_from_the_origin_are_found_as_well(clusters, distances):
    # 1e9 alone would round every coordinate to a multiple of 64 in float32
    assert share_found(make(clusters + 1e9).own(K, None), distances, K) > 0.9


def test_cosine(clusters):
    distances = cdist(clusters, clusters, "cosine")
    np.fill_diagonal(distances, np.inf)
    lists = make(clusters, "cosine").own(K, None)
    assert share_found(lists, distances, K) > 0.9
    np.testing.assert_allclose(lists.distances, distances[lists.rows, lists.indices], atol=1e-12)


def test_vertices_that_the_search_graph_does_not_reach_are_found_among_all(clusters, index, distances, monkeypatch):
    class Lost:
        def search(self, rows, k, params):
            found = np.tile(np.arange(k), (len(rows), 1))
            found[:, -1] = -1
            return np.zeros(found.shape), found

    monkeypatch.setitem(vars(index), "_graph", Lost())
    truth = np.argsort(cdist(clusters[:5] + 0.1, clusters), axis=1)[:, :4]
    np.testing.assert_array_equal(index.nearest(clusters[:5] + 0.1, 4).indices.reshape(5, 4), truth)


def test_whoever_would_choose_a_new_row_is_found(clusters, index):
    new = clusters[:100] + 0.3 * np.random.default_rng(2).standard_normal((100, clusters.shape[1]))
    lists, near = index.own(K, None), cdist(new, clusters)
    found = index.joined(new, K, lists)
    wanted = near < lists.farthest
    np.put_along_axis(wanted, np.argsort(near, axis=1)[:, :K], values=True, axis=1)
    np.testing.assert_allclose(found.distances, near[found.rows, found.indices], rtol=1e-12)
    right = wanted[found.rows, found.indices].sum()
    assert right > 0.95 * wanted.sum()
    assert right > 0.99 * len(found.indices)
    assert wanted.sum() > 1.2 * K * len(new)  # more than their own choice


def test_choosers_beyond_the_nearest_are_found(monkeypatch):
    """A hub amid a sphere: all 200 there would choose it, of whom it sees no more than 64 at first."""
    rng = np.random.default_rng(0)
    sphere = rng.standard_normal((200, 60))
    sphere *= 10 / np.linalg.norm(sphere, axis=1, keepdims=True)
    index = make(np.vstack([0.01 * rng.standard_normal((9, 60)), sphere]))
    lists, hub = index.own(K, None), np.zeros((1, 60))
    assert (lists.farthest[9:] > 10.1).all()
    assert index.joined(hub, K, lists).counts[0] > 0.95 * 209
    monkeypatch.setattr("gramfold.neighbors.approximate._two_steps", lambda near, lists: 2 * (np.empty(0, int),))
    assert index.joined(hub, K, lists).counts[0] <= 64


def test_pickling_keeps_the_answers(clusters, index):
    copy = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(copy.nearest(clusters[:50], K).indices, index.nearest(clusters[:50], K).indices)
    np.testing.assert_array_equal(index.own(2, None).indices, copy.own(2, None).indices)  # the first still works


@pytest.mark.parametrize("radius", [4.5, 8.0])  # of some and of more neighbours than are looked at first
def test_a_radius_is_looked_through(index, distances, radius):
    found = index.own(None, radius)
    i, j = np.nonzero(distances <= radius)
    wanted = set(zip(i.tolist(), j.tolist(), strict=True))
    got = set(zip(found.rows.tolist(), found.indices.tolist(), strict=True))
    assert got <= wanted
    assert len(got) > 0.99 * len(wanted)
    assert (found.counts.max() > 64) == (radius > 5)


def test_fewer_rows_than_neighbours_have_a_recall():
    few = make(np.random.default_rng(0).normal(size=(6, 3)))
    assert few.measure_recall(8, np.random.RandomState(0)) == 1.0
    assert make(np.zeros((1, 3))).measure_recall(8, np.random.RandomState(0)) == 1.0


def test_other_metrics_are_refused(clusters):
    with pytest.raises(
        InputError, match=r"supports the euclidean, cosine and correlation metrics, .*, not 'cityblock': use.*'exact'"
    ):
        make(clusters, "cityblock")


def test_faiss_is_missing(clusters, monkeypatch):
    assert faiss_installed()
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(
        MissingExtraError, match=r'needs faiss, which is not installed: run `pip install "gramfold\[approximate\]"`'
    ):
        load_faiss()
    with pytest.raises(MissingExtraError, match="needs faiss"):
        make(clusters)


def test_a_row_that_the_search_graph_does_not_lead_to_is_found():
    rows = np.random.default_rng(0).standard_normal((2_000, 100))
    index = make(rows)
    found = index._graph.search(_float32(rows, index._center), 8)[1]  # what faiss finds by itself
    assert (found[:, 0] != np.arange(len(rows))).any()
    nearest = index.nearest(rows, 8)
    np.testing.assert_array_equal(nearest.nearest, np.arange(len(rows)))
    assert (nearest.distances.reshape(-1, 8)[:, 0] == 0).all()


def test_the_number_of_threads_of_faiss_is_left_as_it_was():
    faiss = pytest.importorskip("faiss")
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(3)
    try:
        X = np.random.default_rng(0).random((300, 20))
        index = SmallWorldIndex.of(X, make_metric("euclidean", None, X), 1)
        index.nearest(X[:5], 3)
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)

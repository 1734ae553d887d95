"""The exact searches against all distances, sorted."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from gramfold.errors import InputError
from gramfold.neighbors.exact import BlockedIndex, TreeIndex
from gramfold.neighbors.metrics import make_metric
from gramfold.runtime.costs import COSTS, SearchCosts

EXACT = [TreeIndex, BlockedIndex]
METRICS = [("euclidean", {}), ("cosine", {}), ("cityblock", {}), ("chebyshev", {}), ("minkowski", {"p": 3.0})]


def make(index, X, metric="euclidean", n_jobs=1, costs=COSTS.search, **params):
    return index(X, make_metric(metric, params, X), n_jobs, costs=costs)


def all_distances(queries, X, metric="euclidean", **params):
    """From differences, in float64, each row by itself."""
    if metric != "euclidean":
        return cdist(queries.astype(float), X.astype(float), metric, **params)
    return np.array([np.sqrt(((X.astype(float) - q.astype(float)) ** 2).sum(axis=1)) for q in queries])


def plain_nearest(distances, k):
    """The k smallest of each row, the lower index at a tie."""
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


def without_self(distances):
    distances = distances.copy()
    np.fill_diagonal(distances, np.inf)
    return distances


def assert_lists(found, distances, k, *, rtol=1e-12):
    indices = plain_nearest(distances, k)
    np.testing.assert_array_equal(found.indices.reshape(-1, k), indices)
    np.testing.assert_allclose(found.distances.reshape(-1, k), np.take_along_axis(distances, indices, 1), rtol=rtol)
    np.testing.assert_array_equal(found.indptr, k * np.arange(len(distances) + 1))


def as_sets(found):
    return [set(part.tolist()) for part in np.split(found.indices, found.indptr[1:-1])]


def assert_identical(first, second):
    for name in ("indptr", "indices", "distances"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


# --- the nearest, against all distances


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize("d", [1, 2, 3, 7, 16, 40])
def test_nearest_on_random_rows(index, d):
    rng = np.random.default_rng(d)
    X, queries = rng.normal(size=(300, d)), rng.normal(size=(40, d))
    search = make(index, X)
    assert_lists(search.nearest(queries, 6), all_distances(queries, X), 6)
    assert_lists(search.own(6, None), without_self(all_distances(X, X)), 6)


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize(("metric", "params"), METRICS)
def test_nearest_in_every_metric(index, metric, params):
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(200, 4)), rng.normal(size=(30, 4))
    search = make(index, X, metric, **params)
    assert_lists(search.nearest(queries, 5), all_distances(queries, X, metric, **params), 5, rtol=1e-9)


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize("p", [7.0, 300.0, 1e5, 1e308])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_powers_of_differences_neither_overflow_nor_vanish(index, p, size):
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(120, 3)), rng.normal(size=(30, 3))
    largest = all_distances(queries, X, "chebyshev")
    apart = np.abs(queries[:, None] - X[None]) / largest[:, :, None]
    distances = size * largest * (apart**p).sum(axis=2) ** (1 / p)
    search = make(index, size * X, "minkowski", p=p)
    assert_lists(search.nearest(size * queries, 5), distances, 5)
    radius = 0.7 * size
    within = [set(np.flatnonzero(row <= radius)) for row in distances]
    assert as_sets(search.within(size * queries, np.full(30, radius), np.zeros(120))) == within


def test_distances_that_overflow_are_refused():
    with pytest.raises(InputError, match=r"distances between rows of X overflow.*divide X by a constant"):
        make(TreeIndex, 1e120 * np.random.default_rng(0).normal(size=(50, 3)), "minkowski", p=4.0).own(5, None)


@pytest.mark.parametrize("metric", ["canberra", "correlation", lambda u, v: float(np.abs(u - v).max())])
def test_blocked_search_in_any_metric(metric):
    rng = np.random.default_rng(1)
    X, queries = rng.normal(size=(60, 5)), rng.normal(size=(10, 5))
    search = make(BlockedIndex, X, metric)
    assert_lists(search.nearest(queries, 5), all_distances(queries, X, metric), 5)
    assert_lists(search.own(4, None), without_self(all_distances(X, X, metric)), 4)


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("side", "d"), [(60, 1), (12, 2), (6, 3), (3, 5)])
@pytest.mark.parametrize("k", [1, 3, 6, 11])
def test_ties_on_a_grid_go_to_the_lower_index(index, dtype, side, d, k):
    X = np.stack(np.meshgrid(*[np.arange(side)] * d, indexing="ij"), axis=-1).reshape(-1, d).astype(dtype)
    X = X[np.random.default_rng(d).permutation(len(X))]
    search = make(index, X)
    assert_lists(search.own(k, None), without_self(all_distances(X, X)), k)
    middles = X[:20] + dtype(0.5)  # as near to 2^d vertices
    assert_lists(search.nearest(middles, k), all_distances(middles, X), k)


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev"])
def test_both_searches_break_ties_alike_in_other_metrics(metric):
    X = np.stack(np.meshgrid(*[np.arange(7.0)] * 3), axis=-1).reshape(-1, 3)
    truth = without_self(all_distances(X, X, metric))
    for index in EXACT:
        assert_lists(make(index, X, metric).own(9, None), truth, 9)


def test_ties_among_many_columns():
    X = np.unique(np.random.default_rng(2).integers(0, 2, (400, 30)).astype(float), axis=0)
    assert_lists(make(BlockedIndex, X).own(5, None), without_self(all_distances(X, X)), 5)


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("offset", [1e4, 1e6])
def test_float32_rows_far_from_the_origin(index, d, offset):
    rng = np.random.default_rng(3)
    X = np.unique((offset + rng.normal(size=(300, d))).astype(np.float32), axis=0)
    assert_lists(make(index, X).own(7, None), without_self(all_distances(X, X)), 7)


@pytest.mark.parametrize("index", EXACT)
def test_two_far_groups_of_float32_rows(index):
    # the centre is far from everybody: products round to more than the distances within a group
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(100, 20)) - 3e3, rng.normal(size=(100, 20)) + 3e3]).astype(np.float32)
    assert_lists(make(index, X).own(5, None), without_self(all_distances(X, X)), 5)


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize(("fitted", "asked"), [("f4", "f8"), ("f8", "f4")])
def test_queries_of_the_other_precision(index, fitted, asked):
    rng = np.random.default_rng(5)
    X = (rng.normal(size=(400, 20)) * 1e-3 + rng.choice([-1.0, 1.0], size=(400, 1))).astype(fitted)
    queries = (rng.normal(size=(50, 20)) * 1e-3 + rng.choice([-1.0, 1.0], size=(50, 1))).astype(asked)
    assert_lists(make(index, X).nearest(queries, 5), all_distances(queries, X), 5)


@pytest.mark.parametrize("index", EXACT)
def test_float32_rows_whose_squares_overflow_float32(index):
    X = (np.random.default_rng(6).normal(size=(100, 20)) * 1e25).astype(np.float32)
    search, distances = make(index, X), without_self(all_distances(X, X))
    assert_lists(search.own(4, None), distances, 4)
    radius = float(np.median(distances))
    assert as_sets(search.own(None, radius)) == [set(np.flatnonzero(row <= radius)) for row in distances]


@pytest.mark.parametrize("crowded", [0, 12, 400], ids=["none", "few", "all"])
@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_rows_too_near_for_products_in_float32(crowded, scale):
    # groups of up to 100 rows within 1e-6 of each other: float32 cannot tell who of a group is nearest
    rng = np.random.default_rng(8)
    X = rng.normal(size=(420, 30))
    heads = X[rng.permutation(420)[: max(1, crowded // 100)]]
    for group, head in enumerate(heads):
        members = np.arange(group, crowded, len(heads))
        X[members] = head + 1e-6 * rng.normal(size=(len(members), 30))
    X *= scale
    search = make(BlockedIndex, X)
    assert_lists(search.own(6, None), without_self(all_distances(X, X)), 6)
    far = 1e4 * X[::7]
    assert_lists(search.nearest(far, 3), all_distances(far, X), 3)


@pytest.mark.parametrize("index", EXACT)
def test_rows_of_one_direction_are_at_cosine_distance_zero(index):
    # more equal directions than neighbours asked for: nobody is its own neighbour all the same
    X = np.outer([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], [1.0, 1.0])
    found = make(index, X, "cosine").own(2, None)
    assert as_sets(found) == [{1, 2}, {0, 2}, {0, 1}, {0, 1}, {0, 1}, {0, 1}]
    np.testing.assert_array_equal(found.distances, 0.0)


@pytest.mark.parametrize("index", EXACT)
def test_all_the_others(index):
    X = np.random.default_rng(7).normal(size=(12, 3))
    assert_lists(make(index, X).own(11, None), without_self(all_distances(X, X)), 11)
    assert_lists(make(index, X).nearest(X, 12), all_distances(X, X), 12)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 18), st.integers(1, 4), st.sampled_from(["f4", "f8"])
)
def test_both_searches_agree(seed, n, d, values, dtype):
    rng = np.random.default_rng(seed)
    X = rng.integers(-values, values + 1, (n, d)).astype(dtype) / 3  # many ties, rounded
    k = int(rng.integers(1, n))
    distances = all_distances(X, X)
    tree, blocked = (make(index, X) for index in EXACT)
    assert_identical(tree.nearest(X, k), blocked.nearest(X, k))
    np.testing.assert_allclose(tree.nearest(X, k).distances.reshape(-1, k), np.sort(distances, axis=1)[:, :k])
    reach, reaches = distances.max() * rng.random(n), distances.max() * rng.random(n)
    assert_identical(tree.within(X, reach, reaches), blocked.within(X, reach, reaches))


# --- all within reach


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize(("metric", "params"), METRICS)
def test_radius(index, metric, params):
    X = np.random.default_rng(8).normal(size=(150, 3))
    distances = without_self(all_distances(X, X, metric, **params))
    radius = float(np.quantile(distances, 0.1))
    found = make(index, X, metric, **params).own(None, radius)
    assert as_sets(found) == [set(np.flatnonzero(row <= radius)) for row in distances]
    assert all((np.diff(part) >= 0).all() for part in np.split(found.distances, found.indptr[1:-1]))


@pytest.mark.parametrize("index", EXACT)
def test_a_radius_that_is_a_distance_of_the_grid_includes_it(index):
    X = np.stack(np.meshgrid(np.arange(8), np.arange(8)), axis=-1).reshape(-1, 2) * 0.1
    found = make(index, X).own(None, 0.1)  # 0.3 − 0.2 is not quite 0.1
    cells = np.rint(X * 10)
    steps = cdist(cells, cells, "cityblock") == 1
    assert as_sets(found) == [set(np.flatnonzero(row)) for row in steps]


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize(("metric", "params"), METRICS)
def test_within_either_reach(index, metric, params):
    rng = np.random.default_rng(9)
    X, queries = rng.normal(size=(200, 3)), rng.normal(size=(30, 3))
    distances = all_distances(queries, X, metric, **params)
    scale = float(np.median(distances))
    # from 1e-9 to 10 times the usual distance, and some who reach nobody at all
    reaches = scale * 10 ** rng.uniform(-9, 1, 200) * (rng.random(200) < 0.8)
    reach = scale * 10 ** rng.uniform(-4, 0, 30) * (rng.random(30) < 0.8)
    found = make(index, X, metric, **params).within(queries, reach, reaches)
    near = distances <= np.maximum(reach[:, None], reaches[None, :])
    assert as_sets(found) == [set(np.flatnonzero(row)) for row in near]
    np.testing.assert_allclose(found.distances, distances[found.rows, found.indices], rtol=1e-9)


@pytest.mark.parametrize("index", EXACT)
def test_within_no_reach_finds_only_the_row_itself(index):
    X = np.random.default_rng(10).normal(size=(30, 3))
    found = make(index, X).within(X[:5], np.zeros(5), np.zeros(30))
    assert as_sets(found) == [{0}, {1}, {2}, {3}, {4}]


# --- nothing depends on the batch, the threads or the blocks


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock", "chebyshev"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_batch_equals_its_rows_one_by_one(index, metric, dtype):
    rng = np.random.default_rng(11)
    X, queries = rng.normal(size=(150, 9)).astype(dtype), rng.normal(size=(25, 9)).astype(dtype)
    search = make(index, X, metric)
    reach, reaches = rng.random(25) * 0.5, rng.random(150) * 0.5
    nearest, within = search.nearest(queries, 4), search.within(queries, reach, reaches)
    for row in range(25):
        one = slice(row, row + 1)
        assert_identical(search.nearest(queries[one], 4), nearest.take(np.array([row])))
        assert_identical(search.within(queries[one], reach[one], reaches), within.take(np.array([row])))


@pytest.mark.parametrize("index", EXACT)
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_threads_and_blocks_do_not_matter(index, metric):
    rng = np.random.default_rng(12)
    X = rng.normal(size=(500, 6))
    reaches = rng.random(500)
    whole = make(index, X, metric, n_jobs=1)
    lists, within = whole.own(5, None), whole.within(X, reaches, reaches)
    small = SearchCosts(entries_per_block=500 * 7, queries_per_block=33, tied_per_block=2)
    for n_jobs in (1, 2):
        parts = make(index, X, metric, n_jobs=n_jobs, costs=small)
        assert_identical(parts.own(5, None), lists)
        assert_identical(parts.within(X, reaches, reaches), within)


@pytest.mark.parametrize("index", EXACT)
def test_pickling_keeps_the_answers(index):
    X = np.random.default_rng(13).normal(size=(50, 4))
    search = make(index, X)
    assert_identical(pickle.loads(pickle.dumps(search)).own(4, None), search.own(4, None))

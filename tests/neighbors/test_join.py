"""Who seems nearest to whom: the true neighbours are among them, or the row is known to be doubtful."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.neighbors.exact import BlockedIndex
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.join import _rounds, seeming_nearest, seeming_neighbors
from gramfold.neighbors.leading import Axes
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.costs import SearchCosts

EUCLIDEAN = Metric("euclidean", "euclidean")


def some_axes(d, m):
    """Up to m axes that have nothing to do with the rows: bounds hold for any. None for m = 0."""
    return Axes(np.linalg.qr(np.random.default_rng(0).standard_normal((d, min(m, d))))[0]) if m else None


@dataclass(frozen=True, eq=False)
class Bounded(BlockedIndex):
    """A search whose plan is made."""

    axes: int = field(kw_only=True)

    def _axes(self, rows, k):
        return some_axes(rows.shape[1], self.axes)


@pytest.fixture(params=[0, 1, 4], ids=["no bounds", "one axis", "four axes"])
def tiny(request):
    """Small tiles, and searches that take the way of large ones."""
    costs = SearchCosts(rows_per_tile=23, asking_per_tile=7, many=1)
    return lambda X: Bounded(X, EUCLIDEAN, 2, axes=request.param, costs=costs)


def squared_distances(left, right):
    return np.square(left[:, None].astype(float) - right[None].astype(float)).sum(axis=2)


def all_distances(left, right):
    """Of all pairs, each summed as the search sums it: ties are then ties."""
    i, j = np.divmod(np.arange(len(left) * len(right)), len(right))
    return EUCLIDEAN.pairs(left, i, right, j, 1).reshape(len(left), len(right))


def assert_nearest(found, distances, k):
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found.indices.reshape(-1, k), order)
    np.testing.assert_array_equal(found.distances.reshape(-1, k), np.take_along_axis(distances, order, 1))


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
def test_everybody_meets_everybody_once_and_nobody_twice_in_a_round(count):
    rounds = _rounds(count)
    met = [tuple(sorted(pair)) for pairs in rounds for pair in pairs]
    assert sorted(met) == [(i, j) for i in range(count) for j in range(i, count)]
    for pairs in rounds[1:]:
        tiles = [tile for pair in pairs for tile in pair]
        assert len(tiles) == len(set(tiles))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(3, 60),
    st.integers(1, 30),
    st.sampled_from([1e-6, 1.0, 1e20]),
    st.integers(0, 5),
    st.sampled_from([0.0, 0.12, 1.0]),
    st.data(),
)
def test_whoever_is_left_out_is_farther_than_it_seems(seed, n, d, size, axes, dense, data):
    rng = np.random.default_rng(seed)
    X = size * (rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 0, d) + 5 * rng.standard_normal(d))
    asking = X[: n // 2] + size * 10.0 ** rng.uniform(-8, 2) * rng.standard_normal((n // 2, d))
    k = data.draw(st.integers(1, n))
    tile, asking_tile = data.draw(st.integers(2, 70)), data.draw(st.integers(1, 70))
    costs = SearchCosts(rows_per_tile=tile, asking_per_tile=asking_tile, dense=dense)
    lead = some_axes(d, axes)
    both = (
        (seeming_neighbors(X, k, lead, costs=costs), X),
        (seeming_nearest(asking, X, k, lead, costs=costs), asking),
    )
    for found, rows in both:
        squares = squared_distances(rows, X)
        for i in range(len(rows)):
            assert len(set(found.indices[i].tolist())) == k
            left_out = np.setdiff1d(np.arange(n), found.indices[i])
            assert (squares[i, left_out] >= found.farthest[i] - found.error[i]).all()
            assert squares[i, found.indices[i]].max() <= found.farthest[i] + found.error[i]


# --- against all distances, with and without bounds

KINDS = {
    "plain": lambda rng, n, d: rng.standard_normal((n, d)),
    "ties": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "far off centre": lambda rng, n, d: 1e6 + rng.standard_normal((n, d)),
    "wild columns": lambda rng, n, d: rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-12, 12, d),
    "wild rows": lambda rng, n, d: rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-12, 12, (n, 1)),
    "a line": lambda rng, n, d: np.outer(rng.standard_normal(n), np.ones(d)),
    "copies": lambda rng, n, d: rng.standard_normal((n, d))[rng.integers(0, n // 3, n)],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d"), [(150, 1), (120, 40), (30, 200)])
def test_nearest_of_old_and_new_rows(tiny, kind, dtype, n, d):
    rng = np.random.default_rng(n + d)
    X = KINDS[kind](rng, n + 20, d).astype(dtype)
    old, new = X[:n], X[n:]
    index = tiny(old)
    for k in (1, 6, n // 2, n - 1):
        assert_nearest(index.nearest(new, k), all_distances(new, old), k)
        others = all_distances(old, old)
        np.fill_diagonal(others, np.inf)
        assert_nearest(index.own(k, None), others, k)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d"), [(150, 3), (80, 40)])
def test_within_either_reach(tiny, kind, dtype, n, d):
    rng = np.random.default_rng(n + d)
    X = KINDS[kind](rng, n + 20, d).astype(dtype)
    old, new = X[:n], X[n:]
    index = tiny(old)
    distances = all_distances(new, old)
    reach = np.quantile(distances, 0.1, axis=1) * rng.choice([0.0, 1e-9, 0.5, 1.0, 1e100], 20)
    reaches = np.median(distances) * 10.0 ** rng.uniform(-12, 0, n)
    reaches[:3] = 0.0, distances[4, 1], distances[5, 2]  # as far as somebody stands
    met = distances <= np.maximum(reach[:, None], reaches) * (1 + 1e-12)
    found = index.within(new, reach, reaches)
    np.testing.assert_array_equal(found.counts, met.sum(axis=1))
    assert met[found.rows, found.indices].all()
    np.testing.assert_array_equal(found.distances, distances[found.rows, found.indices])
    others = all_distances(old, old) <= np.median(distances)
    np.fill_diagonal(others, val=False)
    np.testing.assert_array_equal(index.own(None, float(np.median(distances))).counts, others.sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-7])
def test_tight_clusters_are_searched_until_certain(tiny, dtype, spread):
    """Clusters whose inner distances are below the rounding of float32 products."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((12, 20)), 25, axis=0).astype(dtype)
    X = np.unique((X + spread * rng.standard_normal(X.shape)).astype(dtype), axis=0)
    index = tiny(X)
    joined, asked = index.own(7, None), VectorIndex.own(index, 7, None)
    others = all_distances(X, X)
    np.fill_diagonal(others, np.inf)
    assert_nearest(joined, others, 7)
    np.testing.assert_array_equal(joined.indices, asked.indices)
    np.testing.assert_array_equal(joined.distances, asked.distances)


@pytest.mark.parametrize("axes", [0, 3])
def test_threads_and_tiles_change_nothing(axes):
    X = np.random.default_rng(0).standard_normal((700, 30)) * 0.8 ** np.arange(30)
    lists = []
    for tile in (640, 37, 100):
        costs = SearchCosts(rows_per_tile=tile, asking_per_tile=tile, many=1)
        one, two = (seeming_neighbors(X, 12, some_axes(30, axes), n_jobs, costs=costs) for n_jobs in (1, 2))
        np.testing.assert_array_equal(one.indices, two.indices)
        np.testing.assert_array_equal(one.farthest, two.farthest)
        index = Bounded(X, EUCLIDEAN, 2, axes=axes, costs=costs)
        lists += [index.own(9, None), VectorIndex.own(index, 9, None)]
    for other in lists[1:]:
        np.testing.assert_array_equal(other.indices, lists[0].indices)
        np.testing.assert_array_equal(other.distances, lists[0].distances)


def test_bounds_leave_few_products_where_few_columns_lead():
    """What is found is the same, and the plan of a table large enough is one with bounds."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((2_500, 5)) @ rng.standard_normal((5, 90)) + 1e-2 * rng.standard_normal((2_500, 90))
    index = BlockedIndex(X, EUCLIDEAN, 2)
    assert index._axes(X, 13) is None
    plain = index.own(8, None)
    index = BlockedIndex(X, EUCLIDEAN, 2, costs=SearchCosts(least_work=0.0, rows_per_tile=300))
    assert index._axes(X, 13) is not None
    bounded = index.own(8, None)
    np.testing.assert_array_equal(bounded.indices, plain.indices)
    np.testing.assert_array_equal(bounded.distances, plain.distances)

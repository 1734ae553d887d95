"""Who seems nearest to whom: the true neighbours are among them, or the row is known to be doubtful."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.neighbors import self_join
from gramfold.neighbors.exact import BlockedIndex
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.self_join import _rounds, seeming_neighbors

EUCLIDEAN = Metric("euclidean", "euclidean")


@pytest.mark.parametrize("count", range(1, 14))
def test_everybody_meets_everybody_once_and_nobody_twice_in_a_round(count):
    rounds = _rounds(count)
    met = [tuple(sorted(pair)) for pairs in rounds for pair in pairs]
    assert sorted(met) == [(i, j) for i in range(count) for j in range(i, count)]
    for pairs in rounds[1:]:
        tiles = [tile for pair in pairs for tile in pair]
        assert len(tiles) == len(set(tiles))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 60), st.integers(1, 30), st.sampled_from([1e-6, 1.0, 1e20]), st.data())
def test_whoever_is_left_out_is_farther_than_it_seems(seed, n, d, size, data):
    rng = np.random.default_rng(seed)
    X = size * (rng.standard_normal((n, d)) + 5 * rng.standard_normal(d))
    k = data.draw(st.integers(1, n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(self_join, "_ROWS_PER_TILE", data.draw(st.integers(1, 70)))
        found = seeming_neighbors(X, k)
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    for i in range(n):
        assert len(set(found.indices[i].tolist())) == k
        left_out = np.setdiff1d(np.arange(n), found.indices[i])
        assert (squares[i, left_out] >= found.farthest[i] - found.error[i]).all()
        assert squares[i, found.indices[i]].max() <= found.farthest[i] + found.error[i]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-7])
def test_tight_clusters_are_searched_until_certain(dtype, spread):
    """Clusters whose inner distances are below the rounding of float32 products."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((12, 20)), 25, axis=0).astype(dtype)
    X = np.unique((X + spread * rng.standard_normal(X.shape)).astype(dtype), axis=0)
    index = BlockedIndex(X, EUCLIDEAN, 2)
    joined, alone = index.own(7, None), VectorIndex.own(index, 7, None)
    np.testing.assert_array_equal(joined.indices, alone.indices)
    np.testing.assert_array_equal(joined.distances, alone.distances)


def test_threads_and_tiles_change_nothing(monkeypatch):
    X = np.random.default_rng(0).standard_normal((700, 30))
    one, two = seeming_neighbors(X, 12, 1), seeming_neighbors(X, 12, 2)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.farthest, two.farthest)
    lists = [BlockedIndex(X, EUCLIDEAN, 1).own(9, None)]
    for tile in (37, 100):
        monkeypatch.setattr(self_join, "_ROWS_PER_TILE", tile)
        lists.append(BlockedIndex(X, EUCLIDEAN, 2).own(9, None))
    for other in lists[1:]:
        np.testing.assert_array_equal(other.indices, lists[0].indices)
        np.testing.assert_array_equal(other.distances, lists[0].distances)

"""What all structures over vectors share: the shortest gap and local inner products."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from gramfold.neighbors.exact import BlockedIndex, TreeIndex
from gramfold.neighbors.index import Outlook, sort_lists, without
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.precomputed import DistanceIndex
from gramfold.runtime.costs import SearchCosts

METRICS = ["euclidean", "cosine", "cityblock"]


def indices_over(X, metric, **costs):
    made, costs = make_metric(metric, None, X), SearchCosts(**costs)
    return [
        TreeIndex(X, made, 1, costs=costs),
        BlockedIndex(X, made, 1, costs=costs),
        DistanceIndex(made.block(X, X), np.arange(len(X)), costs=costs),
    ]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1, 7, 100, 101, 150])
def test_gap_is_the_shortest_step_out_of_the_group(metric, size):
    rng = np.random.default_rng(size)
    X = rng.normal(size=(220, 3))
    group = np.sort(rng.choice(220, size, replace=False))
    others = np.setdiff1d(np.arange(220), group)
    between = cdist(X[group], X[others], metric)
    a, b = np.unravel_index(np.argmin(between), between.shape)
    for index in indices_over(X, metric):
        i, j, length = index.gap(group, others)
        assert (i, j) == (group[a], others[b])
        assert length == pytest.approx(between[a, b], rel=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("values", [None, 2])
def test_a_new_row_joins_whom_it_chooses_and_who_would_choose_it(metric, values):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3)) if values is None else 1.0 + np.unique(rng.integers(0, 5, (160, 3)), axis=0)
    new = rng.normal(size=(40, 3)) if values is None else 1.0 + rng.integers(0, 5, (40, 3))  # many ties
    made = make_metric(metric, None, X)
    distances = made.block(new, X)
    for index in indices_over(X, metric):
        lists = index.own(6, None)
        found = index.joined(distances if isinstance(index, DistanceIndex) else new, 6, lists)
        for row, met in enumerate(np.split(found.indices, found.indptr[1:-1])):
            chosen = index.nearest(distances if isinstance(index, DistanceIndex) else new, 6).indices[
                6 * row : 6 * row + 6
            ]
            # one that comes last is not taken where it would share the last place
            choosers = np.flatnonzero(distances[row] < lists.farthest * (1 - 1e-9))
            assert set(met) == set(chosen) | set(choosers)
        np.testing.assert_allclose(found.distances, distances[found.rows, found.indices], rtol=1e-9)


def test_gap_between_groups_of_near_points():
    # each of the group is closer to all of its own than to anybody outside
    X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)), np.full((1, 2), 1e3), np.full((1, 2), 2e3)])
    for index in indices_over(X, "euclidean"):
        i, j, length = index.gap(np.arange(60), np.array([60, 61]))
        assert j == 60
        assert length == pytest.approx(cdist(X[:60], X[60:61]).min())
        assert i == cdist(X[:60], X[60:61]).argmin()


def shortest_steps(distances, piece):
    """The length of the shortest step out of each piece but the first, from all pairs."""
    return [distances[np.ix_(piece == number, piece != number)].min() for number in range(1, piece.max() + 1)]


@pytest.mark.parametrize("look", [2, 16, 240])  # the fewer, the more is searched among those outside
@pytest.mark.parametrize("seed", range(6))
def test_gaps_stay_the_shortest_while_pieces_grow_together(look, seed):
    rng = np.random.default_rng(seed)
    count = 12
    X = 3.0 * rng.normal(size=(count, 2))[np.arange(240) % count] + rng.normal(size=(240, 2))
    distances = cdist(X, X)
    for index in indices_over(X, "euclidean", first_look=look):
        piece = np.arange(240) % count
        outlook = Outlook.of(piece)
        while piece.max() > 0:
            steps = index.gaps(piece, outlook)
            assert [piece[i] for i, _, _ in steps] == list(range(1, piece.max() + 1))
            assert all(piece[i] != piece[j] for i, j, _ in steps)
            np.testing.assert_allclose([length for *_, length in steps], shortest_steps(distances, piece), rtol=1e-12)
            np.testing.assert_allclose([distances[i, j] for i, j, _ in steps], [length for *_, length in steps])
            # each joins another at random, so that what was seen outside is partly inside afterwards
            merged = np.minimum(np.arange(piece.max() + 1), rng.integers(0, piece.max() + 1, piece.max() + 1))
            piece = np.unique(merged[piece], return_inverse=True)[1]
            if rng.random() < 0.2:
                piece = np.maximum(piece - 1, 0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_grams_are_inner_products_of_differences(dtype):
    rng = np.random.default_rng(1)
    X, queries = (5.0 + rng.normal(size=(40, 6))).astype(dtype), (5.0 + rng.normal(size=(8, 6))).astype(dtype)
    vertices = rng.permutation(40)[:25]  # the graph knows 25 vertices, under numbers of its own
    r, lists = np.array([3, 0, 24]), rng.integers(0, 25, (3, 4))
    new, met = np.array([7, 2]), rng.integers(0, 40, (2, 5))
    wide = X.astype(float)
    truth = [
        [
            [np.dot(wide[vertices[j]] - wide[vertices[c]], wide[vertices[m]] - wide[vertices[c]]) for m in row]
            for j in row
        ]
        for c, row in zip(r, lists, strict=True)
    ]
    truth_new = [
        [[np.dot(wide[j] - queries[c].astype(float), wide[m] - queries[c].astype(float)) for m in row] for j in row]
        for c, row in zip(new, met, strict=True)
    ]
    metric = make_metric("euclidean", None, X)
    for index in indices_over(X, "euclidean"):
        given_queries = metric.block(queries, X) if isinstance(index, DistanceIndex) else queries
        np.testing.assert_allclose(index.vertex_grams(vertices)(r, lists), truth, atol=1e-10)
        np.testing.assert_allclose(index.query_grams(given_queries)(new, met), truth_new, atol=1e-10)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5), st.randoms())
@settings(deadline=None)
def test_lists_are_sorted_by_distance_then_index(distances, random):
    indices = np.array([random.sample(range(9), 4) for _ in distances])
    found, kept = sort_lists(indices, np.array(distances, dtype=float))
    for row, (j, d) in enumerate(zip(indices.tolist(), distances, strict=True)):
        truth = sorted(zip(d, j, strict=True))
        assert list(zip(kept[row].tolist(), found[row].tolist(), strict=True)) == truth


def test_without_takes_out_the_row_itself_or_else_the_last():
    indices, distances = np.array([[0, 5, 6], [5, 1, 6], [5, 6, 7]]), np.array([[0.0, 1, 2], [0, 0, 2], [0, 0, 0.5]])
    kept = without(np.arange(3), indices, distances)
    assert kept[0].tolist() == [[5, 6], [5, 6], [5, 6]]
    assert kept[1].tolist() == [[1, 2], [0, 2], [0, 0]]

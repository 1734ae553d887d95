"""Distances and graphs that the user brings."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer, kneighbors_graph

from gramfold.errors import DisconnectedGraphError, InputError, PrecomputedInputError
from gramfold.neighbors.duplicates import collapse_distances
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.precomputed import (
    DistanceIndex,
    GraphIndex,
    KnownLists,
    TransformerIndex,
    check_distances,
    settled_distances,
)
from gramfold.runtime.costs import SearchCosts
from gramfold.types import Neighbors

RNG = np.random.default_rng(0)
X, QUERIES = RNG.normal(size=(80, 3)), RNG.normal(size=(15, 3))


def tree_over(rows, metric="euclidean"):
    return TreeIndex(rows, make_metric(metric, None, rows), 1)


def assert_same_lists(first, second):
    np.testing.assert_array_equal(first.indptr, second.indptr)
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_allclose(first.distances, second.distances, rtol=1e-12)


# --- all distances


@pytest.mark.parametrize("entries", [2_000_000, 100])  # in one block, and a row at a time
def test_distances_are_searched_as_the_rows_are(entries):
    costs = SearchCosts(entries_per_block=entries)
    tree, given = tree_over(X), DistanceIndex(cdist(X, X), np.arange(80), costs=costs)
    to_train = cdist(QUERIES, X)
    assert_same_lists(given.own(6, None), tree.own(6, None))
    assert_same_lists(given.own(None, 0.7), tree.own(None, 0.7))
    assert_same_lists(given.nearest(to_train, 6), tree.nearest(QUERIES, 6))
    reach, reaches = RNG.random(15), 3.0 ** RNG.uniform(-9, 1, 80)
    assert_same_lists(given.within(to_train, reach, reaches), tree.within(QUERIES, reach, reaches))


def test_ties_go_to_the_lower_index():
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    assert_same_lists(DistanceIndex(cdist(grid, grid), np.arange(36)).own(3, None), tree_over(grid).own(3, None))


def test_duplicates_are_one_vertex():
    rows = X[[0, 1, 0, 2, 3, 1, 4]]
    D = cdist(rows, rows)
    given, tree = DistanceIndex.of(D, collapse_distances(D).first), tree_over(X[:5])
    assert_same_lists(given.own(3, None), tree.own(3, None))
    assert_same_lists(given.nearest(cdist(QUERIES, rows), 3), tree.nearest(QUERIES, 3))


def test_float32_distances_are_compared_as_given_and_returned_as_float64():
    D = cdist(X, X).astype(np.float32)
    found = DistanceIndex(D, np.arange(80)).own(4, None)
    np.testing.assert_array_equal(found.distances, D[found.rows, found.indices].astype(np.float64))
    assert found.distances.dtype == np.float64


def test_new_distances_must_be_dense_and_not_negative():
    given = DistanceIndex(cdist(X, X), np.arange(80))
    with pytest.raises(InputError, match=r"given a sparse one, which lacks some distances: pass a dense array"):
        given.nearest(csr_matrix(cdist(QUERIES, X)), 3)
    with pytest.raises(InputError, match=r"negative entry \(-1\)"):
        given.nearest(np.full((1, 80), -1.0), 3)


# --- a sparse graph


def test_every_stored_entry_off_the_diagonal_is_an_edge():
    graph = csr_array(([0.0, 0.0, 2.0, 0.0, 3.0], ([0, 0, 1, 2, 2], [0, 1, 2, 2, 0])), shape=(3, 3))
    found = GraphIndex(graph).own(1, None)
    assert list(zip(found.rows.tolist(), found.indices.tolist(), found.distances.tolist(), strict=True)) == [
        (0, 1, 0.0),
        (1, 2, 2.0),
        (2, 0, 3.0),
    ]


def test_of_an_entry_stored_twice_the_shorter_stays():
    twice = csr_array((np.array([5.0, 3.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert GraphIndex(twice).own(1, None).distances.tolist() == [3.0]


def test_new_rows_bring_their_edges():
    index = GraphIndex(csr_array((80, 80)))
    new = csr_matrix(([0.0, 2.0, 1.0], ([0, 2, 2], [7, 3, 4])), shape=(3, 80))
    for found in (index.nearest(new, 5), index.within(new, np.zeros(3), np.zeros(80))):
        assert found.counts.tolist() == [1, 0, 2]
        assert found.indices.tolist() == [7, 4, 3]
        assert found.distances.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("include_self", [False, True])
def test_training_rows_are_known_by_their_entries(mode, include_self):
    graph = csr_array(kneighbors_graph(X, 6, mode=mode, include_self=include_self))
    index = GraphIndex(graph)
    shuffled = graph[np.random.default_rng(0).permutation(80)[:30]]
    for rows, numbers in ((graph, np.arange(80)), (shuffled, np.random.default_rng(0).permutation(80)[:30])):
        found = index.nearest(rows, 6)
        own = found.distances[found.indptr[:-1]] == 0
        # without lengths, rows that are neighbours of one another may have the same lists
        assert own.any() if mode == "connectivity" else own.all()
        np.testing.assert_array_equal(found.nearest[own], numbers[own])
    moved = graph.copy()
    moved.data = moved.data + 1e-9
    assert (index.nearest(moved, 6).distances > 0).all()


def test_lists_are_told_apart_as_a_dictionary_tells_them():
    rng = np.random.default_rng(1)
    lists = [tuple(sorted(rng.choice(6, size=rng.integers(0, 4), replace=False).tolist())) for _ in range(60)]

    def neighbors(lists):
        pairs = [(i, j) for i, some in enumerate(lists) for j in some]
        rows, columns = np.array(pairs).T
        return Neighbors.from_pairs(rows, columns, 1.0 + columns % 2, (len(lists), 6))

    once = {some: i for i, some in enumerate(lists) if some and lists.count(some) == 1}
    asked = [tuple(sorted(rng.choice(6, size=rng.integers(1, 5), replace=False).tolist())) for _ in range(60)]
    found = KnownLists(neighbors(lists)).find(neighbors(asked))
    assert found.tolist() == [once.get(some, -1) for some in asked]
    assert (found >= 0).any()


def test_what_a_graph_cannot_tell():
    index = GraphIndex(csr_array(np.eye(4)))
    with pytest.raises(InputError, match=r"fitted on a sparse graph but was given a dense array.*4 columns"):
        index.nearest(np.ones((2, 4)), 2)
    with pytest.raises(InputError, match=r"negative entry \(-1\)"):
        index.nearest(csr_array(-np.eye(4)), 2)
    with pytest.raises(DisconnectedGraphError, match=r"one connected component has 1 of 4 vertices.*cannot be bridged"):
        index.gap(np.array([0]), np.array([1, 2, 3]))
    for ask in (lambda: index.vertex_grams(np.arange(4)), lambda: index.query_grams(np.eye(4))):
        with pytest.raises(PrecomputedInputError, match=r"which a sparse graph does not hold: pass the rows"):
            ask()


# --- a scikit-learn transformer


def test_a_transformer_finds_what_the_tree_finds():
    index = TransformerIndex.of(KNeighborsTransformer(n_neighbors=5, mode="distance"), tree_over(X))
    assert_same_lists(index.own(None, None), tree_over(X).own(5, None))
    # scikit-learn gives one neighbour more than asked, so that a training row may be left out
    assert_same_lists(index.nearest(QUERIES, 5), tree_over(X).nearest(QUERIES, 5))
    graph = GraphIndex(csr_array(index.transformer.transform(X)))
    assert_same_lists(graph.nearest(index.transformer.transform(QUERIES), 5), tree_over(X).nearest(QUERIES, 5))


def test_a_radius_transformer_may_leave_rows_alone():
    index = TransformerIndex.of(RadiusNeighborsTransformer(radius=0.5, mode="distance"), tree_over(X))
    found = index.own(None, None)
    assert_same_lists(found, tree_over(X).own(None, 0.5))
    assert (found.counts == 0).any()


def test_a_radius_transformer_gives_new_rows_all_within():
    wide = RadiusNeighborsTransformer(radius=100.0)  # everybody, as a graph of the k nearest has the same number each
    for transformer in (RadiusNeighborsTransformer(radius=0.7), wide):
        index = TransformerIndex.of(transformer, tree_over(X))
        reach = np.full(15, transformer.radius)
        assert_same_lists(index.nearest(QUERIES, 5), tree_over(X).within(QUERIES, reach, np.zeros(80)))
    assert (GraphIndex(csr_array(cdist(X, X))).nearest(csr_array(cdist(QUERIES, X)), 5).counts == 80).all()


def test_a_transformer_that_tells_no_lengths():
    index = TransformerIndex.of(KNeighborsTransformer(n_neighbors=5, mode="connectivity"), tree_over(X))
    assert (index.own(None, None).counts == 4).all()  # the row itself is one of its five
    found = index.nearest(QUERIES, 5)
    assert (found.counts == 5).all()  # none of them is the nearest, so all stay
    assert (found.distances == 1.0).all()


class Loose(KNeighborsTransformer):
    """Finds rows a little beside where they are."""

    def transform(self, X):
        return super().transform(X + 1e-9)


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_a_transformer_need_not_recognise_training_rows(mode):
    index = TransformerIndex.of(Loose(n_neighbors=5, mode=mode), tree_over(X))
    found = index.nearest(X, 5)
    np.testing.assert_array_equal(found.nearest, np.arange(80))
    np.testing.assert_array_equal(found.distances[found.indptr[:-1]], 0.0)
    fresh = index.nearest(X + 1e-3, 5)
    assert fresh.distances.min() > 0


def test_a_transformer_is_not_fitted_in_place_and_knows_the_rows():
    transformer, tree = KNeighborsTransformer(n_neighbors=5), tree_over(X)
    index = TransformerIndex.of(transformer, tree)
    assert not hasattr(transformer, "n_samples_fit_")
    group, others = np.arange(30), np.arange(30, 80)
    assert index.gap(group, others) == tree.gap(group, others)
    r, lists = np.array([0, 4]), np.array([[1, 2], [3, 5]])
    np.testing.assert_array_equal(
        index.vertex_grams(np.arange(80))(r, lists), tree.vertex_grams(np.arange(80))(r, lists)
    )
    np.testing.assert_array_equal(index.query_grams(QUERIES)(r, lists), tree.query_grams(QUERIES)(r, lists))


# --- what is no matrix of distances


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda D: D[:, :-1], r"needs a square matrix of distances, but got 5 x 4: pass all pairwise"),
        (lambda D: D - 2.0 * (D[1, 3] == D), r"negative entry \(.*\): distances cannot be negative; convert"),
        (
            lambda D: D + np.diag([0, 0, 0.5, 0, 0]),
            r"has \S+ on its diagonal in row 2: the distance of a row from itself must be 0",
        ),
        (
            lambda D: D + np.eye(5)[[1]].T @ np.eye(5)[[4]],
            r"not symmetric: entry \(1, 4\) is \S+ and entry \(4, 1\) is \S+;",
        ),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
@pytest.mark.parametrize("entries", [2_000_000, 5])
def test_no_matrix_of_distances(spoil, sentence, scale, entries):
    costs = SearchCosts(entries_per_block=entries)
    D = 1.0 - np.eye(5)
    check_distances(scale * D, costs)
    with pytest.raises(InputError, match=sentence):
        check_distances(scale * spoil(D), costs)


def test_what_rounding_left_is_taken_out():
    D = cdist(X, X)
    assert settled_distances(D) is D
    rng = np.random.default_rng(3)
    noisy = D * (1 + 1e-10 * rng.normal(size=D.shape)) + np.diag(np.linspace(-1e-12, 1e-12, 80))
    noisy[3, 7], noisy[7, 3] = -1e-14, 9e-13  # one point, as near to itself as 1e-12 is
    check_distances(noisy)
    kept = noisy.copy()
    settled = settled_distances(noisy)
    np.testing.assert_array_equal(noisy, kept)
    np.testing.assert_array_equal(settled, settled.T)
    assert (np.diag(settled) == 0).all()
    assert settled[3, 7] == 0.0
    D[3, 7] = D[7, 3] = 0.0
    np.testing.assert_allclose(settled, D, rtol=1e-9)
    index = DistanceIndex(settled, np.arange(80), rounding=1e-12)
    found = index.nearest(noisy, 4)
    assert (found.distances[found.indptr[:-1]] == 0).all()


def test_rounding_is_not_an_asymmetry():
    D = cdist(X, X)
    D[0, 1] *= 1 + 1e-12
    check_distances(D)
    D32 = cdist(X, X).astype(np.float32)
    D32[0, 1] *= 1 + 2e-7
    check_distances(D32)
    check_distances(np.zeros((3, 3)))


def test_a_sparse_graph_may_be_asymmetric_but_not_negative():
    one_way = csr_array(([1.0], ([0], [1])), shape=(3, 3))
    check_distances(one_way)
    check_distances(csr_array((3, 3)))
    with pytest.raises(InputError, match=r"negative entry \(-1\)"):
        check_distances(-one_way)
    with pytest.raises(InputError, match="got 3 x 4"):
        check_distances(csr_array((3, 4)))

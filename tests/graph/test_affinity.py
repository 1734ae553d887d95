"""Weights of edges, and vertices that stand for several rows."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from gramfold.errors import InputError
from gramfold.graph.affinity import affinity, default_width, divided_by_density, inverse_lengths, local_widths, weigh
from gramfold.graph.build import build_graph
from gramfold.graph.laplacian import degrees, laplacian
from gramfold.types import Graph, Neighbors


def random_graph(n: int, multiplicity: np.ndarray, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, 4 * n))
    i, j = np.concatenate([i, np.arange(n - 1)]), np.concatenate([j, np.arange(1, n)])  # a path keeps it connected
    keep = i != j
    lists = Neighbors.from_pairs(i[keep], j[keep], rng.random(keep.sum()) + 0.1, (n, n))
    return build_graph(lists, None, multiplicity)


def test_gaussian_weights() -> None:
    lengths = np.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(weigh(lengths, 2.0), np.exp([0.0, -1 / 8, -9 / 8]), rtol=1e-15)
    np.testing.assert_array_equal(weigh(lengths, None), 1.0)


def test_default_width_weighs_a_typical_edge_by_one_over_root_e() -> None:
    graph = random_graph(30, np.ones(30))
    coo = graph.lengths.tocoo()
    above = coo.row < coo.col
    mean_square = np.mean(coo.data[above] ** 2)
    assert weigh(np.sqrt(mean_square), default_width(graph)) == pytest.approx(np.exp(-0.5), rel=1e-14)


def test_edges_of_length_zero_weigh_one() -> None:
    lists = Neighbors.from_pairs(np.array([0]), np.array([1]), np.zeros(1), (2, 2))
    graph = build_graph(lists, None, np.ones(2))
    np.testing.assert_array_equal(affinity(graph, default_width(graph)).toarray(), [[0, 1], [1, 0]])


@pytest.mark.parametrize("width", [None, 0.4])
@pytest.mark.parametrize("normalized", [True, False])
def test_multiplicities_are_the_graph_of_all_copies(width: float | None, normalized: bool) -> None:
    copies = np.array([1, 3, 1, 2, 1, 4, 1, 1])
    graph = random_graph(8, copies.astype(float))
    weights = affinity(graph, width)
    # every copy has all copies' edges
    vertex = np.repeat(np.arange(8), copies)
    single = affinity(random_graph(8, np.ones(8)), width).toarray()
    whole = single[np.ix_(vertex, vertex)]
    L = np.diag(whole.sum(axis=1)) - whole
    mass = np.diag(degrees(weights) if normalized else graph.multiplicity)
    values, vectors = eigh(laplacian(weights).toarray(), mass)
    expanded = vectors[vertex]
    D = np.diag(whole.sum(axis=1)) if normalized else np.eye(len(vertex))
    np.testing.assert_allclose(L @ expanded, D @ expanded * values, atol=1e-12)
    np.testing.assert_allclose(expanded.T @ D @ expanded, np.eye(8), atol=1e-12)


def test_a_width_that_tears_the_graph_apart_is_refused() -> None:
    graph = random_graph(12, np.ones(12))
    with pytest.raises(
        InputError,
        match=r"width 0\.001 underflow to 0 for edges of length .* leaves 12 connected components: use a larger",
    ):
        affinity(graph, 1e-3)


def test_weights_that_vanish_beside_others_do_no_harm() -> None:
    lists = Neighbors.from_pairs(np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([1.0, 1, 90]), (3, 3))
    found = affinity(build_graph(lists, None, np.ones(3)), 1.0).toarray()
    w = np.exp(-0.5)
    np.testing.assert_array_equal(found, [[0, w, 0], [w, 0, w], [0, w, 0]])


def nearest_graph(X: np.ndarray, k: int) -> Graph:
    D = cdist(X, X)
    order = np.argsort(D, axis=1)[:, 1 : k + 1]
    lists = Neighbors.from_lists(order, np.take_along_axis(D, order, 1), len(X))
    return build_graph(lists, lists.farthest, np.ones(len(X)))


@pytest.mark.parametrize("k", [3, 7, 12])
def test_local_width_is_the_distance_to_the_seventh_neighbour(k: int) -> None:
    X = np.random.default_rng(0).random((60, 2)) ** 2
    graph = nearest_graph(X, k)
    expected = np.sort(cdist(X, X), axis=1)[:, min(k, 7)]
    np.testing.assert_array_equal(local_widths(graph.neighbors, graph.radii), expected)
    W = affinity(graph, local_widths(graph.neighbors, graph.radii)).toarray()
    D = cdist(X, X)
    np.testing.assert_allclose(W[W > 0], np.exp(-(D**2) / (2 * np.outer(expected, expected)))[W > 0], rtol=1e-13)
    # the same shape at any scale
    blown_up = nearest_graph(1e5 * X, k)
    np.testing.assert_allclose(
        affinity(blown_up, local_widths(blown_up.neighbors, blown_up.radii)).toarray(), W, rtol=1e-9
    )


def test_local_width_within_a_radius_is_at_most_the_radius() -> None:
    # within the radius 1 vertex 0 has seven neighbours, vertex 1 six and a bridge, vertex 2 one
    lengths = np.linspace(0.1, 0.7, 7)
    rows, ends = np.repeat([0, 1], 7), np.tile(np.arange(3, 10), 2)
    lists = Neighbors.from_pairs(
        np.append(rows, 2),
        np.append(ends, 3),
        np.concatenate([lengths, lengths[:6], [5.0], [0.3]]),
        (10, 10),
    )
    widths = local_widths(lists, np.full(10, 1.0))
    np.testing.assert_array_equal(widths, [lengths[-1]] + [1.0] * 9)
    # of a given graph only the entries are known: the seventh, or the last, or the mean where there is none
    given = local_widths(lists, None)
    np.testing.assert_allclose(given, [0.7, 5.0, 0.3] + [2.0] * 7)


def test_local_widths_of_points_on_top_of_each_other() -> None:
    lists = Neighbors.from_lists(np.array([[1], [0]]), np.zeros((2, 1)), 2)
    graph = build_graph(lists, lists.farthest, np.ones(2))
    np.testing.assert_array_equal(
        affinity(graph, local_widths(graph.neighbors, graph.radii)).toarray(), [[0, 1], [1, 0]]
    )


def test_self_tuned_weights_that_tear_the_graph_apart_are_refused() -> None:
    lists = Neighbors.from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([0.01, 9.0, 0.01]), (4, 4))
    graph = build_graph(lists, np.full(4, 0.01), np.ones(4))
    with pytest.raises(
        InputError, match=r"self-tuned width underflow to 0 for edges of length 9, .* 2 connected components"
    ):
        affinity(graph, local_widths(graph.neighbors, graph.radii))


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_weights_over_density(alpha: float) -> None:
    W = affinity(random_graph(20, np.ones(20)), 0.4)
    q = degrees(W)
    np.testing.assert_allclose(
        divided_by_density(W, q, alpha).toarray(), W.toarray() / np.outer(q, q) ** alpha, rtol=1e-14
    )


def test_inverse_lengths_count_copies_and_bound_the_shortest():
    lengths = csr_array(np.array([[0, 2.0, 1e-9], [2.0, 0, 4.0], [1e-9, 4.0, 0]]))
    lists = Neighbors(np.zeros(4, dtype=int), np.empty(0, dtype=int), np.empty(0), 3)
    graph = Graph(lengths, lists, None, np.array([1.0, 3.0, 1.0]), np.arange(3), np.arange(3))
    W = inverse_lengths(graph).toarray()
    np.testing.assert_allclose(W, [[0, 1.5, 1 / 2e-3], [1.5, 0, 0.75], [1 / 2e-3, 0.75, 0]])

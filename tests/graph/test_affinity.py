"""Weights of edges, and vertices that stand for several rows."""

import numpy as np
import pytest
from scipy.linalg import eigh

from gramfold.errors import InputError
from gramfold.graph.affinity import affinity, default_width, weigh
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
    with pytest.raises(InputError, match=r"width 0\.001 are zero on edges as long as .* into 12 pieces: use a larger"):
        affinity(graph, 1e-3)


def test_weights_that_vanish_beside_others_do_no_harm() -> None:
    lists = Neighbors.from_pairs(np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([1.0, 1, 90]), (3, 3))
    found = affinity(build_graph(lists, None, np.ones(3)), 1.0).toarray()
    w = np.exp(-0.5)
    np.testing.assert_array_equal(found, [[0, w, 0], [w, 0, w], [0, w, 0]])

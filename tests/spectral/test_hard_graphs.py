"""Graphs made to be hard: every result is right to its own eigenvalue, or there is none."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.datasets import make_swiss_roll
from gramfold.errors import NotConvergedError
from gramfold.graph.affinity import affinity
from gramfold.graph.build import build_graph
from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.neighbors.exact import BlockedIndex, TreeIndex
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.costs import COSTS, Costs, EigenCosts
from gramfold.spectral.policy import leading_spectrum
from tests.spectral.examples import cycle, from_edges, path, star, torus, two_clusters

EUCLIDEAN = Metric("euclidean", "euclidean")


def ring_of_clusters(count: int, size: int, tie: float) -> csr_array:
    """Dense groups on a ring, each tied to the next by one edge."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, size, (2, 5 * size))
    i, j = np.append(i, np.arange(size - 1)), np.append(j, np.arange(1, size))
    i, j = i[i != j], j[i != j]
    starts = size * np.arange(count)
    heads = np.concatenate([(starts[:, None] + i).ravel(), starts])
    ends = np.concatenate([(starts[:, None] + j).ravel(), np.roll(starts, -1)])
    return from_edges(heads, ends, count * size, np.append(np.ones(count * len(i)), np.full(count, tie)))


def caterpillar(spine: int, legs: int) -> csr_array:
    """A path with a star at each vertex."""
    feet = spine + np.arange(spine * legs)
    i = np.concatenate([np.arange(spine - 1), np.repeat(np.arange(spine), legs)])
    return from_edges(i, np.concatenate([np.arange(1, spine), feet]), spine * (legs + 1))


def binary_tree(depth: int) -> csr_array:
    child = np.arange(1, 2 ** (depth + 1) - 1)
    return from_edges((child - 1) // 2, child, len(child) + 1)


def with_weights(L: csr_array, orders: float) -> csr_array:
    """The same edges, their weights spread over so many orders of magnitude."""
    edges = L.tocoo()
    upper = edges.row < edges.col
    weights = 10.0 ** (orders * (np.random.default_rng(1).random(int(upper.sum())) - 0.5))
    return from_edges(edges.row[upper], edges.col[upper], L.shape[0], weights)


def barbell(size: int, length: int) -> csr_array:
    """Two complete graphs at the ends of a long path."""
    a, b = np.triu_indices(size, 1)
    far = size + length
    line = np.arange(size - 1, far)
    return from_edges(np.concatenate([a, a + far, line]), np.concatenate([b, b + far, line + 1]), 2 * size + length)


def random_regular(n: int, degree: int) -> csr_array:
    rng = np.random.default_rng(2)
    rounds = [rng.permutation(n) for _ in range(degree)]
    i, j = np.concatenate([np.arange(n)] * degree), np.concatenate(rounds)
    return from_edges(i[i != j], j[i != j], n)


def neighbours(X: np.ndarray, k: int, width: float | None = None) -> csr_array:
    lists = (TreeIndex if X.shape[1] < 15 else BlockedIndex)(X, EUCLIDEAN, 1).own(k, None)
    return laplacian(affinity(build_graph(lists, lists.farthest, np.ones(len(X))), width))


def noisy_line(n: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.column_stack([np.linspace(0, 1000, n), 0.1 * rng.standard_normal((n, 2))])


HARD = {
    "path of 10,000": lambda: path(10_000),
    "cycle of 10,000": lambda: cycle(10_000),
    "star of 5,000": lambda: star(5000),
    "torus, fourfold eigenvalues": lambda: torus(60, 60),
    "long torus": lambda: torus(500, 6),
    "two clusters, a thread of 1e-9": lambda: two_clusters(1500, 1e-9),
    "two clusters, a thread of 1e-6": lambda: two_clusters(1500, 1e-6),
    "ten clusters on a ring": lambda: ring_of_clusters(10, 300, 1.0),
    "ten clusters on a ring of threads": lambda: ring_of_clusters(10, 300, 1e-8),
    "caterpillar": lambda: caterpillar(600, 5),
    "binary tree": lambda: binary_tree(11),
    "barbell": lambda: barbell(60, 4000),
    "expander": lambda: random_regular(4000, 4),
    "path, weights over 12 orders": lambda: with_weights(path(3000), 12),
    "torus, weights over 12 orders": lambda: with_weights(torus(50, 50), 12),
    "expander, weights over 12 orders": lambda: with_weights(random_regular(2000, 4), 12),
    "swiss roll": lambda: neighbours(make_swiss_roll(5000, random_state=0).points, 8),
    "swiss roll, narrow Gaussian": lambda: neighbours(make_swiss_roll(5000, random_state=0).points, 8, 0.35),
    "noisy line": lambda: neighbours(noisy_line(4000), 10),
    "cube of five dimensions": lambda: neighbours(np.random.default_rng(4).random((4000, 5)), 12),
    "cloud of twenty dimensions": lambda: neighbours(np.random.default_rng(5).standard_normal((3000, 20)), 10),
}
COUNT = 5
OUR_FACTOR = Costs(eigen=EigenCosts(superlu_operations=0))  # which small graphs are not given otherwise
# What eigenvalues may be known to, whoever solves: below ‖L‖·eps there is only rounding.
ROUNDING = 10 * np.finfo(np.float64).eps


@pytest.mark.parametrize("normalized", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", HARD)
def test_right_to_each_eigenvalue_or_refused(name: str, normalized: bool) -> None:
    costs = COSTS if normalized else OUR_FACTOR
    L = HARD[name]()
    n = L.shape[0]
    weights = csr_array((np.where(L.data < 0, -L.data, 0.0), L.indices, L.indptr), shape=L.shape)
    mass = degrees(weights) if normalized else np.ones(n)
    kernel = PenaltyKernel(penalty=L, mass=mass, null=np.ones((n, 1)), rows=np.arange(n))
    refusable = NotConvergedError if "12 orders" in name else ()  # nothing else may be refused
    try:
        found = leading_spectrum(kernel, COUNT, costs=costs)
    except refusable:
        return
    V, mu = found.eigenvectors, found.penalties
    assert mu is not None
    misfit = np.linalg.norm((L @ V - mass[:, None] * V * mu) / np.sqrt(mass)[:, None], axis=0)
    norm = float((np.abs(L).sum(axis=1) / mass).max())
    assert (misfit <= np.maximum(1e-6 * mu, ROUNDING * norm)).all()
    np.testing.assert_allclose(V.T @ (mass[:, None] * V), np.eye(COUNT), atol=1e-8)
    np.testing.assert_allclose(mass @ V / np.sqrt(mass.sum()), 0, atol=1e-7)

"""Penalties and grams whose eigenpairs are known."""

import numpy as np
from scipy.sparse import csr_array

from gramfold.graph.laplacian import laplacian
from gramfold.kernels.penalty import PenaltyKernel


def penalty_kernel(P: csr_array, mass: np.ndarray | None = None) -> PenaltyKernel:
    n = P.shape[0]
    mass = np.ones(n) if mass is None else mass
    return PenaltyKernel(penalty=P, mass=mass, null=np.ones((n, 1)), rows=np.arange(n))


def uniform(n: int) -> np.ndarray:
    """The null vector of a plain Laplacian."""
    return np.full((n, 1), n**-0.5)


def from_edges(i: np.ndarray, j: np.ndarray, n: int, weights: np.ndarray | float = 1.0) -> csr_array:
    """The Laplacian of a graph."""
    weights = np.broadcast_to(weights, i.shape)
    W = csr_array((weights, (i, j)), shape=(n, n))
    return laplacian(csr_array(W + W.T))


def path(n: int) -> csr_array:
    return from_edges(np.arange(n - 1), np.arange(1, n), n)


def path_eigenvalues(n: int, count: int) -> np.ndarray:
    return 4 * np.sin(np.pi * np.arange(1, count + 1) / (2 * n)) ** 2


def path_eigenvectors(n: int, count: int) -> np.ndarray:
    vectors = np.cos(np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, count + 1)) / n)
    return vectors / np.linalg.norm(vectors, axis=0)


def cycle(n: int) -> csr_array:
    return from_edges(np.arange(n), (np.arange(n) + 1) % n, n)


def star(n: int) -> csr_array:
    return from_edges(np.zeros(n - 1, dtype=int), np.arange(1, n), n)


def torus(a: int, b: int) -> csr_array:
    at = np.arange(a * b).reshape(a, b)
    i = np.concatenate([at.ravel(), at.ravel()])
    j = np.concatenate([np.roll(at, -1, axis=0).ravel(), np.roll(at, -1, axis=1).ravel()])
    return from_edges(i, j, a * b)


def torus_eigenvalues(a: int, b: int, count: int) -> np.ndarray:
    around, along = (4 * np.sin(np.pi * np.arange(m) / m) ** 2 for m in (a, b))
    return np.sort((around[:, None] + along).ravel())[1 : count + 1]


def two_clusters(m: int, bridge: float, seed: int = 0) -> csr_array:
    """Two random graphs of m vertices and one weak edge between them."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, m, (2, 6 * m))
    i, j = np.concatenate([i, np.arange(m - 1)]), np.concatenate([j, np.arange(1, m)])
    i, j = i[i != j], j[i != j]
    weights = np.append(np.ones(2 * len(i)), bridge)
    return from_edges(np.concatenate([i, i + m, [0]]), np.concatenate([j, j + m, [m]]), 2 * m, weights)


def sheet_penalty(side: int) -> csr_array:
    """As LLE's: the square of a grid's Laplacian, whose wanted eigenvalues are tiny."""
    at = np.arange(side * (side + 1)).reshape(side, side + 1)
    i = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    j = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    L = from_edges(i, j, at.size)
    return csr_array(L @ L)


def angle(left: np.ndarray, right: np.ndarray) -> float:
    """Sine of the largest angle between two spans."""
    left, right = np.linalg.qr(left)[0], np.linalg.qr(right)[0]
    return float(np.linalg.norm(left - right @ (right.T @ left), 2))

"""A learned Gram matrix, K = Y Yᵀ, and the pairs of a graph whose distances it keeps.

Weinberger, Sha, Saul, ICML 2004.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy.sparse import csr_array, diags_array, triu

from gramfold.direct.factor import Factor
from gramfold.spectral.factored import factored_spectrum
from gramfold.types import Floats, Graph, Integers, Kernel, Neighbors, Spectrum

_RIDGE = 1e-9  # relative; keeps the mixtures defined where weights nearly cancel


@dataclass(frozen=True, repr=False)
class FactorKernel(Kernel):
    """K = Y Yᵀ with few columns, centred."""

    factor: Floats  # (n, r) Y
    mass: Floats
    null: Floats  # (n, 1) ones: K M 1 = 0
    rows: Integers
    exponent: float = 0.5
    kind: Literal["gram"] = "gram"

    @classmethod
    def of(cls, factor: Floats, mass: Floats) -> Self:
        """Of centred coordinates."""
        return cls(factor, mass, np.ones((len(mass), 1)), np.arange(len(mass)))

    def product(self, vectors: Floats) -> Floats:
        return np.asarray(self.factor @ (self.factor.T @ vectors))

    def matrix(self) -> Floats:
        return np.asarray(self.factor @ self.factor.T)

    def trace(self) -> float:
        """Over the data rows."""
        return float(self.mass @ np.einsum("ic,ic->i", self.factor, self.factor))


def factored_spectrum_of(kernel: Kernel, count: int) -> Spectrum:
    """The leading eigenpairs of such a kernel, from its factor."""
    assert isinstance(kernel, FactorKernel)
    return factored_spectrum(kernel.factor, kernel.mass, count)


@dataclass(frozen=True)
class KeptPairs:
    """Pairs of vertices, each once and the lower number first, and their distances."""

    pairs: Integers  # (m, 2)
    distances: Floats  # (m,)


def neighbor_pairs(graph: Graph) -> KeptPairs:
    """The edges of the graph."""
    upper = triu(graph.lengths, format="coo")
    return KeptPairs(np.column_stack(upper.coords).astype(np.int64), upper.data.astype(np.float64))


def common_neighbors(lists: Neighbors) -> csr_array:
    """(n, n) number of vertices that chose both of a pair, above the diagonal."""
    chosen = csr_array((np.ones(len(lists.indices)), lists.indices, lists.indptr), shape=(len(lists), len(lists)))
    return csr_array(triu(csr_array(chosen.T @ chosen), k=1))


def angle_pairs(graph: Graph, distances: Callable[[Integers, Integers], Floats]) -> KeptPairs:
    """The edges, and the pairs that some vertex chose both of: their distances fix its angles (paper 002, eq 8)."""
    common = common_neighbors(graph.neighbors).tocoo()
    edges = neighbor_pairs(graph)
    n = len(graph)
    i, j = (index.astype(np.int64) for index in common.coords)
    fresh = ~np.isin(i * n + j, edges.pairs[:, 0] * n + edges.pairs[:, 1])
    i, j = i[fresh], j[fresh]
    return KeptPairs(
        np.concatenate([edges.pairs, np.column_stack([i, j])]),
        np.concatenate([edges.distances, distances(graph.vertices[i], graph.vertices[j])]),
    )


def landmark_mixtures(root: csr_array, landmarks: Integers) -> Floats:
    """(n, N) Q, the mixtures of landmarks that vertices are when each is rebuilt by its neighbours: min ‖R Q‖, Q_L = I.

    R = I − W with the weights W that rebuild every vertex; its rows sum to 0, so those of Q sum to 1.
    """
    n, N = root.shape[0], len(landmarks)
    mixed = np.zeros((n, N))
    mixed[landmarks] = np.eye(N)
    if n == N:
        return mixed
    others = np.setdiff1d(np.arange(n), landmarks)
    penalty = csr_array(root.T @ root)
    inner = csr_array(penalty[others][:, others])
    inner = csr_array(inner + diags_array(np.full(len(others), _RIDGE * inner.diagonal().mean())))
    mixed[others] = Factor.of(inner).solve(-penalty[others][:, landmarks].toarray())
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))  # the ridge is a trace of pull towards 0

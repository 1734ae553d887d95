"""A learned Gram matrix, K = Y Yᵀ, and the pairs of a graph whose distances it keeps.

Weinberger, Sha, Saul, ICML 2004.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy.sparse import csr_array, eye_array, triu

from gramfold.kernels.reconstruction import weight_matrix
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Graph, Integers, Kernel, Neighbors

_PAIRS_PER_BLOCK = 2_000_000


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class KeptPairs:
    """Pairs of vertices, each once and the lower number first, and their distances."""

    pairs: Integers  # (m, 2)
    distances: Floats  # (m,)


def neighbor_pairs(graph: Graph) -> KeptPairs:
    """The edges of the graph."""
    upper = triu(graph.lengths, format="coo")
    return KeptPairs(np.column_stack(upper.coords).astype(np.int64), upper.data.astype(np.float64))


def angle_pairs(graph: Graph, distances: Callable[[Integers, Integers], Floats]) -> KeptPairs:
    """The edges, and the pairs that some vertex chose both of: their distances fix its angles (paper 002, eq 8)."""
    lists = graph.neighbors
    chosen = csr_array((np.ones(len(lists.indices)), lists.indices, lists.indptr), shape=(len(lists), len(lists)))
    common = triu(csr_array(chosen.T @ chosen), k=1, format="coo")
    edges = neighbor_pairs(graph)
    n = len(graph)
    i, j = (index.astype(np.int64) for index in common.coords)
    fresh = ~np.isin(i * n + j, edges.pairs[:, 0] * n + edges.pairs[:, 1])
    i, j = i[fresh], j[fresh]
    return KeptPairs(
        np.concatenate([edges.pairs, np.column_stack([i, j])]),
        np.concatenate([edges.distances, distances(graph.vertices[i], graph.vertices[j])]),
    )


def landmark_mixtures(
    landmarks: Integers,
    n: int,
    k: int,
    distances: Callable[[Integers, Integers], Floats],
    grams: Callable[[Integers, Integers], Floats],
    reg: float,
    width: int,
    n_jobs: int | None,
) -> csr_array:
    """(n, N) weights that rebuild each vertex from its k nearest landmarks; a landmark is itself."""
    N = len(landmarks)
    k = min(k, N)
    nearest, lengths = np.empty((n, k), dtype=np.int64), np.empty((n, k))
    for part in blocks(n, max(1, _PAIRS_PER_BLOCK // N)):
        rows = np.arange(part.start, part.stop)
        found = distances(np.repeat(rows, N), np.tile(landmarks, len(rows))).reshape(len(rows), N)
        nearest[part] = np.argpartition(found, k - 1, axis=1)[:, :k]
        lengths[part] = np.take_along_axis(found, nearest[part], axis=1)
    lists = Neighbors.from_lists(nearest, lengths, N)
    weights = weight_matrix(lists, lambda rows, places: grams(rows, landmarks[places]), reg, width, n_jobs).tolil()
    weights[landmarks] = eye_array(N, format="lil")
    return csr_array(weights)

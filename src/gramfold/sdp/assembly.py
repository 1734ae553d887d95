"""Sparse matrices over the vertices and pairs of a graph, assembled repeatedly from new values.

    Σ_e (e_i − e_j)(e_i − e_j)ᵀ ⊗ F_e  +  diag ⊗ I_r

with an r × r symmetric block F_e for each pair: the Laplacian for r = 1, the Newton matrix of the low-rank method else.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import bsr_array, csr_array

from gramfold.types import Floats, Integers


@dataclass(frozen=True)
class Assembly:
    """The position of each pair and each vertex in the matrix, computed once for a graph."""

    first: Integers  # (m,)
    second: Integers  # (m,)
    n: int
    indptr: Integers
    indices: Integers
    source: Integers  # (n + 2m,) for each stored block: vertex v, or n + e, or n + m + e

    @classmethod
    def of(cls, pairs: Integers, n: int) -> Self:
        """The positions for this graph."""
        i, j = pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32)
        vertices = np.arange(n, dtype=np.int32)
        rows, columns = np.concatenate([vertices, i, j]), np.concatenate([vertices, j, i])
        order = np.lexsort((columns, rows))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n)))).astype(np.int32)
        return cls(i, j, n, indptr, columns[order], order)

    def gather(self, values: Floats) -> Floats:
        """Sum (m, …) values of the pairs at both of their ends: (n, …)."""
        flat = values.reshape(len(values), -1)
        out = np.empty((self.n, flat.shape[1]))
        for column in range(flat.shape[1]):
            part = np.ascontiguousarray(flat[:, column])
            out[:, column] = np.bincount(self.first, part, self.n) + np.bincount(self.second, part, self.n)
        return out.reshape(self.n, *values.shape[1:])

    def spread(self, flows: Floats) -> Floats:
        """Σ_e (e_i − e_j) f_e of (m, r) flows: (n, r)."""
        out = np.empty((self.n, flows.shape[1]))
        for column in range(flows.shape[1]):
            part = np.ascontiguousarray(flows[:, column])
            out[:, column] = np.bincount(self.first, part, self.n) - np.bincount(self.second, part, self.n)
        return out

    def differences(self, rows: Floats) -> Floats:
        """D_e = y_i − y_j of (n, r) rows: (m, r)."""
        return np.asarray(rows[self.first] - rows[self.second])

    def pattern(self) -> csr_array:
        """A matrix with the sparsity pattern of the assembled ones."""
        return csr_array((np.ones(len(self.indices)), self.indices.copy(), self.indptr.copy()), shape=(self.n, self.n))

    def laplacian(self, weights: Floats, diagonal: Floats | float = 0.0) -> csr_array:
        """L(w) + diag."""
        values = np.concatenate([self.gather(weights) + diagonal, -weights, -weights])[self.source]
        return csr_array((values, self.indices.copy(), self.indptr.copy()), shape=(self.n, self.n))

    def blocks(self, forms: Floats, diagonal: Floats) -> csr_array:
        """The matrix of (m, r, r) blocks F_e with diag ⊗ I_r added, its rows vertex by vertex."""
        r = forms.shape[1]
        ends = self.gather(forms)
        ends[:, np.arange(r), np.arange(r)] += diagonal[:, None]
        values = np.concatenate([ends, -forms, -forms])[self.source]
        size = self.n * r
        return csr_array(bsr_array((values, self.indices, self.indptr), shape=(size, size)).tocsr())

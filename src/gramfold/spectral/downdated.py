"""A sparse symmetric matrix less a few outer products, A = S − C Cᵀ, which is never made dense.

The Laplacian of a graph with a weak edge between any two vertices is of this form. There S u = C (Cᵀ u) for every null
vector u of A, so that S⁻¹ C lies in the null space and, beside it, the inverse needs no C at all:

    A† b = Π S⁻¹ b    for b orthogonal to the null space, with Π the projection off it
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramfold.types import Floats


@dataclass(frozen=True, eq=False)
class Downdated:
    """See the module."""

    sparse: csr_array  # S (n, n)
    outer: Floats  # C (n, c)
    null: Floats | None = None  # orthonormal null vectors of A, where they are known

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        n = int(self.sparse.shape[0])
        return n, n

    def __matmul__(self, vectors: Floats) -> Floats:
        return np.asarray(self.sparse @ vectors - self.outer @ (self.outer.T @ vectors))

    def toarray(self) -> Floats:
        """All entries."""
        return np.asarray(self.sparse.toarray() - self.outer @ self.outer.T)

    def row_sums(self) -> Floats:
        """Upper bounds (n,) of the absolute row sums."""
        size = np.abs(self.outer)
        return np.asarray(np.asarray(np.abs(self.sparse).sum(axis=1)).ravel() + size @ size.sum(axis=0))

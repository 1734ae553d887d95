"""A = L U by SuperLU: for matrices that are not symmetric, and for small factors.

Our own factorisation is faster, but must be compiled on first use, which takes longer than a small factorisation. The
order of elimination is ours, or for small factors SuperLU's minimum degree, which needs no factorisation before it.
"""

from copy import copy
from typing import Literal, Self

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from gramfold.errors import SingularFactorError
from gramfold.types import Floats, Integers


class OrderedLU:
    """L and U of a matrix whose pattern is nearly symmetric; pivots stay on the diagonal where they can.

    With `order=None` SuperLU orders by minimum degree. A pivot off the diagonal is taken where the diagonal is `pivot`
    times smaller.
    """

    def __init__(self, matrix: csr_array, order: Integers | None = None, pivot: float = 0.0) -> None:
        n = matrix.shape[0]
        self.order = np.arange(n) if order is None else order
        self._ordered = order is None  # whether rows of vectors are where the factor has them
        try:
            self.factor = splu(
                csc_array(matrix if order is None else matrix[order][:, order]),
                permc_spec="MMD_AT_PLUS_A" if order is None else "NATURAL",
                diag_pivot_thresh=pivot,
                options={"SymmetricMode": True},
            )
        except RuntimeError as error:  # SuperLU's word for an exactly singular factor
            raise SingularFactorError(f"the {n} x {n} matrix is singular: {error}") from error

    def in_order(self) -> Self:
        """The same for vectors whose rows are in the order of elimination already."""
        same = copy(self)
        same.order, same._ordered = np.arange(len(self.order)), True  # noqa: SLF001 - its own copy
        return same

    def solve(self, vectors: Floats, kind: Literal["N", "T"] = "N") -> Floats:
        """A⁻¹ V, or A⁻ᵀ V."""
        if self._ordered:
            return np.asarray(self.factor.solve(np.ascontiguousarray(vectors), kind))
        result = np.empty_like(vectors)
        result[self.order] = self.factor.solve(vectors[self.order], kind)
        return result


class SymmetricLU(OrderedLU):
    """The same of a symmetric matrix, by pivots on its diagonal only: their signs are those of its eigenvalues."""

    def __init__(self, matrix: csr_array, order: Integers) -> None:
        super().__init__(matrix, order)
        if (self.factor.perm_r != np.arange(len(order))).any():
            raise SingularFactorError(f"the {len(order)} x {len(order)} matrix is singular: a pivot is 0")

    @property
    def negative(self) -> int:
        """Number of negative pivots, which is the number of negative eigenvalues."""
        return int((self.factor.U.diagonal() < 0).sum())

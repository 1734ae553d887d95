"""A = L U by SuperLU in an order of our own: for matrices that are not symmetric, and for small factors.

Our own factorisation is faster, but must be compiled on first use, which takes longer than a small factorisation.
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

    A pivot off the diagonal is taken where the diagonal is `pivot` times smaller.
    """

    def __init__(self, matrix: csr_array, order: Integers, pivot: float = 0.0) -> None:
        self.order = order
        try:
            self.factor = splu(
                csc_array(matrix[order][:, order]),
                permc_spec="NATURAL",
                diag_pivot_thresh=pivot,
                options={"SymmetricMode": True},
            )
        except RuntimeError as error:  # SuperLU's word for an exactly singular factor
            raise SingularFactorError(f"the {len(order)} x {len(order)} matrix is singular: {error}") from error

    def in_order(self) -> Self:
        """The same for vectors whose rows are in the order of elimination already."""
        same = copy(self)
        same.order = np.arange(len(self.order))
        return same

    def solve(self, vectors: Floats, kind: Literal["N", "T"] = "N") -> Floats:
        """A⁻¹ V, or A⁻ᵀ V."""
        result = np.empty_like(vectors)
        result[self.order] = self.factor.solve(vectors[self.order], kind)
        return result

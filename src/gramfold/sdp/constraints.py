"""Rank-one constraints b_eᵀ X b_e, e = 1 … m, and the four operations of an interior-point method on them.

lengths(X)        b_eᵀ X b_e                                            (m,)
weighted(w)       L(w) = Σ_e w_e b_e b_eᵀ                               (N, N)
times(w, A)       L(w) A                                                (N, N)
schur(X, V, out)  (b_eᵀ X b_f)(b_eᵀ V b_f): tr A_e X A_f V, A_e = b_e b_eᵀ   (m, m), on and above the diagonal
"""

from abc import ABC, abstractmethod

import numpy as np

from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Integers

_ROWS = 256  # of the Schur matrix in one block
_SMALL = 1 << 18  # entries below which threads are not worth their start


class Constraints(ABC):
    """The interface of both kinds of constraints."""

    order: int  # N
    count: int  # m

    @abstractmethod
    def lengths(self, matrix: Floats) -> Floats:
        """b_eᵀ A b_e of each e, A symmetric."""

    @abstractmethod
    def weighted(self, weights: Floats) -> Floats:
        """L(w)."""

    @abstractmethod
    def times(self, weights: Floats, matrix: Floats) -> Floats:
        """L(w) A."""

    @abstractmethod
    def schur(self, X: Floats, inverse: Floats, out: Floats) -> None:
        """Fill `out` on and above the diagonal."""


class Rows(Constraints):
    """Constraints with arbitrary vectors b_e, the rows of a dense B."""

    def __init__(self, rows: Floats) -> None:
        self.rows = np.ascontiguousarray(rows, dtype=np.float64)  # (m, N)
        self.count, self.order = self.rows.shape

    def lengths(self, matrix: Floats) -> Floats:
        return np.asarray(np.einsum("ek,ek->e", self.rows @ matrix, self.rows))

    def weighted(self, weights: Floats) -> Floats:
        return np.asarray(self.rows.T @ (weights[:, None] * self.rows))

    def times(self, weights: Floats, matrix: Floats) -> Floats:
        return np.asarray(self.weighted(weights) @ matrix)

    def schur(self, X: Floats, inverse: Floats, out: Floats) -> None:
        of_x, of_inverse = self.rows @ X, self.rows @ inverse
        for part in blocks(self.count, _ROWS):
            later = self.rows[part.start :].T
            np.multiply(of_x[part] @ later, of_inverse[part] @ later, out=out[part, part.start :])


class Pairs(Constraints):
    """Constraints with b_e = e_i − e_j for the pairs of a graph, where vertex N is the ground: e_N = 0."""

    def __init__(self, left: Integers, right: Integers, order: int) -> None:
        self.left, self.right = (np.ascontiguousarray(end, dtype=np.int32) for end in (left, right))
        self.count, self.order = len(left), order

    def lengths(self, matrix: Floats) -> Floats:
        from gramfold.sdp.interior_point_kernels import quadratic

        out = np.empty(self.count)
        quadratic(matrix, self.left, self.right, out)
        return out

    def weighted(self, weights: Floats) -> Floats:
        from gramfold.sdp.interior_point_kernels import add_weighted

        out = np.zeros((self.order, self.order))
        add_weighted(weights, self.left, self.right, out)
        return out

    def times(self, weights: Floats, matrix: Floats) -> Floats:
        from gramfold.sdp.interior_point_kernels import weighted_times

        out = np.empty_like(matrix)
        weighted_times(weights, self.left, self.right, matrix, out)
        return out

    def schur(self, X: Floats, inverse: Floats, out: Floats) -> None:
        from gramfold.sdp.interior_point_kernels import schur_rows

        def fill(part: slice) -> None:
            schur_rows(X, inverse, self.left, self.right, part.start, part.stop, out)

        small = self.count**2 <= _SMALL
        run_blocks(fill, blocks(self.count, self.count if small else _ROWS), 1 if small else None)

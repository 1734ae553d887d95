"""Who finds the smallest eigenpairs of a sparse penalty: the cheapest of those whose cost can be foreseen.

The order of elimination tells what a factorisation would cost. Where that is little, as on sheets, one factorisation
and a few solves settle it, however close together the eigenvalues are. Where it fills in, as on real data of many
dimensions, the eigenvalues mostly lie well apart and products with the matrix do. Where both fail: multigrid.
"""

import logging
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramfold.errors import NotConvergedError
from gramfold.ordering.factor import Symbolic, without_diagonal
from gramfold.ordering.fill_reducing import fill_reducing_order
from gramfold.runtime.memory import USABLE_SHARE, available_memory
from gramfold.spectral.chebyshev import chebyshev_eigenpairs
from gramfold.spectral.dense import symmetric_eigenpairs
from gramfold.spectral.multigrid import multigrid_eigenpairs, pyamg_installed
from gramfold.spectral.pencil import rounding_of
from gramfold.spectral.root_inverse import smallest_by_root
from gramfold.spectral.shift_invert import nearly_full, smallest_eigenpairs
from gramfold.types import Floats

log = logging.getLogger("gramfold")

# Seconds, about: a multiplication in the factorisation, and an entry in a product with the matrix.
_FACTORED_PAIR = 0.35e-9
_FULL_PAIR = 0.1e-9  # the same in LAPACK, which knows no order
_MULTIPLIED_ENTRY = 1.5e-9
_SHORT = 2.0  # a factorisation of so few seconds is not worth avoiding ...
_PRODUCTS = 2_000  # ... nor one that costs less than this many products, which is also as far as they are tried
_ENTRIES_PER_ROW = 100  # of a sparse factor
_BYTES_PER_ENTRY = 14  # of a factor: its value, its structure, and what finding that takes


@dataclass(frozen=True)
class SparsePenalty:
    """A symmetric positive semidefinite matrix, and what is known of it."""

    matrix: csr_array  # A (n, n)
    null: Floats  # (n, c) orthonormal, A null = 0
    root: csr_array | None = None  # S (n, n) with A = SᵀS


def smallest_penalties(
    penalty: SparsePenalty, count: int, tolerance: float, start: Floats | None = None
) -> tuple[str, Floats, Floats]:
    """The solver's name, and eigenpairs outside the null space, smallest first; `start` are vectors near them."""
    matrix, null, root = penalty.matrix, penalty.null, penalty.root
    seconds = max(_SHORT, _PRODUCTS * _MULTIPLIED_ENTRY * matrix.nnz)
    if nearly_full(matrix):
        return _smallest_of_full(matrix, null, count, tolerance, start, seconds)
    if root is not None:
        cheap = affordable_factor(csr_array(abs(root) + abs(root.T)), seconds)
        if cheap is not None:
            values, vectors = smallest_by_root(root, null, count, cheap.order)
            misfit = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
            if (misfit <= np.maximum(tolerance * values, rounding_of(matrix))).all():
                return "shift-invert of a root (SuperLU, ARPACK)", values, vectors
            log.info("the root of the penalty left a residual of %.1e, so the penalty itself is factored", misfit.max())
    cheap = affordable_factor(matrix, seconds)
    if cheap is not None:
        return "shift-invert", *smallest_eigenpairs(matrix, null, count, symbolic=cheap, start=start)
    try:
        found = chebyshev_eigenpairs(matrix, null, count, 0.1 * tolerance, _PRODUCTS, start)
    except NotConvergedError as error:
        log.info("%s", error)
    else:
        return "Chebyshev filter", *found
    if pyamg_installed():
        return "LOBPCG with multigrid (pyamg)", *multigrid_eigenpairs(matrix, null, count, tolerance, start)
    costly = affordable_factor(matrix, np.inf)
    if costly is not None:
        return "shift-invert", *smallest_eigenpairs(matrix, null, count, symbolic=costly, start=start)
    raise NotConvergedError(
        f"the eigenvalues of the penalty on {matrix.shape[0]:,} vertices lie too close together for products, and its "
        "factor does not fit into memory: install the 'multigrid' extra (pyamg), ask for fewer components, or use "
        "landmarks."
    )


def _smallest_of_full(
    matrix: csr_array, null: Floats, count: int, tolerance: float, start: Floats | None, seconds: float
) -> tuple[str, Floats, Floats]:
    """The same of a matrix with few zeros: by LAPACK's factor, where that takes long by products."""
    n = matrix.shape[0]
    fits = 2 * 8.0 * float(n) ** 2 <= USABLE_SHARE * available_memory()
    if fits and _FULL_PAIR * float(n) ** 3 / 6 <= seconds:
        try:
            return "shift-invert (LAPACK)", *smallest_eigenpairs(matrix, null, count, start=start)
        except NotConvergedError as error:  # very many eigenvalues alike: all are found together
            log.info("%s", error)
            return "dense (LAPACK)", *symmetric_eigenpairs(matrix.toarray(), null, count)
    try:
        return "Chebyshev filter", *chebyshev_eigenpairs(matrix, null, count, 0.1 * tolerance, _PRODUCTS, start)
    except NotConvergedError:
        if not fits:
            raise
    return "shift-invert (LAPACK)", *smallest_eigenpairs(matrix, null, count, start=start)


def affordable_factor(matrix: csr_array, seconds: float) -> Symbolic | None:
    """Where the factor has entries; None where it would take longer than this, or more memory than there is."""
    n = matrix.shape[0]
    most = USABLE_SHARE * available_memory() / _BYTES_PER_ENTRY
    if np.isfinite(seconds):
        # a dense block of m vertices takes m³/6 multiplications and m²/2 entries
        dense = (6 * seconds / _FACTORED_PAIR) ** (2 / 3) / 2
        # dissection, the first try, may fill in up to three times as much as the order that is taken in the end
        most = min(most, 3 * (dense + _ENTRIES_PER_ROW * n))
    order, elimination = fill_reducing_order(without_diagonal(matrix), most)
    if elimination is None or elimination.operations * _FACTORED_PAIR > seconds:
        return None
    return Symbolic.in_order(order, elimination)

"""The choice of a solver for the smallest eigenpairs of a sparse penalty, by forecast cost.

The elimination order gives the cost of a factorisation. Where that is low, as on sheets, one factorisation and a few
solves suffice, however close together the eigenvalues are. Where the factor fills in, as for real data of many
dimensions, the eigenvalues mostly lie well apart and products with the matrix suffice. Where they do not, the matrix
is factored after all, however long it takes.
"""

import logging
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramfold.direct.factor import Symbolic, without_diagonal
from gramfold.direct.fill_reducing import fill_reducing_order
from gramfold.errors import NotConvergedError
from gramfold.runtime.costs import COSTS, Costs
from gramfold.runtime.memory import USABLE_SHARE, available_memory
from gramfold.spectral.chebyshev import chebyshev_eigenpairs
from gramfold.spectral.dense import symmetric_eigenpairs
from gramfold.spectral.downdated import Downdated
from gramfold.spectral.pencil import rounding_of
from gramfold.spectral.root_inverse import smallest_by_root
from gramfold.spectral.shift_invert import is_small, nearly_full, smallest_eigenpairs
from gramfold.types import Floats

log = logging.getLogger("gramfold")

# Of a matrix less outer products, whose eigenvalues are alike: a residual relative to them, far below their
# differences, and the number of products beyond which they lie too close together.
_ALIKE, _MOST_PRODUCTS = 1e-12, 100_000


@dataclass(frozen=True)
class SparsePenalty:
    """A symmetric positive semidefinite matrix, its null space, and its root if known."""

    matrix: csr_array | Downdated  # A (n, n)
    null: Floats  # (n, c) orthonormal, A null = 0
    root: csr_array | None = None  # S (n, n) with A = SᵀS


def smallest_penalties(
    penalty: SparsePenalty, count: int, tolerance: float, start: Floats | None = None, *, costs: Costs = COSTS
) -> tuple[str, Floats, Floats]:
    """The solver's name, and eigenpairs outside the null space, smallest first; `start` are vectors near them."""
    matrix, null, root = penalty.matrix, penalty.null, penalty.root
    known = costs.eigen
    if isinstance(matrix, Downdated):
        # its eigenvalues lie far from 0, where an inverse would not tell them apart
        found = chebyshev_eigenpairs(matrix.sparse, null, count, _ALIKE, _MOST_PRODUCTS, start, matrix.outer)
        return "Chebyshev filter", *found
    seconds = max(known.short, known.products * known.multiplied_entry * matrix.nnz)
    if nearly_full(matrix, costs=costs):
        return _smallest_of_full(matrix, null, count, tolerance, start, seconds, costs)
    small = is_small(matrix, costs=costs)
    if root is not None:
        cheap = None if small else affordable_factor(csr_array(abs(root) + abs(root.T)), seconds, costs=costs)
        if small or cheap is not None:
            values, vectors = smallest_by_root(root, null, count, None if cheap is None else cheap.order)
            misfit = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
            if (misfit <= np.maximum(tolerance * values, rounding_of(matrix))).all():
                return "shift-invert of a root (SuperLU, ARPACK)", values, vectors
            log.info(
                "shift-invert with a root of the penalty left a residual of %.1e, so the penalty itself is factorised",
                misfit.max(),
            )
    cheap = None if small else affordable_factor(matrix, seconds, costs=costs)
    if small or cheap is not None:
        return "shift-invert", *smallest_eigenpairs(matrix, null, count, symbolic=cheap, start=start, costs=costs)
    try:
        found = chebyshev_eigenpairs(matrix, null, count, 0.1 * tolerance, known.products, start)
    except NotConvergedError as error:
        log.info("%s", error)
    else:
        return "Chebyshev filter", *found
    costly = affordable_factor(matrix, np.inf, costs=costs)
    if costly is not None:
        return "shift-invert", *smallest_eigenpairs(matrix, null, count, symbolic=costly, start=start, costs=costs)
    raise NotConvergedError(
        f"the eigenvalues of the penalty on {matrix.shape[0]:,} vertices lie too close together for an iterative "
        "solver, and its sparse factor does not fit into memory: use fewer components, or landmarks."
    )


def _smallest_of_full(
    matrix: csr_array,
    null: Floats,
    count: int,
    tolerance: float,
    start: Floats | None,
    seconds: float,
    costs: Costs,
) -> tuple[str, Floats, Floats]:
    """The same for a matrix with few zeros: by a dense factor if that is fast, otherwise by products."""
    n = matrix.shape[0]
    fits = 2 * 8.0 * float(n) ** 2 <= USABLE_SHARE * available_memory()
    if fits and costs.eigen.full_pair * float(n) ** 3 / 6 <= seconds:
        try:
            return "shift-invert (LAPACK)", *smallest_eigenpairs(matrix, null, count, start=start, costs=costs)
        except NotConvergedError as error:  # very many eigenvalues alike: all are found together
            log.info("%s", error)
            return "dense (LAPACK)", *symmetric_eigenpairs(matrix.toarray(), null, count)
    try:
        found = chebyshev_eigenpairs(matrix, null, count, 0.1 * tolerance, costs.eigen.products, start)
    except NotConvergedError:
        if not fits:
            raise
    else:
        return "Chebyshev filter", *found
    return "shift-invert (LAPACK)", *smallest_eigenpairs(matrix, null, count, start=start, costs=costs)


def affordable_factor(matrix: csr_array, seconds: float, *, costs: Costs = COSTS) -> Symbolic | None:
    """Symbolic factorisation; None if it would take longer than `seconds`, or more memory than there is."""
    n, known = matrix.shape[0], costs.eigen
    most = USABLE_SHARE * available_memory() / known.bytes_per_entry
    if np.isfinite(seconds):
        # a dense block of m vertices takes m³/6 multiplications and m²/2 entries
        dense = (6 * seconds / known.factored_pair) ** (2 / 3) / 2
        # dissection, the first try, may fill in up to three times as much as the order that is taken in the end
        most = min(most, 3 * (dense + known.entries_per_row * n))
    order, elimination = fill_reducing_order(without_diagonal(matrix), most, costs=costs)
    if elimination is None or elimination.operations * known.factored_pair > seconds:
        return None
    return Symbolic.in_order(order, elimination, costs=costs)

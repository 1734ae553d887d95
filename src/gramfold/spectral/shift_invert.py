"""The smallest eigenpairs of a sparse penalty through one sparse factorisation.

A + εI is positive definite for a tiny ε. Its inverse turns the smallest eigenvalues into the largest, well
apart; what the near-singularity amplifies lies along the known null vectors, and those are projected out.
"""

from collections.abc import Callable
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array, eye_array

from gramfold.direct.factor import COLUMNS, Factor, Symbolic
from gramfold.direct.superlu import OrderedLU
from gramfold.errors import NotConvergedError, SingularFactorError
from gramfold.runtime.costs import COSTS, Costs
from gramfold.spectral.block_lanczos import block_lanczos
from gramfold.spectral.downdated import Downdated
from gramfold.spectral.pencil import one_norm
from gramfold.spectral.tall import off
from gramfold.types import Floats

# ε relative to ‖A‖: far below any wanted eigenvalue, far above what rounding does to a pivot.
SHIFT = 1e-13
# Of the inverse's eigenpairs, before they are sharpened.
_RELATIVE = 1e-9
_SPARE = 2  # vectors in a block beyond those wanted, at least
_RESTARTS = 20  # for eigenvalues close together, as of an expander
_APART = 1e-4  # of the largest wanted; below, residuals relative to the inverse's largest eigenvalue are too coarse


class FullFactor:
    """Cholesky factor by LAPACK, for matrices whose factor is full, without any ordering."""

    def __init__(self, matrix: csr_array) -> None:
        n = matrix.shape[0]
        self.order = np.arange(n)
        try:
            self._factor = cho_factor(matrix.toarray(order="F"), lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise SingularFactorError(f"the {n} x {n} matrix is singular: {error}") from error

    def in_order(self) -> Self:
        """Return self: the vertices are not reordered."""
        return self

    def solve(self, vectors: Floats) -> Floats:
        """A⁻¹ V."""
        return np.asarray(cho_solve(self._factor, vectors, check_finite=False))


def nearly_full(matrix: csr_array, *, costs: Costs = COSTS) -> bool:
    """Whether the matrix is so full that no elimination order would save much."""
    return bool(matrix.nnz >= costs.eigen.full_share * float(matrix.shape[0]) ** 2)


def is_small(matrix: csr_array, *, costs: Costs = COSTS) -> bool:
    """Whether SuperLU orders and factorises the matrix in a moment, so that nothing need be compiled or forecast."""
    n = matrix.shape[0]
    return bool(n <= costs.eigen.small_rows and matrix.nnz <= costs.eigen.small_entries * n)


def smallest_eigenpairs(
    matrix: csr_array,
    null: Floats,
    count: int,
    *,
    symbolic: Symbolic | None = None,
    start: Floats | None = None,
    costs: Costs = COSTS,
) -> tuple[Floats, Floats]:
    """Eigenpairs outside the null space, smallest first; without a symbolic factorisation SuperLU orders small ones."""
    n = matrix.shape[0]
    factor = _factored(matrix, symbolic, costs)
    several = COLUMNS if isinstance(factor, Factor) else 1
    order, number = factor.order, np.argsort(factor.order)
    # Lanczos uses the inverse only, and so works in the elimination order
    inverse = _without(factor.in_order().solve, null[order])
    known, solve, near = np.empty((n, 0)), inverse, None if start is None else inverse(start[order])
    while True:
        wanted = count - known.shape[1]
        spare = _SPARE + -(wanted + _SPARE) % several
        rest = block_lanczos(solve, n, wanted, relative=_RELATIVE, start=near, spare=spare, restarts=_RESTARTS)[1]
        # one more inverse step and a Rayleigh–Ritz step on A itself take out what the shift left behind
        values, vectors = rayleigh_ritz(matrix, np.hstack([known, solve(rest)])[number])
        # An eigenvalue far smaller than the others, as where few edges join two parts of the graph, hides them in the
        # rounding of its huge inverse: it is set aside, and the others are computed again.
        apart = int((values < _APART * values[-1]).sum())
        if apart <= known.shape[1]:
            return values, vectors
        known, near = vectors[order, :apart], vectors[order, apart:]
        solve = _without(inverse, known)


def _factored(matrix: csr_array, symbolic: Symbolic | None, costs: Costs) -> Factor | OrderedLU | FullFactor:
    """A factor of the shifted matrix."""
    n = matrix.shape[0]
    shifted = csr_array(matrix + SHIFT * one_norm(matrix) * eye_array(n))
    try:
        if symbolic is None and nearly_full(matrix, costs=costs):
            return FullFactor(shifted)
        if symbolic is None and is_small(matrix, costs=costs):
            return OrderedLU(shifted)
        symbolic = symbolic or Symbolic.of(shifted, costs=costs)
        small = symbolic.operations.sum() < costs.eigen.superlu_operations
        return OrderedLU(shifted, symbolic.order) if small else Factor.of(shifted, symbolic)
    except SingularFactorError as error:
        raise NotConvergedError(
            f"the sparse factorisation of the {n} x {n} penalty broke down ({error}), possibly because edge weights "
            "differ too much in size: use binary weights, or a larger width."
        ) from error


def _without(product: Callable[[Floats], Floats], known: Floats) -> Callable[[Floats], Floats]:
    """The operator restricted to the orthogonal complement of these vectors."""

    def rest(vectors: Floats) -> Floats:
        result = product(off(known, vectors))
        return off(known, result, out=result)

    return rest


def rayleigh_ritz(matrix: csr_array | Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """Ritz pairs of A in the span of these vectors, smallest first."""
    basis = np.linalg.qr(vectors)[0]
    values, rotation = np.linalg.eigh(basis.T @ (matrix @ basis))
    return np.maximum(values, 0.0), basis @ rotation


def solve_off_null(matrix: csr_array | Downdated, null: Floats, vectors: Floats, *, costs: Costs = COSTS) -> Floats:
    """A† V for V orthogonal to the null vectors, refined once."""
    # beside the null vectors the inverse is that of the sparse part
    sparse = matrix.sparse if isinstance(matrix, Downdated) else matrix
    solve = _without(_factored(sparse, None, costs).solve, null)
    first = solve(vectors)
    return first + solve(vectors - matrix @ first)

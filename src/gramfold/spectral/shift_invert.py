"""The smallest eigenpairs of a sparse penalty through one sparse factorisation.

A + εI is positive definite for a tiny ε. Its inverse turns the smallest eigenvalues into the largest, well
apart; what the near-singularity amplifies lies along the known null vectors, and those are projected out.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from gramfold.errors import NotConvergedError
from gramfold.spectral.krylov import largest_eigenpairs
from gramfold.spectral.pencil import one_norm
from gramfold.types import Floats

# ε relative to ‖A‖: far below any wanted eigenvalue, far above what rounding does to a pivot.
SHIFT = 1e-13


def smallest_eigenpairs(matrix: csr_array, null: Floats, count: int) -> tuple[Floats, Floats]:
    """Eigenpairs outside the null space, smallest first."""
    solve = _deflated_inverse(matrix, null)
    vectors = largest_eigenpairs(solve, matrix.shape[0], count)[1]
    # one more inverse step and a Rayleigh–Ritz step on A itself take out what the shift left behind
    return rayleigh_ritz(matrix, solve(vectors))


def rayleigh_ritz(matrix: csr_array | Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """The best eigenpairs of A in the span of these vectors, smallest first."""
    basis = np.linalg.qr(vectors)[0]
    values, rotation = np.linalg.eigh(basis.T @ (matrix @ basis))
    return np.maximum(values, 0.0), basis @ rotation


def solve_off_null(matrix: csr_array, null: Floats, vectors: Floats) -> Floats:
    """A† V for V orthogonal to the null vectors, refined once."""
    solve = _deflated_inverse(matrix, null)
    first = solve(vectors)
    return first + solve(vectors - matrix @ first)


def _deflated_inverse(matrix: csr_array, null: Floats) -> Callable[[Floats], Floats]:
    n = matrix.shape[0]
    try:
        factor = splu(
            csc_array(matrix + SHIFT * one_norm(matrix) * eye_array(n)),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError as error:  # SuperLU's word for an exactly singular factor
        raise NotConvergedError(
            f"the sparse factorisation of the {n} x {n} penalty broke down ({error}): the graph may hold weights "
            "too far apart in size; use binary weights or a wider Gaussian."
        ) from error

    def solve(vectors: Floats) -> Floats:
        inner = vectors - null @ (null.T @ vectors)
        result = factor.solve(inner)
        return np.asarray(result - null @ (null.T @ result))

    return solve

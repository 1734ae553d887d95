"""Dense eigenpairs by LAPACK."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from gramfold.spectral.arpack import SEEDED
from gramfold.spectral.krylov import largest_eigenpairs
from gramfold.spectral.shift_invert import SHIFT, rayleigh_ritz
from gramfold.types import Floats

_DIRECT = 1_000  # rows up to which LAPACK finds a few eigenpairs as fast as Lanczos
_DIRECT_LARGEST = 1_500  # the same at the upper end, where Lanczos needs no factor but more steps
_ABOVE_SINGULAR = 1e-9


def eigenpairs_between(matrix: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """The eigenpairs from number `first` to number `last` of a symmetric matrix, ascending; none if last < first."""
    if last < first:
        return np.empty(0), np.empty((len(matrix), 0))
    # LAPACK's inverse iteration rounds differently in another unit: here the largest entry is about 1
    power = int(np.frexp(max(float(matrix.max()), -float(matrix.min())))[1])
    small = np.ldexp(matrix, -power)
    try:
        values, vectors = eigh(small, subset_by_index=(first, last))
        whole = len(values) == last - first + 1
    except LinAlgError:
        whole = False
    if not whole:
        # it finds some alone by bisection, and fails or returns fewer where very many are equal, as those of I − 11ᵀ/n
        values, vectors = eigh(small)
        values, vectors = values[first : last + 1], vectors[:, first : last + 1]
    return np.ldexp(values, power), vectors


def symmetric_eigenpairs(matrix: Floats, null: Floats, count: int | None = None) -> tuple[Floats, Floats]:
    """The smallest eigenpairs of a positive semidefinite matrix outside its known null space, ascending."""
    n, c = null.shape
    # the null vectors are moved to the top of the spectrum, out of the way
    top = float(np.abs(matrix).sum(axis=1).max()) or 1.0
    moved = matrix + (2.0 * top * null) @ null.T
    last = n - c - 1 if count is None else count - 1
    values, vectors = eigenpairs_between(moved, 0, last)
    if count is None:
        return np.maximum(values, 0.0), vectors
    # LAPACK is right to some √n·eps of ‖A‖, which is much beside a tiny eigenvalue: one inverse step sharpens it
    moved[np.diag_indices(n)] += SHIFT * top
    return rayleigh_ritz(matrix, cho_solve(cho_factor(moved, overwrite_a=True), vectors))


def lowest_eigenpairs(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """The smallest eigenpairs of a positive semidefinite matrix of norm about 1, ascending, its null space included."""
    n = len(matrix)
    if n <= _DIRECT or 4 * count > n:
        return eigenpairs_between(matrix, 0, count - 1)
    from scipy.sparse.linalg import LinearOperator, eigsh

    # Lanczos on the inverse, a little above singular: one factor in the place of a reduction to tridiagonal form
    factor = cho_factor(matrix + _ABOVE_SINGULAR * np.eye(n), overwrite_a=True)
    inverse = LinearOperator((n, n), matvec=lambda v: cho_solve(factor, v), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    vectors = eigsh(inverse, count, which="LA", v0=start, tol=0.0, **SEEDED)[1]
    return rayleigh_ritz(matrix, vectors)


def leading_eigenpairs(matrix: Floats, count: int) -> tuple[str, Floats, Floats]:
    """The solver's name, and the largest eigenpairs of a positive semidefinite matrix, descending."""
    n = len(matrix)
    if n > _DIRECT_LARGEST and 4 * count <= n:
        return "Lanczos (ARPACK)", *largest_eigenpairs(matrix.__matmul__, n, count)
    values, vectors = eigenpairs_between(matrix, n - count, n - 1)
    return "dense (LAPACK)", values[::-1], vectors[:, ::-1]

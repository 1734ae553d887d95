"""Dense symmetric matrices for the interior-point method: factors, products and step lengths.

BLAS runs on one thread and the blocks here on all of them: the threads of BLAS wait for one another by spinning, which
costs several times the work where other processes use the machine. Results do not depend on the number of threads.
"""

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.linalg.blas import dsymv, dtrsm, dtrsv
from scipy.linalg.lapack import dpotrf, dpotri

from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats

_SMALL = 400  # rows of a matrix that is not worth splitting
_ROWS = 256  # of a product, and of the factor found at once
_COLUMNS = 1024
_LANCZOS = 40  # steps, at most
_ACCURACY = 0.03
_NOTICED = 0.1  # an eigenvalue closer to 0 than this leaves room for ten steps
_BREAKDOWN = 1e-12


def product(one: Floats, other: Floats) -> Floats:
    """Matrix product, with rows spread over threads."""
    if len(one) <= _SMALL:
        return np.asarray(one @ other)
    out = np.empty((len(one), other.shape[1]))

    def multiply(part: slice) -> None:
        np.matmul(one[part], other, out=out[part])

    run_blocks(multiply, blocks(len(one), _ROWS))
    return out


def factor_above(matrix: Floats) -> bool:
    """Replace the upper triangle of A by the R of A = Rᵀ R; False if A is not positive definite.

    Seen in LAPACK's order, by columns, that is the lower factor. A block of rows at a time, from all rows above it.
    """
    m = len(matrix)
    if m <= _SMALL:
        return bool(dpotrf(matrix.T, lower=1, overwrite_a=1, clean=0)[1] == 0)
    for rows in blocks(m, _ROWS):
        done, here = slice(0, rows.start), matrix[rows]

        def subtract(columns: slice, done: slice = done, rows: slice = rows, here: Floats = here) -> None:
            here[:, columns] -= matrix[done, rows].T @ matrix[done, columns]

        def divide(columns: slice, rows: slice = rows, here: Floats = here) -> None:
            here[:, columns] = dtrsm(1.0, matrix[rows, rows].T, here[:, columns].T, side=1, lower=1, trans_a=1).T

        if rows.start:
            run_blocks(subtract, _from(rows.start, m))
        corner, failed = dpotrf(matrix[rows, rows].T, lower=1, clean=0)
        if failed:
            return False
        matrix[rows, rows] = corner.T
        run_blocks(divide, _from(rows.stop, m))
    return True


def _from(start: int, stop: int) -> list[slice]:
    return [slice(start + part.start, start + part.stop) for part in blocks(stop - start, _COLUMNS)]


def cholesky(matrix: Floats) -> Floats | None:
    """Lower Cholesky factor in LAPACK's order; None if the symmetric matrix is not positive definite."""
    factor, failed = dpotrf(matrix.T, lower=1, clean=0)
    return None if failed else factor


def inverse_of(factor: Floats) -> Floats:
    """(R Rᵀ)⁻¹."""
    from gramfold.sdp.interior_point_kernels import mirror

    inverse = dpotri(factor, lower=1)[0].T  # found above the diagonal, in our order
    mirror(inverse)
    return np.asarray(inverse)


def symmetric_part(matrix: Floats) -> Floats:
    """(A + Aᵀ) / 2, in its place."""
    from gramfold.sdp.interior_point_kernels import symmetrize

    symmetrize(matrix)
    return matrix


def longest(root: Floats, change: Floats, accuracy: float = _ACCURACY) -> float:
    """A lower estimate of the largest a with R Rᵀ + a D ⪰ 0: −1 / the least eigenvalue of R⁻¹ D R⁻ᵀ, by Lanczos."""
    n = len(root)
    most = min(_LANCZOS, n)
    basis = np.empty((most + 1, n))
    first = np.random.default_rng(0).standard_normal(n)
    basis[0] = first / np.linalg.norm(first)
    alpha, beta = np.zeros(most), np.zeros(most)
    least, error = 0.0, 0.0
    for k in range(most):
        u = dtrsv(root, basis[k], lower=1, trans=1)
        u = dsymv(1.0, change.T, u)
        u = dtrsv(root, u, lower=1, overwrite_x=1)
        alpha[k] = u @ basis[k]
        for _ in range(2):  # twice is enough
            u -= (basis[: k + 1] @ u) @ basis[: k + 1]
        beta[k] = np.sqrt(u @ u)
        ended = beta[k] <= _BREAKDOWN * max(1.0, float(np.abs(alpha[: k + 1]).max())) or k == most - 1
        if ended or (k >= 4 and k % 2 == 0):
            values, vectors = eigh_tridiagonal(alpha[: k + 1], beta[:k], select="i", select_range=(0, 0))
            least, error = float(values[0]), float(beta[k] * abs(vectors[-1, 0]))
            if ended or error <= accuracy * max(abs(least), _NOTICED):
                break
        basis[k + 1] = u / beta[k]
    return np.inf if least - error >= 0 else 1.0 / (error - least)

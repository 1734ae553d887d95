"""The smallest eigenpairs of a sparse penalty without a factorisation: LOBPCG behind algebraic multigrid.

For graphs whose factor would fill in and whose eigenvalues lie too close together for products alone.
Knyazev, SIAM J. Sci. Comput. 23 (2001); Vaněk, Mandel, Brezina, Computing 56 (1996). Needs pyamg (`multigrid` extra).
"""

import warnings
from importlib.util import find_spec

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse import csr_array, csr_matrix, eye_array
from scipy.sparse.linalg import lobpcg

from gramfold.errors import NotConvergedError
from gramfold.spectral.block_lanczos import first_block
from gramfold.spectral.pencil import one_norm
from gramfold.spectral.shift_invert import SHIFT, rayleigh_ritz
from gramfold.spectral.tall import off
from gramfold.types import Floats

_MOST_STEPS = 400


def pyamg_installed() -> bool:
    """Whether the extra is there."""
    return find_spec("pyamg") is not None


def multigrid_eigenpairs(
    matrix: csr_array, null: Floats, count: int, tolerance: float, start: Floats | None = None
) -> tuple[Floats, Floats]:
    """Eigenpairs outside the null space, smallest first; the caller judges their residuals."""
    from pyamg import smoothed_aggregation_solver

    n = matrix.shape[0]
    shifted = csr_matrix(matrix + SHIFT * one_norm(matrix) * eye_array(n))
    # aggregates follow the near-null vectors, which for a graph's Laplacian is the constant (times the mass's root)
    hierarchy = smoothed_aggregation_solver(shifted, B=np.ascontiguousarray(null))
    block = off(null, first_block(n, count, start))
    values = np.full(count, one_norm(matrix))
    for _ in range(3):  # the tolerance is absolute, and how small the eigenvalues are is known only afterwards
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of residuals and conditioning, which the caller judges
            try:
                block = lobpcg(
                    shifted,
                    block,
                    M=hierarchy.aspreconditioner(),
                    Y=null,
                    tol=0.1 * tolerance * float(values[:count].min()),
                    maxiter=_MOST_STEPS,
                    largest=False,
                )[1]
            except (ValueError, LinAlgError) as error:  # its words for a basis that lost its rank
                raise NotConvergedError(
                    f"LOBPCG broke down on the {n} x {n} penalty ({error}): its eigenvalues may lie too far apart in "
                    "size; use binary weights or a wider Gaussian."
                ) from error
        values, block = rayleigh_ritz(matrix, block)
        misfit = np.linalg.norm(matrix @ block[:, :count] - block[:, :count] * values[:count], axis=0)
        if (misfit <= tolerance * values[:count]).all():
            break
    return values[:count], block[:, :count]

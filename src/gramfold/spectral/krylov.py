"""Lanczos by ARPACK, with matrix products only."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from gramfold.errors import NotConvergedError
from gramfold.runtime.progress import beat
from gramfold.spectral.arpack import SEEDED
from gramfold.types import Floats

Product = Callable[[Floats], Floats]

_SEED = 20040704  # start vectors change no result beyond its residual; fixed ones make runs repeatable
# The search for skipped copies of an eigenvalue need not be exact to see one ...
_SEEN = 1e-3
# ... and one that is larger than the last kept by this share of it, or of the largest, is as good as it.
_SAME, _ROUNDING = 1e-6, 1e-12
_ROUGH = 1e-4  # from this tolerance on a result is only inspected, not used


def largest_eigenpairs(
    product: Product,
    n: int,
    count: int,
    *,
    tolerance: float = 1e-12,
    apart: bool = False,
) -> tuple[Floats, Floats]:
    """Eigenpairs of a symmetric operator, largest first, every copy of a repeated eigenvalue among them.

    Only positive eigenvalues count. With `apart` they lie well apart, as those of an inverse do: then a few iterations
    suffice, and the basis is kept small.
    """

    def left_over(rest: Product, seed: int) -> Floats:
        return lanczos(rest, n, 1, tolerance=_SEEN, seed=seed, apart=apart)[0]

    found = lanczos(product, n, count, tolerance=tolerance, apart=apart)
    return _with_copies(product, *found, left_over, tolerance=tolerance)


def largest_of_any_sign(product: Product, n: int, count: int, *, rounding: float = 0.0) -> tuple[Floats, Floats]:
    """The largest eigenpairs, with all copies, of an operator whose other eigenvalues may be 0 or negative.

    `rounding` is that of a product with a unit vector: eigenvalues up to it are not significant.
    """
    found = lanczos(product, n, count)
    top = float(np.abs(found[0]).max())

    def left_over(rest: Product, seed: int) -> Floats:
        # shifted, so that "relative to the eigenvalue" means relative to the largest one
        return lanczos(lambda v: rest(v) + top * v, n, 1, tolerance=_ROUGH, seed=seed)[0] - top

    return _with_copies(product, *found, left_over, rounding)


def _with_copies(
    product: Product,
    values: Floats,
    vectors: Floats,
    left_over: Callable[[Product, int], Floats],
    floor: float = 0.0,
    tolerance: float = 1e-12,
) -> tuple[Floats, Floats]:
    """The eigenpairs with copies that were skipped; `left_over` finds the largest eigenvalue of the rest.

    Lanczos works in the Krylov space of one start vector, which holds one copy of a repeated eigenvalue: the others
    enter by rounding or not at all. So the search is repeated from other starts, with the known eigenvalues moved out
    of the way. Eigenvalues up to `floor` are not searched for.
    """
    n, count = vectors.shape
    for seed in range(_SEED + 1, _SEED + count + 2):
        rest = _moved(product, vectors, -values)
        seen = left_over(rest, seed)
        margin = _SAME * abs(values[-1]) + _ROUNDING * np.abs(values).max()
        if seen[0] <= max(floor, values[-1]) + margin:
            return values, vectors
        value, vector = lanczos(rest, n, 1, tolerance=tolerance, seed=seed)
        values, vectors = np.append(values, value), np.hstack([vectors, vector])
        kept = np.argsort(-values, kind="stable")[:count]
        values, vectors = values[kept], vectors[:, kept]
    raise NotConvergedError(
        f"Lanczos repeatedly found larger eigenvalues than the {count} computed, because the matrix is not symmetric "
        "or its eigenvalues are equal up to rounding: use fewer components."
    )


def lanczos(
    product: Product,
    n: int,
    count: int,
    *,
    which: str = "LA",
    tolerance: float = 1e-12,
    seed: int = _SEED,
    apart: bool = False,
) -> tuple[Floats, Floats]:
    """Eigenpairs at the upper end of the spectrum (`which="LA"`) or of largest modulus ("LM"), largest first.

    Copies of a repeated eigenvalue may be skipped.
    """

    def multiplied(vector: Floats) -> Floats:
        beat()
        return product(vector.reshape(-1, 1)).ravel()

    operator = LinearOperator((n, n), matvec=multiplied, dtype=np.float64)
    start = np.random.default_rng(seed).standard_normal(n)
    try:
        values, vectors = eigsh(
            operator,
            count,
            which=which,
            v0=start,
            **SEEDED,
            tol=tolerance,
            ncv=_subspace(count, n, rough=tolerance >= _ROUGH, apart=apart),
        )
    except ArpackNoConvergence as error:
        raise NotConvergedError(
            f"Lanczos found {len(error.eigenvalues)} of {count} eigenpairs within its limit of restarts, because the "
            "eigenvalues lie too close together: use fewer components."
        ) from error
    except ArpackError as error:
        raise NotConvergedError(
            f"Lanczos could not start or broke down ({error}): check X for extreme values, or use fewer components."
        ) from error
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def largest_eigenvalue(matrix: csr_array) -> float:
    """The largest eigenvalue of a symmetric sparse matrix."""
    n = matrix.shape[0]
    if n < 3:
        return float(np.linalg.eigvalsh(matrix.toarray())[-1])
    return float(lanczos(lambda v: matrix @ v, n, 1)[0][0])


def _moved(product: Product, vectors: Floats, by: Floats) -> Product:
    """The operator with the eigenvalues of these eigenvectors shifted."""
    return lambda v: product(v) + vectors @ (by[:, None] * (vectors.T @ v))


def _subspace(count: int, n: int, *, rough: bool, apart: bool) -> int:
    # ARPACK fills it before the first check, so for a rough result or an easy problem it is kept small
    if apart:
        return min(n, 2 * count + 4)
    return min(n, max(2 * count + 10, 0 if rough else 24))

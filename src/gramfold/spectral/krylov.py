"""Lanczos through ARPACK: products only."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from gramfold.errors import NotConvergedError
from gramfold.types import Floats

_SEED = 20040704  # the start vector changes no result beyond its residual; a fixed one makes runs repeatable


def largest_eigenpairs(
    product: Callable[[Floats], Floats],
    n: int,
    count: int,
    *,
    which: str = "LA",
    tolerance: float = 1e-12,
    max_restarts: int | None = None,
) -> tuple[Floats, Floats]:
    """Eigenpairs of a symmetric operator, largest first (`which="SA"`: smallest first)."""
    operator = LinearOperator((n, n), matvec=lambda v: product(v.reshape(-1, 1)).ravel(), dtype=np.float64)
    start = np.random.default_rng(_SEED).standard_normal(n)
    try:
        values, vectors = eigsh(
            operator,
            count,
            which=which,
            v0=start,
            tol=tolerance,
            maxiter=max_restarts,
            ncv=_subspace(count, n),
        )
    except ArpackNoConvergence as error:
        raise NotConvergedError(
            f"Lanczos found {len(error.eigenvalues)} of {count} eigenpairs before its limit of restarts: the "
            "eigenvalues lie too close together for products alone."
        ) from error
    except ArpackError as error:
        raise NotConvergedError(f"Lanczos could not start or broke down ({error}).") from error
    order = np.argsort(values) if which == "SA" else np.argsort(-values)
    return values[order], vectors[:, order]


def largest_eigenvalue(matrix: csr_array) -> float:
    """The largest eigenvalue of a symmetric sparse matrix."""
    n = matrix.shape[0]
    if n < 3:
        return float(np.linalg.eigvalsh(matrix.toarray())[-1])
    return float(largest_eigenpairs(lambda v: matrix @ v, n, 1)[0][0])


def _subspace(count: int, n: int) -> int:
    return min(n, max(2 * count + 10, 24))

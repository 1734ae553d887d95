"""The axes of largest variance, by whoever finds them soonest.

    C = (1/n) Σ (x − mean)(x − mean)ᵀ;    C e = λ e;    or, where columns outnumber rows,  K v = nλ v,  e = Fᵀ v / √(nλ)

A matrix that is small is made. Where both are large, products with the rows find a few axes that stand out, and where
none does, the smaller matrix finds them yet. Burges, section 1.1 and the remark on that matrix in its conclusion.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError, NotConvergedError
from gramfold.kernels.linear import LinearGram, linear_gram, mean_and_scatter, mean_of, pull, squared_spread
from gramfold.spectral.block_lanczos import block_lanczos
from gramfold.spectral.dense import leading_eigenpairs
from gramfold.spectral.krylov import largest_eigenpairs
from gramfold.spectral.policy import gram_rounding
from gramfold.types import Floats

Solver = Literal["auto", "covariance_eigh", "full", "arpack", "gram"]
_NARROW = 1_000  # columns up to which the whole covariance matrix is decomposed without a thought
_SHORT = 2_000  # rows up to which, where columns are more, the Gram matrix is
SMALL_SIDE = 5_000  # rows or columns up to which such a matrix is made where products do not converge
_NEARLY_ALL = 0.8  # share of the directions from which on it is cheapest to find them all
Moments = tuple[Floats, Floats]  # mean (d,) and Σ (x − mean)(x − mean)ᵀ (d, d)
_ROUNDING = 4 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class PrincipalAxes:
    """The leading axes of some rows."""

    mean: Floats  # (d,)
    axes: Floats  # (d, p), orthonormal
    variances: Floats  # (p,) λ, descending: mean squares, not n − 1
    total: float  # Σ of all λ
    solver: str
    scatter: Floats | None = None  # (d, d) nC, where it was made

    @property
    def shares(self) -> Floats:
        """Of each axis in the total variance."""
        return np.asarray(self.variances / (self.total or 1.0))


def principal_axes(
    rows: Any,
    count: int,
    solver: Solver = "auto",
    n_jobs: int | None = None,
    moments: Moments | None = None,
) -> PrincipalAxes:
    """The leading `count` axes of dense or sparse rows; `moments` are their mean and scatter, where known."""
    n, d = rows.shape
    count = min(count, n - 1, d)
    solver = _chosen(rows, count) if solver == "auto" else solver
    if solver == "covariance_eigh" and not issparse(rows):
        return _by_covariance(len(rows), count, moments or mean_and_scatter(rows, n_jobs))
    mean = mean_of(rows, n_jobs)
    total = squared_spread(rows, mean, n_jobs) / n
    if _all_the_same(mean, total):
        return _no_axes(mean)
    if solver == "gram":
        return _by_gram(linear_gram(rows, mean, n_jobs=n_jobs), count, total)
    from sklearn.decomposition import PCA

    if issparse(rows) and solver == "full":
        raise InputError(
            f"svd_solver='full' would make {n} x {d} sparse rows dense: use 'auto', 'covariance_eigh', 'arpack' or "
            "'gram'."
        )
    if solver == "arpack" and count >= min(n, d):
        raise InputError(
            f"svd_solver='arpack' finds fewer than all axes, and {count} of {n} x {d} rows are all: use 'auto' or a "
            "smaller n_components."
        )
    wide = rows.astype(np.float64, copy=False) if issparse(rows) else rows - mean
    model = PCA(count, svd_solver=solver, copy=False, random_state=0).fit(wide)
    variances = model.explained_variance_ * ((n - 1) / n)
    return PrincipalAxes(mean, model.components_.T, variances, total, f"scikit-learn's PCA, {solver}")


def _by_covariance(n: int, count: int, moments: Moments) -> PrincipalAxes:
    # scikit-learn's "covariance_eigh" takes n·mean meanᵀ off XᵀX, which leaves rounding where the mean is far, and sums
    # float32 rows in float32
    mean, scatter = moments
    total = float(np.trace(scatter)) / n
    if _all_the_same(mean, total):
        return _no_axes(mean)
    solver, values, axes = leading_eigenpairs(scatter, count)
    return PrincipalAxes(mean, axes, np.maximum(values, 0.0) / n, total, f"covariance, {solver}", scatter)


def _by_gram(gram: LinearGram, count: int, total: float) -> PrincipalAxes:
    n, d = gram.points.shape
    try:
        if n <= _SHORT or 4 * count > n:
            solver, values, vectors = leading_eigenpairs(gram.matrix(), count)
        else:
            solver = "block Lanczos"
            values, vectors, _ = block_lanczos(gram.product, n, count, lowest=False)
    except NotConvergedError:  # no axis stands out
        if d < n and d <= SMALL_SIDE and not issparse(gram.points):
            return _by_covariance(n, count, mean_and_scatter(gram.points, gram.n_jobs))
        if n <= SMALL_SIDE:
            solver, values, vectors = leading_eigenpairs(gram.matrix(), count)
        else:
            solver = "Lanczos (ARPACK)"
            values, vectors = largest_eigenpairs(gram.product, n, count)
    # what rounding made is no direction
    real = values > max(gram_rounding(gram), _ROUNDING * n * float(values[0]))
    values, vectors = values[real], vectors[:, real]
    axes = pull(gram.points, gram.mean, vectors, gram.n_jobs) / np.sqrt(values)
    return PrincipalAxes(gram.mean, axes, values / n, total, f"Gram side, {solver}")


def _all_the_same(mean: Floats, total: float) -> bool:
    return total <= (_ROUNDING * float(np.linalg.norm(mean))) ** 2


def _no_axes(mean: Floats) -> PrincipalAxes:
    return PrincipalAxes(mean, np.empty((len(mean), 0)), np.empty(0), 0.0, "none")


def is_narrow(rows: Any) -> bool:
    """Whether the covariance matrix is made without a thought."""
    n, d = rows.shape
    return bool(d <= min(n, _NARROW))


def _chosen(rows: Any, count: int) -> Solver:
    n, d = rows.shape
    if is_narrow(rows):
        return "covariance_eigh"
    if count >= _NEARLY_ALL * min(n, d) and not issparse(rows):
        return "full"
    return "gram"

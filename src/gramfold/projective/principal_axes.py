"""The axes of largest variance, by whoever finds them soonest.

    C = (1/n) Σ (x − mean)(x − mean)ᵀ;    C e = λ e;    or, where columns outnumber rows,  K v = nλ v,  e = Fᵀ v / √(nλ)

Burges, section 1.1 and the remark on the smaller of the two matrices in its conclusion.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse

from gramfold.errors import InputError
from gramfold.kernels.linear import linear_gram, pull, row_blocks, squared_spread
from gramfold.spectral.nystrom import centered_scatter
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats

Solver = Literal["auto", "covariance_eigh", "full", "arpack", "gram"]
_NARROW = 1_000  # columns up to which the whole covariance matrix is decomposed without a thought
_NEARLY_ALL = 0.8  # share of the directions from which on it is cheapest to find them all

_FIRST = 1_000  # rows whose mean stands for that of all while it is not known
_NEAR = 3.0  # standard deviations
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


def principal_axes(rows: Any, count: int, solver: Solver = "auto") -> PrincipalAxes:
    """The leading `count` axes of dense or sparse rows."""
    n, d = rows.shape
    count = min(count, n - 1, d)
    solver = _chosen(rows, count) if solver == "auto" else solver
    if solver == "covariance_eigh" and not issparse(rows):
        return _by_covariance(rows, count)
    # the mean in float64 whatever the rows are in; float32 sums would round it
    mean = np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel() / n
    total = squared_spread(rows, mean) / n
    if _all_the_same(mean, total):
        return _no_axes(mean)
    if solver == "gram":
        spectrum = leading_spectrum(linear_gram(rows, mean), count)
        real = spectrum.eigenvalues > 0
        axes = pull(rows, mean, spectrum.eigenvectors[:, real]) / np.sqrt(spectrum.eigenvalues[real])
        return PrincipalAxes(mean, axes, spectrum.eigenvalues[real] / n, total, f"Gram side, {spectrum.solver}")
    from sklearn.decomposition import PCA

    if issparse(rows) and solver == "full":
        raise InputError(
            f"svd_solver='full' would make {n} x {d} sparse rows dense: use 'auto', 'covariance_eigh', 'arpack' or "
            "'gram'."
        )
    wide = rows.astype(np.float64, copy=False) if issparse(rows) else rows - mean
    model = PCA(count, svd_solver=solver, copy=False, random_state=0).fit(wide)
    variances = model.explained_variance_ * ((n - 1) / n)
    return PrincipalAxes(mean, model.components_.T, variances, total, f"scikit-learn's PCA, {solver}")


def _by_covariance(rows: Floats, count: int) -> PrincipalAxes:
    # scikit-learn's "covariance_eigh" takes n·mean meanᵀ off XᵀX, which leaves rounding where the mean is far, and sums
    # float32 rows in float32: here blocks are centred, in float64, in one pass
    n, d = rows.shape
    some = rows[:_FIRST].astype(np.float64)
    near = some.mean(axis=0)
    if (np.abs(near) <= _NEAR * some.std(axis=0)).all():  # next to nothing cancels as it is
        near = np.zeros(d)
    mean, scatter = centered_scatter((rows[part] for part in row_blocks(rows)), near)
    if _all_the_same(mean, float(np.trace(scatter)) / n):
        return _no_axes(mean)
    values, axes = eigh(scatter, subset_by_index=(d - count, d - 1))
    variances = np.maximum(values[::-1], 0.0) / n
    return PrincipalAxes(mean, axes[:, ::-1], variances, float(np.trace(scatter)) / n, "covariance (LAPACK)", scatter)


def _all_the_same(mean: Floats, total: float) -> bool:
    return total <= (_ROUNDING * float(np.linalg.norm(mean))) ** 2


def _no_axes(mean: Floats) -> PrincipalAxes:
    return PrincipalAxes(mean, np.empty((len(mean), 0)), np.empty(0), 0.0, "none")


def _chosen(rows: Any, count: int) -> Solver:
    n, d = rows.shape
    if d <= min(n, _NARROW):
        return "covariance_eigh"
    if count >= _NEARLY_ALL * min(n, d) and not issparse(rows):
        return "full"
    return "gram"

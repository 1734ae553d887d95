"""The axes of largest variance, by whoever finds them soonest.

    C = (1/n) Σ (x − mean)(x − mean)ᵀ;    C e = λ e;    or, where columns outnumber rows,  K v = nλ v,  e = Fᵀ v / √(nλ)

Burges, section 1.1 and the remark on the smaller of the two matrices in its conclusion.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError
from gramfold.kernels.linear import linear_gram, pull, squared_spread
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats

Solver = Literal["auto", "covariance_eigh", "full", "arpack", "gram"]
_NARROW = 1_000  # columns up to which the whole covariance matrix is decomposed without a thought
_NEARLY_ALL = 0.8  # share of the directions from which on it is cheapest to find them all

_ROUNDING = 4 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class PrincipalAxes:
    """The leading axes of some rows."""

    mean: Floats  # (d,)
    axes: Floats  # (d, p), orthonormal
    variances: Floats  # (p,) λ, descending: mean squares, not n − 1
    total: float  # Σ of all λ
    solver: str

    @property
    def shares(self) -> Floats:
        """Of each axis in the total variance."""
        return np.asarray(self.variances / (self.total or 1.0))


def principal_axes(rows: Any, count: int, solver: Solver = "auto") -> PrincipalAxes:
    """The leading `count` axes of dense or sparse rows."""
    n, d = rows.shape
    # the mean in float64 whatever the rows are in; float32 sums would round it
    mean = np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel() / n
    count = min(count, n - 1, d)
    solver = _chosen(rows, count) if solver == "auto" else solver
    total = squared_spread(rows, mean) / n
    if total <= (_ROUNDING * float(np.linalg.norm(mean))) ** 2:  # all rows are the same
        return PrincipalAxes(mean, np.empty((d, 0)), np.empty(0), 0.0, "none")
    if solver == "gram":
        spectrum = leading_spectrum(linear_gram(rows, mean), count)
        real = spectrum.eigenvalues > 0
        axes = pull(rows, mean, spectrum.eigenvectors[:, real]) / np.sqrt(spectrum.eigenvalues[real])
        return PrincipalAxes(mean, axes, spectrum.eigenvalues[real] / n, total, f"Gram side, {spectrum.solver}")
    from sklearn.decomposition import PCA

    if issparse(rows):
        if solver == "full":
            raise InputError(
                f"svd_solver='full' would make {n} x {d} sparse rows dense: use 'auto', 'covariance_eigh', 'arpack' or "
                "'gram'."
            )
        centred = rows.astype(np.float64, copy=False)
    else:
        # scikit-learn takes n·mean meanᵀ off XᵀX, which leaves rounding where the mean is far: centred rows have none
        centred = rows - mean
    model = PCA(count, svd_solver=solver, copy=False, random_state=0).fit(centred)
    variances = model.explained_variance_ * ((n - 1) / n)
    return PrincipalAxes(mean, model.components_.T, variances, total, f"scikit-learn's PCA, {solver}")


def _chosen(rows: Any, count: int) -> Solver:
    n, d = rows.shape
    if d <= min(n, _NARROW):
        return "covariance_eigh"
    if count >= _NEARLY_ALL * min(n, d) and not issparse(rows):
        return "full"
    return "gram"

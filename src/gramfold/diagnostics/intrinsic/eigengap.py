"""Spectral gap: the intrinsic dimension from the eigenvalues of a fitted model.

    l_1 ≥ l_2 ≥ … ≥ l_p  the logarithms of the leading eigenvalues of the kernel
    q = argmin  Σ_{i ≤ q} (l_i − mean)² + Σ_{i > q} (l_i − mean')²

Zhu, Ghodsi, Computational Statistics & Data Analysis 51 (2006): the scree is divided where two groups of one variance
explain it best (here of logarithms, since eigenvalues of noise are a small multiple of one another, not a small
difference). The largest single ratio would divide after the first eigenvalue wherever the data are longer than wide.

Interval: the q whose profile likelihood is within the χ² quantile of the largest. It is about this division of this
spectrum alone, and not calibrated over tables as those of the other estimators are.

Only where eigenvalues are variances of rows along directions does their number mean a dimension: PCA, classical MDS,
Isomap, semidefinite embedding.
"""

from typing import Any

import numpy as np
from scipy.stats import chi2
from sklearn.utils.validation import check_is_fitted

from gramfold.diagnostics.intrinsic.estimate import Estimate, check_level
from gramfold.embedding.reading import check_count
from gramfold.errors import InputError
from gramfold.types import Floats

_CLEAR = 2.0  # ratio of the eigenvalues at the gap, below which the spectrum has none to speak of
_LEAST = 3  # eigenvalues that can be divided
_FLOOR = 1e-4  # of the largest eigenvalue, a hundredth in length: below, all are equally small


def measures_variance(model: Any) -> bool:
    """Whether the eigenvalues of this model's kernel are variances of its rows."""
    from gramfold.methods.classical_mds import ClassicalMDS
    from gramfold.methods.isomap import Isomap
    from gramfold.methods.kernel_pca import KernelPCA
    from gramfold.methods.landmark_mds import LandmarkMDS
    from gramfold.methods.pca import PCA
    from gramfold.methods.sde import SDE

    if isinstance(model, KernelPCA):
        return model.kernel == "linear"
    return isinstance(model, PCA | ClassicalMDS | LandmarkMDS | Isomap | SDE)


def spectral_gap(model: Any, *, n_eigenvalues: int = 20, level: float = 0.9) -> Estimate:
    """Read the intrinsic dimension from the gap in the spectrum of a fitted model.

    Parameters
    ----------
    model : fitted PCA, ClassicalMDS, LandmarkMDS, Isomap, LandmarkIsomap, SDE, or KernelPCA with kernel="linear"
        Of other methods eigenvalues are no variances: those of Laplacian eigenmaps or LLE are frequencies or
        reconstruction errors, and have no gap at the dimension.
    n_eigenvalues : int, default=20
        Leading eigenvalues that are divided, at least 3; those that the kernel does not have count as 0.
    level : float, default=0.9
        Confidence of the interval.

    Returns
    -------
    estimate : Estimate
        `value`, a whole number, and `interval`: divisions that explain the spectrum nearly as well. `note` tells of a
        spectrum without a clear gap.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import spectral_gap
    >>> spectral_gap(Isomap().fit(make_swiss_roll(1000, random_state=0).points)).value
    2.0
    """
    check_level(level)
    name = type(model).__name__
    if not hasattr(model, "leading_eigenvalues"):
        raise InputError(
            f"spectral_gap reads the eigenvalues of a fitted model, but {name} has none: fit Isomap or PCA."
        )
    check_is_fitted(model)
    if not measures_variance(model):
        raise InputError(
            f"the eigenvalues of {name} do not measure variance, so no gap in them is a dimension: fit Isomap, "
            "ClassicalMDS, SDE or PCA, or estimate the dimension from the rows with dimension(X)."
        )
    count = check_count(n_eigenvalues, "n_eigenvalues")
    if count < _LEAST:
        raise InputError(f"n_eigenvalues={count} cannot be divided at a gap: use at least {_LEAST}.")
    kernel = model.model_.kernel
    count = min(count, len(kernel.mass) - kernel.null.shape[1])
    found = model.leading_eigenvalues(count)
    if not len(found) or not found[0] > 0.0:
        raise InputError(f"the kernel of {name} has no positive eigenvalue, so it has no dimension: check the rows.")
    values = np.zeros(count)  # beyond its rank a kernel has no variance
    values[: len(found)] = found
    return _divided(np.maximum(values / values[0], _FLOOR), level)


def _divided(values: Floats, level: float) -> Estimate:
    logs = np.log(values)
    p = len(logs)
    errors = np.array([_squares(logs[:q]) + _squares(logs[q:]) for q in range(1, p)])
    best = int(np.argmin(errors)) + 1
    # the profile likelihood with a common variance is −p/2 log(error)
    least = max(float(errors.min()), float(np.finfo(np.float64).tiny))
    near = np.flatnonzero(p * np.log(np.maximum(errors, least) / least) <= chi2.ppf(level, 1)) + 1
    ratio = float(values[best - 1] / values[best])
    note = None
    if ratio < _CLEAR:
        note = f"eigenvalues {best} and {best + 1} differ by a factor of {ratio:.2f}, so the spectrum has no clear gap"
    return Estimate(float(best), (float(near[0]), float(near[-1])), level, note=note)


def _squares(part: Floats) -> float:
    return float(((part - part.mean()) ** 2).sum())

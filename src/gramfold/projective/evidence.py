"""How many dimensions a plane has: the Bayesian evidence for each number, by Laplace's approximation.

    log p(X | k) ≈ log p(U) − n/2 Σ_{i≤k} log λ_i − n(d−k)/2 log v + (m+k)/2 log 2π − ½ log |A| − k/2 log n
    v = mean of the d − k smallest λ;   m = dk − k(k+1)/2, the freedom of k orthonormal axes
    p(U) = 2^-k Π_{i≤k} Γ((d−i+1)/2) π^-(d−i+1)/2, all axes alike
    log |A| = Σ_{i≤k} Σ_{j>i} log (1/λ̂_j − 1/λ̂_i)(λ_i − λ_j) n,   λ̂_j = λ_j for j ≤ k, else v

The likelihood at its top, times the width of the top in every direction in which U, Λ and v may turn.
Minka, Automatic choice of dimensionality for PCA, NIPS 13 (2001), eq (77) with the terms of its section 4.
"""

import numpy as np
from scipy.special import gammaln

from gramfold.types import Floats

_ROUNDING = 1e-12  # of the largest eigenvalue; what is smaller is no variance, and differences are no smaller


def log_evidence(variances: Floats, n: int) -> Floats:
    """For k = 1, 2, … dimensions, from all d eigenvalues of the covariance of n rows, descending."""
    d, top = len(variances), float(variances[0])
    values = np.maximum(variances, 0.0)
    most = min(int((values > _ROUNDING * top).sum()), d) - 1  # something must be left for the noise
    logs = np.log(np.maximum(values, _ROUNDING * top))
    after = np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])  # after[k]: Σ of the d − k smallest
    gaps = np.log(np.maximum(values[:, None] - values[None, :], _ROUNDING * top) * n)  # (d, d), j > i is read
    evidence = np.empty(most)
    for k in range(1, most + 1):
        v = after[k] / (d - k)
        i = np.arange(1, k + 1)
        axes = -k * np.log(2.0) + (gammaln((d - i + 1) / 2) - (d - i + 1) / 2 * np.log(np.pi)).sum()
        inverse = 1.0 / np.concatenate([values[:k], np.full(d - k, v)])
        stiffness = np.maximum(inverse[None, :] - inverse[:k, None], _ROUNDING / top)
        later = np.arange(d)[None, :] > np.arange(k)[:, None]
        log_a = (np.log(stiffness) + gaps[:k])[later].sum()
        freedom = d * k - k * (k + 1) / 2
        evidence[k - 1] = (
            axes
            - n / 2 * (logs[:k].sum() + (d - k) * np.log(v))
            + (freedom + k) / 2 * np.log(2 * np.pi)
            - log_a / 2
            - k / 2 * np.log(n)
        )
    return evidence

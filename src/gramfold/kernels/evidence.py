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

_ROUNDING = 1e-12  # of the largest eigenvalue; differences are no smaller


def log_evidence(variances: Floats, n: float, d: int) -> Floats:
    """For k = 1, 2, … dimensions, from the eigenvalues of the covariance of n rows of d columns that are not 0.

    In the unit in which the largest is about 1: with λ in another, every number is changed alike. Where the rows lie in
    fewer dimensions than rows and columns allow, without any noise, the evidence for these is infinite.
    """
    rank = len(variances)
    if rank == 0:
        return np.empty(0)
    # the last one stands for all d − rank that are 0
    values = np.ldexp(np.append(variances, 0.0), -int(np.frexp(variances[0])[1]))
    times = np.append(np.ones(rank), d - rank)
    top = float(values[0])
    flat = rank < min(n - 1, d)
    logs = np.log(values[:rank])
    after = np.cumsum(values[::-1])[::-1]  # after[k]: Σ of the d − k smallest
    gaps = np.log(np.maximum(values[:, None] - values[None, :], _ROUNDING * top) * n)  # (rank + 1, ·), j > i is read
    evidence = np.full(rank if flat else rank - 1, np.inf)  # else something must be left for the noise
    for k in range(1, rank):
        v = after[k] / (d - k)
        i = np.arange(1, k + 1)
        axes = -k * np.log(2.0) + (gammaln((d - i + 1) / 2) - (d - i + 1) / 2 * np.log(np.pi)).sum()
        inverse = 1.0 / np.concatenate([values[:k], np.full(rank + 1 - k, v)])
        stiffness = np.maximum(inverse[None, :] - inverse[:k, None], _ROUNDING / top)
        later = np.arange(rank + 1)[None, :] > np.arange(k)[:, None]
        log_a = ((np.log(stiffness) + gaps[:k]) * times)[later].sum()
        freedom = d * k - k * (k + 1) / 2
        evidence[k - 1] = (
            axes
            - n / 2 * (logs[:k].sum() + (d - k) * np.log(v))
            + (freedom + k) / 2 * np.log(2 * np.pi)
            - log_a / 2
            - k / 2 * np.log(n)
        )
    return evidence

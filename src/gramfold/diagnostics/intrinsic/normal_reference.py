"""What estimators read on a normal distribution, from which their bias in many dimensions is corrected.

In d dimensions a share 1 − (1 − ε)^d of a solid lies within ε of its edge: in 10 dimensions and more nearly all of it.
Neighbourhoods there are cut off, and hold fewer far rows than a whole ball of d dimensions would, so that d is read too
low. How much too low depends on what the edge is like. As a reference serves the normal distribution N(0, I_d), which
thins out in every direction and of which all is known: among n rows, one at x with |x|² = λ has within s of it the
share

    P(s) = F(s²; d, λ)        noncentral χ²,   λ ~ χ²(d)

and the k-th neighbour is where P is about u_k = exp(ψ(k) − ψ(n)), the geometric mean of the beta variable that P(r_k)
is. So the mean of log(r_k / r_j) over j < k is ∫ log(r_k / s(v u_k)) dv, with s(p) the quantile. The *corrected*
dimension is the d (a real number) for which the reference reads the same, where that is higher. It is exact for normal
rows; for a cube it undoes part of the bias, and for a sphere, which has no edge, it adds some per cent.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma
from scipy.stats import chi2, ncx2

from gramfold.types import Floats

_PLACES = 12  # nodes over |x|, each as likely
_RADII = 16  # nodes over the radii within a neighbourhood
_MOST = 1000.0  # dimensions beyond which nothing is looked for


def _nodes(count: int) -> tuple[Floats, Floats]:
    """Gauss–Legendre nodes and weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1.0) / 2.0, weights / 2.0


def _rank(k: float, n: int) -> float:
    """The share of the rows within the k-th neighbour, on (geometric) average."""
    return float(np.exp(digamma(k) - digamma(n)))


def mean_log_ratio(d: float, n: int, k: int) -> float:
    """The mean of log(r_k / r_j) over the k − 1 nearer neighbours j, of n rows of d dimensions."""
    at, weights = _nodes(_PLACES)
    v, inner = _nodes(_RADII)
    share, spread = _rank(k, n), chi2.ppf(at, d)[:, None]
    # v³ for v, whose nodes are close to 0, where the logarithm is steep
    squares = ncx2.ppf(share * v**3, d, spread)  # (places, radii)
    ratios = 0.5 * np.log(ncx2.ppf(share, d, spread) / squares)
    return float(weights @ (ratios @ (3.0 * v**2 * inner)))


def log_ratio(d: float, n: int, first: int, second: int) -> float:
    """The mean of log(r_second / r_first), of n rows of d dimensions."""
    at, weights = _nodes(_PLACES)
    spread = chi2.ppf(at, d)
    near, far = (ncx2.ppf(_rank(k, n), d, spread) for k in (first, second))
    return float(weights @ (0.5 * np.log(far / near)))


def correlation_slope(d: float, near: float, far: float) -> float:
    """log(C₂ / C₁) / log(r₂ / r₁) where shares C₁ < C₂ of the pairs are within r₁, r₂: differences are N(0, 2I)."""
    return float(2.0 * np.log(far / near) / np.log(chi2.ppf(far, d) / chi2.ppf(near, d)))


def dimension_that_reads(value: float, reading: Callable[[float], float]) -> float:
    """The dimension of the reference where `reading`, which grows with it, has this value, and at least the value.

    Below 1 there is nothing to correct; infinity where no dimension up to 1,000 reads as much. In few dimensions the
    reference reads some per cent too high, by the curvature of its density, which other rows need not have.
    """
    if value <= 1.0:
        return value
    high = 2.0
    while reading(high) < value:
        high *= 2.0
        if high > _MOST:
            return np.inf
    low = 0.25
    if reading(low) >= value:
        return value
    return max(value, float(brentq(lambda d: reading(d) - value, low, high, xtol=1e-6)))

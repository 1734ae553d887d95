"""95% intervals of what is computed on rows drawn without replacement."""

import numpy as np
from scipy import special

from gramfold.types import Floats

CONFIDENCE = 0.95
_ROUNDING = 1e-12  # of the measures, which are numbers of size 1


def half_width(variance: float, degrees: float) -> float:
    """Of an interval around an estimate of this variance, by Student's t with so many degrees of freedom."""
    return float(special.stdtrit(degrees, 0.5 + 0.5 * CONFIDENCE) * np.sqrt(max(variance, 0.0))) + _ROUNDING


def mean_variance(values: Floats, n: int) -> float:
    """Variance of the mean of values of rows drawn among n: σ̂²/m (1 − m/n)."""
    m = len(values)
    return float(np.var(values, ddof=1)) / m * (1 - m / n)


def mean_interval(values: Floats, n: int, limits: tuple[float, float]) -> tuple[float, float] | None:
    """Of the mean over n rows of which these were drawn, within what it can be; None where all were.

    Values that are all equal, of a map without fault say, have no variance. Then K rows of any other value are missed
    with the probability (1 − m/n)^K, and the interval has room for as many as are missed in 5% of all cases.
    """
    m, middle = len(values), float(values.mean())
    if m == n:
        return None
    if np.ptp(values) == 0:
        others = min(1.0, np.log(1 - CONFIDENCE) / np.log1p(-m / n) / n)
        return middle - others * (middle - limits[0]), middle + others * (limits[1] - middle)
    half = half_width(mean_variance(values, n), m - 1)
    return max(middle - half, limits[0]), min(middle + half, limits[1])

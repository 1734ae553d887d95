"""What an estimator of the intrinsic dimension returns, and its interval."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import gamma, norm

from gramfold.errors import InputError
from gramfold.types import Floats

Interval = tuple[float, float]
# Variances of means over neighbourhoods are known to first order, and are themselves estimates. Intervals are a sixth
# wider than these say, so that at 1,000 rows they hold what they claim.
WIDER = 1.35
BEYOND = "not corrected: normal rows of 1,000 dimensions read less"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """An estimate of the intrinsic dimension.

    Attributes
    ----------
    value : float
        The dimension, as the estimator is defined.
    interval : pair of float, or None
        In which the value lies that the estimator has on average over tables of as many rows from the same source:
        `level` of such intervals hold it. It is about chance alone. What the estimator gets wrong on average (edges,
        curvature, noise at the scale of the neighbourhoods) is not in it. None where no interval is known.
    level : float
        Confidence of the interval.
    per_point : ndarray of shape (n_rows,), or None
        The local estimate of each row, NaN for rows that are not in the sample; None for an estimator without one.
    corrected : float or None
        The dimension of a normal distribution of as many rows on which the estimator reads `value` on average. In 10
        dimensions and more nearly all rows lie at an edge of the data, and `value` is too low. None for an estimator
        that needs no such correction; infinite (`beyond_correction`) where a normal distribution of 1,000 dimensions
        reads less.
    corrected_interval : pair of float, or None
        The interval, corrected likewise.
    note : str or None
        What to keep in mind about this number, if anything.
    """

    value: float
    interval: Interval | None
    level: float = 0.9
    per_point: Floats | None = None
    corrected: float | None = None
    corrected_interval: Interval | None = None
    note: str | None = None

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        corrected = "" if self.corrected is None else f", corrected {self.corrected:.3g}"
        corrected = f", {BEYOND}" if self.beyond_correction else corrected
        if self.interval is None:
            return f"Estimate({self.value:.3g}{corrected})"
        low, high = self.interval
        return f"Estimate({self.value:.3g}, {self.level:.0%} interval {low:.3g} to {high:.3g}{corrected})"

    @property
    def best(self) -> float:
        """The corrected value; the value itself where it needs no correction, or is beyond what can be corrected."""
        return self.value if self.corrected is None or self.beyond_correction else self.corrected

    @property
    def beyond_correction(self) -> bool:
        """Whether normal rows of 1,000 dimensions read less than the value.

        If rows are at random, they are then too few for as many dimensions as they have, and the value is a lower
        bound. On a grid it says nothing of the dimension.
        """
        return self.corrected is not None and not np.isfinite(self.corrected)


def shown(value: float, corrected: float) -> str:
    """A dimension that is corrected where it can be."""
    return f"{corrected:.3g}" if np.isfinite(corrected) else f"{value:.3g} uncorrected"


def check_level(level: Any) -> float:
    """The confidence of an interval, between 0 and 1."""
    if not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise InputError(
            f"level={level!r} is no confidence of an interval: pass a number between 0 and 1, such as 0.9."
        )
    return float(level)


def interval_of_inverse(inverse: float, variance: float, level: float) -> Interval:
    """Of the dimension, where its inverse was estimated with this variance: as of a gamma variable, which it nearly is.

    An inverse dimension is a mean of exponential variables: if they were independent, their sum would be exactly gamma.
    """
    if variance <= 0.0:
        return 1.0 / inverse, 1.0 / inverse
    shape = inverse**2 / variance
    low, high = gamma.ppf([(1 - level) / 2, (1 + level) / 2], shape) / shape
    return float(low / inverse), float(high / inverse)


def normal_interval(value: float, variance: float, level: float) -> Interval:
    """About a value that is nearly normal."""
    reach = float(norm.ppf((1 + level) / 2) * np.sqrt(max(variance, 0.0)))
    return value - reach, value + reach

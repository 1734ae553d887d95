"""TwoNN: the intrinsic dimension from the two nearest neighbours of each row.

    μ = r₂ / r₁,    P(μ > t) = t^−d,    so log μ is exponential with mean 1/d
    d = (R − 1) / ( Σ_{i ≤ R} x_(i) + (N − R) x_(R) ),    x_(i) = log μ ascending, R = ⌊(1 − discard) N⌋

Facco, d'Errico, Rodriguez, Laio, Scientific Reports 7 (2017). The largest ratios are discarded, as there: they belong
to rows whose surroundings are not of one density. Their line through the origin is replaced by the likelihood of a
sample that is censored at x_(R), which has the smaller variance and a known distribution.

Interval: 1/d is a mean over rows, with influence ψ = min(x, x_(R)) − [x ≤ x_(R)] / d. Rows are not independent: a
distance serves the two rows that it joins, and so the variance of the mean is at most 1 + share of rows drawn (2 where
all are) times that of independent rows.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intrinsic.estimate import Estimate, check_level, interval_of_inverse
from gramfold.diagnostics.intrinsic.nearby import SAMPLE, Nearby
from gramfold.diagnostics.intrinsic.normal_reference import dimension_that_reads, mean_log_ratio
from gramfold.errors import InputError
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats

_NOTED = 0.02  # share of tied rows that is told of


@described
def two_nn(
    X: Any,
    *,
    discard: float = 0.1,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    sample: int | None = SAMPLE,
    level: float = 0.9,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Estimate the intrinsic dimension from the two nearest neighbours of each row (TwoNN).

    It looks at the smallest scale that the rows have. Noise is seen there first: rows with noise as large as the
    distance between neighbours have the dimension of the noise. Values on a grid (counts, grey levels) have many equal
    distances, and it reads their steps: mostly too high a dimension, of many columns of bits too low a one.

    Parameters
    ----------
    {rows}
    discard : float, default=0.1
        Share of the largest ratios that are known only to be large.
    {search}

    Returns
    -------
    estimate : Estimate
        `value`, `interval`, `corrected`. Without `per_point`: two distances say too little of one row.

    Examples
    --------
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import two_nn
    >>> round(two_nn(make_swiss_roll(2000, random_state=0).points).value)
    2
    """
    check_level(level)
    if not 0.0 <= discard < 1.0:
        raise InputError(f"discard={discard!r} is not a share of the rows: pass a number of at least 0 and below 1.")
    near = Nearby.of(
        X,
        2,
        metric=metric,
        metric_params=metric_params,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    apart = near.apart
    ratios = np.log(near.distances[apart, 1] / near.distances[apart, 0])
    if len(ratios) < 3:
        raise InputError(
            f"only {len(ratios)} rows have two neighbours at a distance above 0, too few for TwoNN: use more rows."
        )
    inverse, variance = _censored(ratios, discard)
    value, interval = 1.0 / inverse, interval_of_inverse(inverse, (1.0 + near.share) * variance, level)

    def corrected(reading: float) -> float:
        return dimension_that_reads(reading, lambda d: 1.0 / mean_log_ratio(d, near.n_distinct, 2))

    return Estimate(
        value,
        interval,
        level,
        corrected=corrected(value),
        corrected_interval=(corrected(interval[0]), corrected(interval[1])),
        note=_note(near.tied),
    )


def _censored(x: Floats, discard: float) -> tuple[float, float]:
    """1/d, and its variance for independent rows."""
    n = len(x)
    kept = max(2, int(n * (1.0 - discard)))
    limit = float(np.partition(x, kept - 1)[kept - 1])
    sums = np.minimum(x, limit)
    if limit <= 0.0:
        raise InputError(
            f"{np.mean(x == 0.0):.0%} of the rows have their two nearest neighbours at the same distance, so the "
            "values lie on a grid and TwoNN is not defined: use maximum_likelihood or local_pca with more neighbours."
        )
    inverse = float(sums.sum() / (kept - 1))
    influence = sums - inverse * (x <= limit)
    return inverse, float(np.mean(influence**2) * n / kept**2)


def _note(tied: float) -> str | None:
    if tied < _NOTED:
        return None
    return (
        f"{tied:.1%} of the rows have their two nearest neighbours at exactly the same distance (values on a grid), "
        "which TwoNN reads in place of the dimension"
    )

"""Maximum likelihood: the intrinsic dimension from the distances to k neighbours.

    1/d(x) = 1/(k − 1) Σ_{j < k} log( r_k(x) / r_j(x) ),    1/d = mean of 1/d(x) over the rows

Levina, Bickel, NIPS 17 (2005), with the correction of MacKay and Ghahramani (2005): neighbourhoods are joined by their
likelihood, which averages the inverses. 1/d(x) is unbiased where the density is constant on the neighbourhood; d(x) is
not, and a mean of d(x) is too high by 1/(k − 2) of it.

Interval: 1/d is a mean over rows. A distance serves the two rows that it joins, and so the variance of the mean is at
most 1 + share of rows drawn (2 where all are) times that of independent rows; the variance of a row is the observed
one.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intrinsic.estimate import WIDER, Estimate, check_level, interval_of_inverse
from gramfold.diagnostics.intrinsic.nearby import SAMPLE, Nearby
from gramfold.diagnostics.intrinsic.normal_reference import dimension_that_reads, mean_log_ratio
from gramfold.embedding.reading import check_count
from gramfold.errors import InputError
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats


@described
def maximum_likelihood(
    X: Any,
    *,
    n_neighbors: int = 20,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    sample: int | None = SAMPLE,
    level: float = 0.9,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Estimate the intrinsic dimension by maximum likelihood (Levina and Bickel, MacKay and Ghahramani).

    Parameters
    ----------
    {rows}
    n_neighbors : int, default=20
        Neighbours of each row, at least 2. More of them see beyond noise, and more curvature and edges.
    {search}

    Returns
    -------
    estimate : Estimate
        `value`, `interval`, `corrected`, and `per_point`: d(x) of each row.

    Examples
    --------
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import maximum_likelihood
    >>> round(maximum_likelihood(make_swiss_roll(2000, random_state=0).points).value)
    2
    """
    check_level(level)
    k = check_count(n_neighbors, "n_neighbors")
    if k < 2:
        raise InputError(f"n_neighbors={k}, but a dimension is read from ratios of distances: use n_neighbors >= 2.")
    near = Nearby.of(
        X,
        k,
        metric=metric,
        metric_params=metric_params,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    inverses = local_inverses(near, k)
    known = inverses[~np.isnan(inverses)]
    inverse = float(known.mean()) if len(known) else 0.0
    if not inverse > 0.0:
        raise InputError(
            f"the first {k} neighbours of every row are at the same distance or at distance 0, so the dimension is not "
            "defined: use more neighbours."
        )
    variance = WIDER * (1.0 + near.share) * float(known.var()) / len(known)
    value, interval = 1.0 / inverse, interval_of_inverse(inverse, variance, level)
    with np.errstate(divide="ignore"):
        per_point = near.over_rows(1.0 / inverses)

    def corrected(reading: float) -> float:
        return dimension_that_reads(reading, lambda d: 1.0 / mean_log_ratio(d, near.n_distinct, k))

    ends = corrected(interval[0]), corrected(interval[1])
    return Estimate(value, interval, level, per_point, corrected(value), ends)


def local_inverses(near: Nearby, k: int) -> Floats:
    """1/d(x) of the drawn rows, (m,); NaN where a neighbour is at distance 0."""
    inverses = np.full(len(near.vertices), np.nan)
    apart = near.apart
    radii = near.distances[apart, :k]
    inverses[apart] = np.log(radii[:, -1:] / radii[:, :-1]).sum(axis=1) / (k - 1)
    return inverses

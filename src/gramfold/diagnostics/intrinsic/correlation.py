"""Correlation dimension: how fast the number of near pairs grows with the distance.

    C(r) = share of pairs of rows nearer than r,    d = log( C(r₂) / C(r₁) ) / log( r₂ / r₁ )

Grassberger, Procaccia, Physica D 9 (1983). r₁ and r₂ are the medians over the rows of the distances to the k/2-th and
the k-th neighbour, so that the scale is that of the other estimators. All pairs are counted, or those of some rows with
all.

Interval: log C(r₂) − log C(r₁) is, to first order, a mean over pairs of h = [d < r₂]/C₂ − [d < r₁]/C₁. As of any mean
over pairs, its variance has a part of the rows, ζ₁ = Var E[h | row], and a part of the pairs, ζ₂ = E h² = 1/C₁ − 1/C₂:

    Var = ζ₁ (1/m + 3/n) + ζ₂ (1/(m n) + 1/n²)        m of n rows compared with all n
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intrinsic.estimate import WIDER, Estimate, check_level, normal_interval
from gramfold.diagnostics.intrinsic.nearby import SAMPLE, Nearby
from gramfold.diagnostics.intrinsic.normal_reference import correlation_slope, dimension_that_reads
from gramfold.embedding.reading import check_count
from gramfold.errors import InputError
from gramfold.neighbors.index import Index, VectorIndex
from gramfold.neighbors.metrics import MetricName
from gramfold.neighbors.sparse_rows import numbers_per_row
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers

_WORK = 4e9  # numbers that are compared at most, some seconds: beyond, fewer rows are compared with all
_LEAST = 200  # rows that are, whatever it takes
_ENTRIES = 4_000_000  # of a block of distances
# a pair at the distance r itself is not nearer than r, however the distance was computed
_ROUNDING = 1e-9
_FEW = 0.3  # effective share of the rows that have near pairs, below which it is told (0.4 for normal rows)


@described
def correlation_dimension(
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
    """Estimate the correlation dimension (Grassberger and Procaccia).

    Dense regions count most: they have most of the near pairs.

    Where the table is large or has many columns, fewer rows than `sample` are compared with all others.

    Parameters
    ----------
    {rows}
    n_neighbors : int, default=20
        The scale: pairs are counted up to the median distances of the neighbour of half this number and of this number.
    {search}

    Returns
    -------
    estimate : Estimate
        `value`, `interval`, `corrected`.

    Examples
    --------
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import correlation_dimension
    >>> round(correlation_dimension(make_swiss_roll(2000, random_state=0).points).value)
    2
    """
    check_level(level)
    k = check_count(n_neighbors, "n_neighbors")
    if k < 2:
        raise InputError(f"n_neighbors={k}, but two radii are compared: use n_neighbors >= 2.")
    near = Nearby.of(
        X,
        k,
        metric=metric,
        metric_params=metric_params,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    radii = np.median(near.distances[:, [k // 2 - 1, k - 1]], axis=0)
    if not 0.0 < radii[0] < radii[1] * (1.0 - _ROUNDING):
        raise InputError(
            f"neighbours {k // 2} and {k} of a row are equally far ({radii[1]:.3g}, in the median), so the correlation "
            "dimension is not defined at this scale: use more neighbours."
        )
    rows = _compared(near)
    counts = _counts(near.index, rows, radii)  # (m, 2)
    m, n = len(rows), near.n_distinct
    shares = counts.sum(axis=0) / (float(m) * (n - 1))
    if shares[0] == 0.0:
        raise InputError(
            f"no two rows are nearer than {radii[0]:.3g}, the median distance of neighbour {k // 2}, so the "
            "correlation dimension is not defined at this scale: use more neighbours."
        )
    length = float(np.log(radii[1] / radii[0]))
    value = float(np.log(shares[1] / shares[0]) / length)
    interval = normal_interval(value, WIDER * _variance(counts, shares, n) / length**2, level)

    def corrected(reading: float) -> float:
        return dimension_that_reads(reading, lambda d: correlation_slope(d, shares[0], shares[1]))

    ends = corrected(interval[0]), corrected(interval[1])
    note = _note(counts[:, 1])
    return Estimate(value, interval, level, corrected=corrected(value), corrected_interval=ends, note=note)


def _note(counts: Floats) -> str | None:
    """Of near pairs that belong to few rows."""
    share = float(counts.sum() ** 2 / (len(counts) * (counts**2).sum()))
    if share > _FEW:
        return None
    return (
        f"near pairs are as uneven as if {share:.0%} of the rows had all of them, so that this is the dimension of the "
        "densest rows"
    )


def _compared(near: Nearby) -> Integers:
    """The vertices that are compared with all: those drawn, or as many of them as the work allows."""
    n, width = near.n_distinct, 1
    if isinstance(near.index, VectorIndex):
        width = max(1, numbers_per_row(near.index.points))
    most = max(_LEAST, int(_WORK / (float(n) * width)))
    if len(near.vertices) <= most:
        return near.vertices
    return np.sort(check_random_state(near.random_state).choice(near.vertices, most, replace=False))


def _counts(index: Index, vertices: Integers, radii: Floats) -> Floats:
    """How many others are nearer than each radius, of each of these vertices, (m, 2)."""
    limits = radii * (1.0 - _ROUNDING)
    counts = np.empty((len(vertices), len(radii)))
    for part in blocks(len(vertices), max(1, _ENTRIES // index.size)):
        distances = _from(index, vertices[part])
        distances[np.arange(len(distances)), vertices[part]] = np.inf
        for place, limit in enumerate(limits):
            counts[part, place] = np.count_nonzero(distances < limit, axis=1)
    return counts


def _from(index: Index, vertices: Integers) -> Floats:
    if isinstance(index, VectorIndex):
        return index.metric.block(index.points[vertices], index.points)
    return np.array([index.distances_from(int(vertex)) for vertex in vertices])


def _variance(counts: Floats, shares: Floats, n: int) -> float:
    """Of log C(r₂) − log C(r₁), as in the module."""
    m = len(counts)
    of_rows = counts[:, 1] / ((n - 1) * shares[1]) - counts[:, 0] / ((n - 1) * shares[0])
    of_pairs = 1.0 / shares[0] - 1.0 / shares[1]
    by_rows = max(0.0, float(of_rows.var(ddof=1)) - of_pairs / (n - 1)) if m > 1 else 0.0
    return float(by_rows * (1.0 / m + 3.0 / n) + of_pairs * (1.0 / (float(m) * n) + 1.0 / float(n) ** 2))

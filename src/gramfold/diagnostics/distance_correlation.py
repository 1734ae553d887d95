"""Spearman's correlation of distances in the data and on the map, over pairs of rows.

Where rows are drawn, the pairs are those of m rows with c others, and ρ = corr(F, G) with F and G the ranks among these
pairs. The influence of one pair on ρ is, up to a constant,

    h(d, y) = (F G + mean of G over pairs with distance ≥ d in the data + mean of F over pairs with distance ≥ y on the
               map) / √(var F var G)

Pairs that share a row are not independent: the variance is that of the means of h over rows, and over columns where not
all rows are columns.
"""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intervals import half_width, mean_variance
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.errors import InputError
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Integers

_COLUMNS = 3_000  # rows that the rows drawn are paired with


@described
def distance_correlation(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Spearman's rank correlation of the distances of all pairs of rows, in the data and on the map.

    1: the order of all distances is kept. 0: chance. -1: it is reversed. It sees the large shape more than neighbours,
    as most pairs are far apart. Distances that are equal share a mean rank. With more than 3,000 rows pairs are drawn,
    even where `sample` is all rows.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    Measure
        Of all pairs.
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    n, rows = judged.n, judged.rows
    columns = np.arange(n)
    if n > _COLUMNS:
        columns = np.sort(judged.generator(1).choice(n, _COLUMNS, replace=False))
    d, y = np.empty((len(rows), len(columns))), np.empty((len(rows), len(columns)))

    def work(part: slice) -> None:
        d[part] = judged.data.distances(rows[part])[:, columns]
        y[part] = judged.map.distances(rows[part])[:, columns]

    judged.over_rows(work)
    i, j = np.nonzero(rows[:, None] < columns if judged.exact and len(columns) == n else rows[:, None] != columns)
    in_data, on_map = d[i, j], y[i, j]
    f, g = (rankdata(values) / len(i) for values in (in_data, on_map))
    spread = float(f.std() * g.std())
    if spread == 0:
        raise InputError(
            "all distances in the data, or all on the map, are equal, so their ranks have no correlation: pass more or "
            "other rows."
        )
    value = float(np.mean((f - f.mean()) * (g - g.mean()))) / spread
    if judged.exact and len(columns) == n:
        return Measure(value)
    f, g = f - 0.5, g - 0.5
    influence = (f * g + _beyond(in_data, g) + _beyond(on_map, f)) / spread
    variance = mean_variance(_means(i, influence), n) + mean_variance(_means(j, influence), n)
    half = half_width(variance, min(len(rows), len(columns)) - 1)
    return Measure(value, (max(value - half, -1.0), min(value + half, 1.0)))


def _beyond(distances: Floats, values: Floats) -> Floats:
    """Share of all pairs at this distance or beyond, times the mean of their values; half of those at a tie."""
    order = np.argsort(distances)
    ascending = distances[order]
    sums = np.concatenate(([0.0], np.cumsum(values[order])))
    fresh = np.concatenate(([True], ascending[1:] != ascending[:-1]))
    start = np.flatnonzero(fresh)
    stop = np.append(start[1:], len(order))
    level = sums[-1] - 0.5 * (sums[start] + sums[stop])  # of each distance that occurs
    found = np.empty(len(order))
    found[order] = level[np.cumsum(fresh) - 1] / len(order)
    return found


def _means(groups: Integers, values: Floats) -> Floats:
    return np.bincount(groups, weights=values) / np.bincount(groups)

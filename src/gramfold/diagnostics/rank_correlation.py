"""Spearman's correlation of distances in the data and on the map, over pairs of rows.

Where rows are drawn, the pairs are those of m rows with c others, and ρ = corr(F, G) with F and G the ranks among these
pairs. The influence of one pair on ρ is, up to a constant,

    h(d, y) = (F G + mean of G over pairs with distance ≥ d in the data + mean of F over pairs with distance ≥ y on the
               map) / √(var F var G)

Pairs that share a row are not independent: the variance is that of the means of h over rows, and over columns where not
all rows are columns.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intervals import half_width, mean_variance
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.errors import UndefinedMeasureError
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
    every = judged.exact and n <= _COLUMNS
    columns = np.arange(n) if n <= _COLUMNS else np.sort(judged.generator(1).choice(n, _COLUMNS, replace=False))
    i, j, in_data, on_map = _pairs(judged, columns, every)
    data_order, map_order = _Order.of(in_data), _Order.of(on_map)
    f, g = data_order.ranks(), map_order.ranks()
    spread = float(f.std() * g.std())
    if spread == 0:
        raise UndefinedMeasureError(
            "all distances in the data, or all on the map, are equal, so their ranks have no correlation: pass more or "
            "other rows."
        )
    value = float(f @ g) / (len(f) * spread)
    if every:
        return Measure(value)
    influence = (f * g + data_order.beyond(g) + map_order.beyond(f)) / spread
    variance = mean_variance(_means(i, influence), n) + mean_variance(_means(j, influence), n)
    half = half_width(variance, min(len(rows), len(columns)) - 1)
    return Measure(value, (max(value - half, -1.0), min(value + half, 1.0)))


def _pairs(judged: Judged, columns: Integers, every: bool) -> tuple[Integers, Integers, Floats, Floats]:
    """Row and column of each pair, and its distance in the data and on the map; of all pairs each once."""

    def work(part: slice) -> tuple[Integers, Integers, Floats, Floats]:
        rows = judged.rows[part]
        i, j = np.nonzero(rows[:, None] < columns if every else rows[:, None] != columns)
        d, y = judged.data.distances(rows, columns), judged.map.distances(rows, columns)
        return part.start + i, j, d[i, j], y[i, j]

    i, j, in_data, on_map = (np.concatenate(some) for some in zip(*judged.over_rows(work), strict=True))
    return i, j, in_data, on_map


@dataclass(frozen=True, eq=False)
class _Order:
    """Of values, those that are equal in groups."""

    order: Integers  # (p,)
    starts: Integers  # (groups + 1,) where each group begins in this order

    @classmethod
    def of(cls, values: Floats) -> Self:
        order = np.argsort(values)
        ascending = values[order]
        fresh = np.flatnonzero(ascending[1:] != ascending[:-1]) + 1
        return cls(order, np.concatenate(([0], fresh, [len(values)])))

    def ranks(self) -> Floats:
        """The rank of each value, the mean one of equal values, between −½ and ½."""
        return self._of_groups(0.5 * (self.starts[1:] + self.starts[:-1]) / len(self.order) - 0.5)

    def beyond(self, others: Floats) -> Floats:
        """Sum of what others have at this value or beyond, half of it where values are equal, by the number of all."""
        sums = np.concatenate(([0.0], np.cumsum(others[self.order])))[self.starts]
        return self._of_groups((sums[-1] - 0.5 * (sums[1:] + sums[:-1])) / len(self.order))

    def _of_groups(self, values: Floats) -> Floats:
        found = np.empty(len(self.order))
        found[self.order] = np.repeat(values, np.diff(self.starts))
        return found


def _means(groups: Integers, values: Floats) -> Floats:
    return np.bincount(groups, weights=values) / np.bincount(groups)

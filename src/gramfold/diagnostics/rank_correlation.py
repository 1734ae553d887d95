"""Spearman's correlation of distances in the data and on the map, over pairs of rows.

Where rows are drawn, the pairs are those of m rows with c others, and ρ = corr(F, G) with F and G the ranks among these
pairs. The influence of one pair on ρ is, up to a constant,

    h(d, y) = (F G + mean of G over pairs with distance ≥ d in the data + mean of F over pairs with distance ≥ y on the
               map) / √(var F var G)

Pairs that share a row are not independent: the variance is that of the means of h over rows, and over columns where not
all rows are columns.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intervals import half_width, mean_variance
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.tables import Table
from gramfold.errors import UndefinedMeasureError
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Integers

_ALL = 3_000  # rows up to which the rows drawn are paired with all
_COLUMNS = 1_500  # rows that they are paired with among more: with twice as many, intervals are a tenth narrower


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
    return RankCorrelation.of(judged).measure


@dataclass(frozen=True, eq=False)
class RankCorrelation:
    """Spearman's correlation of distances, and how much each row and each column adds to it."""

    judged: Judged
    pairs: "_Pairs"
    on_map: "_Order"
    value: float
    spread: float  # √(var F var G)

    @classmethod
    def of(cls, judged: Judged) -> Self:
        """From the pairs of the rows drawn with some columns."""
        pairs = judged.once_of_data(_Pairs.of)
        order = _Order.of(pairs.values(judged, judged.map))
        f, g = pairs.ranks, order.ranks()
        spread = float(f.std() * g.std())
        if spread == 0:
            raise UndefinedMeasureError(
                "all distances in the data, or all on the map, are equal, so their ranks have no correlation: pass "
                "more or other rows."
            )
        return cls(judged, pairs, order, float(f @ g) / (len(f) * spread), spread)

    @cached_property
    def influences(self) -> tuple[Floats, Floats]:
        """Means of h over the pairs of each row (m,), and of each column (c,)."""
        f, g = self.pairs.ranks, self.on_map.ranks()
        return self.pairs.means((f * g + self.pairs.order.beyond(g) + self.on_map.beyond(f)) / self.spread)

    @property
    def measure(self) -> Measure:
        """With its interval where pairs were drawn."""
        if self.pairs.once:
            return Measure(self.value)
        rows, columns = self.influences
        variance = mean_variance(rows, self.judged.n) + mean_variance(columns, self.judged.n)
        half = half_width(variance, min(len(rows), len(columns)) - 1)
        return Measure(self.value, (max(self.value - half, -1.0), min(self.value + half, 1.0)))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of the rows drawn with some columns, in the order of their distances in the data."""

    shape: tuple[int, int]  # (m, c)
    columns: Integers  # (c,) ascending
    taken: Integers  # (p,) where they are in a table of this shape; a row has no pair with itself
    order: "_Order"  # in which they are already
    ranks: Floats  # (p,)
    once: bool  # whether they are all pairs, each once

    @classmethod
    def of(cls, judged: Judged) -> Self:
        n, rows = judged.n, judged.rows
        columns = np.arange(n) if n <= _ALL else np.sort(judged.generator(1).choice(n, _COLUMNS, replace=False))
        once = judged.exact and n <= _ALL
        taken = np.flatnonzero(rows[:, None] < columns if once else rows[:, None] != columns)
        order = _Order.of(_values(judged, judged.data, columns).ravel()[taken])
        ascending = _Order(None, order.starts)
        return cls((len(rows), len(columns)), columns, taken[order.order], ascending, ascending.ranks(), once)

    def values(self, judged: Judged, table: Table) -> Floats:
        """The distance of each pair, (p,)."""
        found: Floats = _values(judged, table, self.columns).ravel()[self.taken]
        return found

    def means(self, values: Floats) -> tuple[Floats, Floats]:
        """Of the pairs of each row, and of each column; both of all pairs of a row where each pair is there once."""
        sums, counts = np.zeros(self.shape), np.zeros(self.shape, dtype=bool)
        sums.ravel()[self.taken] = values
        counts.ravel()[self.taken] = True
        of_rows, of_columns = ((sums.sum(axis=axis), counts.sum(axis=axis)) for axis in (1, 0))
        if not self.once:
            return of_rows[0] / of_rows[1], of_columns[0] / of_columns[1]
        both = (of_rows[0] + of_columns[0]) / (of_rows[1] + of_columns[1])
        return both, both


def _values(judged: Judged, table: Table, columns: Integers) -> Floats:
    """Distances (m, c)."""
    return np.concatenate(judged.over_rows(lambda part: table.distances(judged.rows[part], columns)))


@dataclass(frozen=True, eq=False)
class _Order:
    """Of values, those that are equal in groups."""

    order: Integers | None  # (p,); None where they are ascending
    starts: Integers  # (groups + 1,) where each group begins in this order

    @classmethod
    def of(cls, values: Floats) -> Self:
        order = np.argsort(values)
        ascending = values[order]
        fresh = np.flatnonzero(ascending[1:] != ascending[:-1]) + 1
        return cls(order, np.concatenate(([0], fresh, [len(values)])))

    def ranks(self) -> Floats:
        """The rank of each value, the mean one of equal values, between −½ and ½."""
        return self._of_groups(0.5 * (self.starts[1:] + self.starts[:-1]) / self.starts[-1] - 0.5)

    def beyond(self, others: Floats) -> Floats:
        """Sum of what others have at this value or beyond, half of it where values are equal, by the number of all."""
        sums = np.concatenate(([0.0], np.cumsum(others if self.order is None else others[self.order])))[self.starts]
        return self._of_groups((sums[-1] - 0.5 * (sums[1:] + sums[:-1])) / self.starts[-1])

    def _of_groups(self, values: Floats) -> Floats:
        each = values if len(values) == self.starts[-1] else np.repeat(values, np.diff(self.starts))
        if self.order is None:
            return each
        found = np.empty(len(each))
        found[self.order] = each
        return found

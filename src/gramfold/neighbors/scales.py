"""Columns that are nearly all that distances see, because their unit is smaller than that of the others.

    loud columns    one with 90% of the variance, or a few (at most one in 15) with 99%, each of which has ten times the
                    spread of the typical other column
    spread          between the quantiles 5% and 95%, so that an outlier makes no column loud; the standard deviation
                    where most values are equal

Not named are columns that have one unit: bits, counts (whole, mostly 0), and scores of principal components, which come
sorted by their variance (fewer than eight of them: and uncorrelated). Nor are columns along which groups lie apart, and
which vary as others do within groups. Rows are looked at in a sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from gramfold.types import Floats, Integers

_FEWEST_COLUMNS, _FEWEST_ROWS = 2, 5
_ONE_HAS, _FEW_HAVE = 0.9, 0.99  # of the variance
_COLUMNS_TO_ONE, _MOST = 15, 3  # so many columns for each of a few that hold the variance
_LOUDER = 10.0  # than the typical other column: below, rows may just be longer than they are wide
_LOUDER_OF_TWO = 100.0  # the same of two columns, which have no typical other one
_ENDS = (0.05, 0.95)
_GAP = 0.1  # of the range of a column, without a value in between
_ROWS, _LEAST_ROWS, _VALUES = 1000, 30, 200_000  # that are looked at
_MOSTLY = 0.5
_ROUNDING = 1e-14
_UNCORRELATED = 1e-5  # all scores of all rows
_SORTED, _FALLING = 8, 0.9  # so many columns are not sorted by chance; scores of some rows are nearly sorted


@dataclass(frozen=True)
class LoudColumns:
    """The columns that hold nearly all of the variance."""

    columns: tuple[int, ...]
    share: float

    @classmethod
    def of(cls, X: Any) -> Self | None:
        """Of rows (n, d), in which NaN is a gap; None where there are none such, or nothing can be said."""
        if issparse(X) or X.dtype == object or X.shape[1] < _FEWEST_COLUMNS or X.shape[0] < _FEWEST_ROWS:
            return None
        variances = _variances(some := _some_rows(X))
        count = _fewest(variances)
        if count == 0:
            return None
        loud = np.argsort(-variances, kind="stable")[:count]
        if not _far_louder(some, variances, loud) or _one_unit(some, variances) or _apart(some, variances, loud):
            return None
        return cls(tuple(sorted(int(j) for j in loud)), float(variances[loud].sum() / variances.sum()))

    def words(self, names: Sequence[str] | None = None) -> str:
        """What was found, and what to change."""
        named = [str(j) if names is None else f"'{names[j]}'" for j in self.columns]
        who = f"column {named[0]} has" if len(named) == 1 else f"columns {', '.join(named[:-1])} and {named[-1]} have"
        return f"{who} {self.share:.1%} of the variance: standardise columns whose units differ"

    def sentence(self, names: Sequence[str] | None = None, by: str = "sklearn.preprocessing.StandardScaler") -> str:
        """The same as a warning; `by` is what standardises."""
        return f"{self.words(names)} ({by}), or the map shows little of the others."


def spreads(some: Floats) -> Floats:
    """(d,) between the quantiles 5% and 95%, or the standard deviation where that is 0."""
    low, high = np.nanquantile(some, _ENDS, axis=0)
    return np.asarray(np.where(high > low, high - low, np.nanstd(some, axis=0)))


def _some_rows(X: Any) -> Floats:
    """Rows at even steps, in a unit in which no square overflows."""
    n, d = X.shape
    most = int(np.clip(_VALUES // d, _LEAST_ROWS, _ROWS))
    some = X if n <= most else X[np.linspace(0, n - 1, most).astype(np.intp)]
    largest = float(max(np.fmax.reduce(some, axis=None), -np.fmin.reduce(some, axis=None)))
    if not largest > 0 or not np.isfinite(largest):
        return np.zeros((1, d))
    with np.errstate(invalid="ignore"):  # by R's missing value, a NaN that signals
        return np.asarray(np.asarray(some, dtype=np.float64) / largest)


def _variances(some: Floats) -> Floats:
    found = some.var(axis=0)
    if np.isnan(found).any():
        known = ~np.isnan(some)
        count = np.maximum(known.sum(axis=0), 1)
        zeros = np.where(known, some, 0.0)
        away = np.where(known, zeros - zeros.sum(axis=0) / count, 0.0)
        found = (away**2).sum(axis=0) / count
    rounding = _ROUNDING * np.fmax.reduce(np.abs(some), axis=0)  # of a column that is constant
    return np.where(found > rounding**2, found, 0.0)


def _fewest(variances: Floats) -> int:
    """How many columns hold nearly all of the variance; 0 where they are not few."""
    varying, total = int((variances > 0).sum()), float(variances.sum())
    if varying < _FEWEST_COLUMNS:
        return 0
    if variances.max() >= _ONE_HAS * total:
        return 1
    most = min(varying // _COLUMNS_TO_ONE, _MOST)
    if most < 2:
        return 0
    held = np.cumsum(np.sort(variances)[::-1][:most])
    return int(np.argmax(held >= _FEW_HAVE * total)) + 1 if held[-1] >= _FEW_HAVE * total else 0


def _far_louder(some: Floats, variances: Floats, loud: Integers) -> bool:
    found = spreads(some[:, variances > 0])
    is_loud = np.isin(np.flatnonzero(variances > 0), loud)
    least = _LOUDER_OF_TWO if len(found) == 2 else _LOUDER
    return bool(found[is_loud].min() >= least * np.median(found[~is_loud]))


def _apart(some: Floats, variances: Floats, loud: Integers) -> bool:
    """Whether loud columns are so because groups lie apart along them: within groups they vary as others do."""
    inner = np.sqrt(variances)
    for j in loud:
        column = some[:, j]
        order = np.argsort(column)
        steps = np.diff(column[order])
        cuts = np.flatnonzero(steps > _GAP * np.ptp(column[~np.isnan(column)]))
        within = [np.nanvar(part) * len(part) for part in np.split(column[order], cuts + 1)]
        inner[j] = np.sqrt(sum(within) / len(column))
    others = np.delete(inner, loud)
    return bool(inner[loud].min() > 0 and inner[loud].max() < _LOUDER * np.median(others[others > 0]))


def counts(some: Floats) -> bool:
    """Whether values are multiples of the least one, mostly 0, in columns that are no bits: words, genes, clicks."""
    known = some[~np.isnan(some)]
    if not len(known) or known.min() != 0.0 or (known == 0.0).mean() <= _MOSTLY or not known.any():
        return False
    least = known[known > 0].min()
    multiples = known / least
    whole = np.allclose(multiples, np.round(multiples), rtol=1e-9, atol=0.0)
    return bool(whole and (np.fmax.reduce(some, axis=0) > least).mean() > _MOSTLY)


def _one_unit(some: Floats, variances: Floats) -> bool:
    """Whether the columns are bits, counts or scores of principal components."""
    known = some[~np.isnan(some)]
    bits = bool(((known == known.min()) | (known == known.max())).all())
    return bits or counts(some) or _scores(some, variances)


def _scores(some: Floats, variances: Floats) -> bool:
    varying = variances[variances > 0]
    falling = float((np.diff(varying) <= 0).mean())
    if len(varying) >= _SORTED or falling < 1.0 or np.isnan(some).any():
        return len(varying) >= _SORTED and falling >= _FALLING
    related = np.atleast_2d(np.corrcoef(some[:, variances > 0], rowvar=False))
    return bool(np.abs(related - np.eye(len(related))).max() < _UNCORRELATED)

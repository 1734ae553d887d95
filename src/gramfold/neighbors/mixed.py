"""Tables of numbers, categories and gaps, encoded by what the training table holds.

    number      (x − smallest) / range of the training column; 0 in a column that is constant there
    category    the number of its value in the training column; below 0 for a value that is not in it
    gap         NaN

So a column contributes min(|a − b|, 1) to Gower's distance, whatever it holds: numbers of categories are integers.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gramfold.errors import InputError, NotNumbersError
from gramfold.neighbors.columns import MISSING, as_table, kind_of, quiet, require_table, types_of, values_of
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import CATEGORIES, Floats, Integers, Plain

_FARTHEST = 1e15  # ranges of the training column: a new number beyond is as far from all training rows
_PAIRS_PER_BLOCK = 4_000_000
_LARGEST = sys.float_info.max  # compared with whole numbers exactly, as NumPy's would not be
_REFUSED = {
    "dates or times": "dates as days since the first",
    "durations": "durations as seconds",
    "complex values": "complex values as real and imaginary parts",
    "intervals": "intervals as text",
}

Category = str | float | bool
_DIGITS = 14  # after the first one, which decoded numbers have


@dataclass(frozen=True, eq=False)
class MixedTable:
    """A user's table, column by column."""

    columns: list[NDArray[Any]]  # float64 with NaN at gaps; object for categories, with None at gaps
    names: list[str]  # as they are shown

    @classmethod
    def of(cls, X: Any, categorical: Any, least_rows: int, reader: str = "metric='gower'") -> Self:
        """Read a table; columns of text, categories or booleans, and those in `categorical`, hold categories.

        Errors say that the `reader` cannot read it.
        """
        X = _as_mixed(X)
        require_table(X, least_rows)
        if issparse(X) or hasattr(X, "sparse"):
            raise InputError(f"{reader} reads dense tables, but X is sparse: pass a dense table.")
        if not isinstance(X, np.ndarray) and not types_of(X):
            X = np.asarray(X)
        given, shown = _names(X)
        forced = _positions(categorical, given, X.shape[1])
        return cls([_column(X, j, name, j in forced, reader) for j, name in enumerate(shown)], shown)

    @property
    def numbers(self) -> Floats:
        """(n, d) the numbers, 0 in place of categories."""
        return np.column_stack([c if c.dtype == np.float64 else np.zeros(len(c)) for c in self.columns])


@dataclass(frozen=True, eq=False)
class MixedColumns(Plain):
    """What the columns of the training table hold, by which new rows are encoded."""

    categories: tuple[tuple[Category, ...] | None, ...] = field(metadata=CATEGORIES)  # of each column; None for numbers
    smallest: Floats  # (d,) halved; NaN for categories and for columns of gaps
    spread: Floats  # (d,) halved; 0 for columns that are constant
    patterns: NDArray[np.bool_]  # (p, d) which columns rows know, each combination once
    owners: Integers  # (p,) the first training row of each

    @classmethod
    def of(cls, table: MixedTable) -> Self:
        """Of the training table."""
        categories = tuple(None if c.dtype == np.float64 else _distinct(c) for c in table.columns)
        # halved, so that no difference overflows
        ends = np.array([_ends(c) if c.dtype == np.float64 else (np.nan, np.nan) for c in table.columns])
        patterns, owners = _patterns(table)
        found = cls(categories, ends[:, 0], ends[:, 1] - ends[:, 0], patterns, owners)
        found._require_shared(patterns, owners, new=False)
        return found

    def encode(self, table: MixedTable) -> Floats:
        """The table in numbers, (n, d)."""
        rows = np.empty((len(table.columns[0]), len(table.columns)))
        for j, (column, known, name) in enumerate(zip(table.columns, self.categories, table.names, strict=True)):
            if known is not None:
                rows[:, j] = _numbered(_as_categories(column), known)
            elif np.isnan(self.smallest[j]):  # a column of gaps
                rows[:, j] = np.nan
            elif column.dtype != np.float64:
                raise NotNumbersError(
                    f"column {name} holds {_example(column)}, but it held numbers in the training rows: correct it, or "
                    "fit with this column in metric_params={'categorical': [...]}."
                )
            else:
                shifted = 0.5 * column - self.smallest[j]
                with np.errstate(over="ignore"):
                    scaled = shifted / self.spread[j] if self.spread[j] > 0 else 0.0 * shifted
                rows[:, j] = np.clip(scaled, -_FARTHEST, _FARTHEST)
        return rows

    def decode(self, rows: Floats) -> NDArray[Any]:
        """The values that encoded training rows stand for, as objects; of numbers the last digit may be rounded."""
        found = np.empty(rows.shape, dtype=object)
        for j, known in enumerate(self.categories):
            gaps = np.isnan(rows[:, j])
            if known is None:
                with np.errstate(invalid="ignore", over="ignore"):
                    numbers = _rounded(2 * (rows[:, j] * self.spread[j] + self.smallest[j]))
                found[:, j] = [None if gap else value for value, gap in zip(numbers.tolist(), gaps, strict=True)]
            else:
                codes = np.where(gaps, 0, rows[:, j]).astype(np.intp)
                found[:, j] = [None if gap else known[code] for code, gap in zip(codes, gaps, strict=True)]
        return found

    def require_shared(self, table: MixedTable) -> None:
        """Refuse new rows that share no known column with some training row."""
        self._require_shared(*_patterns(table), new=True)

    def _require_shared(self, patterns: NDArray[np.bool_], rows: Integers, *, new: bool) -> None:
        counts, own = patterns.sum(axis=1), self.patterns.sum(axis=1)
        if (counts == 0).any():
            row = int(rows[counts == 0].min())
            raise InputError(f"row {row} of X has no known value: leave it out, or fill in some of its values.")
        able = np.flatnonzero(counts <= patterns.shape[1] - own.min())  # the others know too many columns
        known = self.patterns.astype(np.float32)
        for part in beats(blocks(len(able), max(1, _PAIRS_PER_BLOCK // len(known)))):
            apart = np.argwhere(patterns[able[part]].astype(np.float32) @ known.T == 0)
            if apart.size:
                a, b = int(rows[able[part][apart[0, 0]]]), int(self.owners[apart[0, 1]])
                who = f"new row {a} and training row {b}" if new else f"rows {min(a, b)} and {max(a, b)}"
                raise InputError(
                    f"{who} share no known column, so their Gower distance is not defined: fill in some of their "
                    "values, or leave one of them out."
                )


def _as_mixed(X: Any) -> Any:
    """Lists as arrays of objects: an array of text would hold their numbers as text too."""
    if not isinstance(X, list | tuple):
        return as_table(X)
    widths = {len(row) for row in X if isinstance(row, list | tuple | np.ndarray)}
    if len(widths) != 1 or not all(isinstance(row, list | tuple | np.ndarray) for row in X):
        return as_table(X)  # which reports rows that differ in length
    table = np.empty((len(X), widths.pop()), dtype=object)
    for i, row in enumerate(X):
        for j, value in enumerate(row):
            table[i, j] = value
    return table


def _names(X: Any) -> tuple[list[Any], list[str]]:
    """Names of the columns, and how they are shown."""
    if isinstance(X, np.ndarray):
        return list(range(X.shape[1])), [str(j) for j in range(X.shape[1])]
    names = [name for name, _ in types_of(X)]
    return names, [f"'{name}'" if isinstance(name, str) else str(name) for name in names]


def _positions(categorical: Any, names: Sequence[Any], width: int) -> set[int]:
    """Positions of the columns in `categorical`, which holds positions or names."""
    if categorical is None:
        return set()
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        raise InputError(
            f"metric_params={{'categorical': {categorical!r}}} is not a list: pass the positions or names of columns."
        )
    found = set()
    for one in categorical:
        if isinstance(one, str) and one in names:
            found.add(names.index(one))
        elif isinstance(one, int | np.integer) and -width <= one < width and one is not True and one is not False:
            found.add(int(one) % width)
        else:
            raise InputError(
                f"metric_params has {one!r} in 'categorical', but X has no such column: pass positions below {width}"
                + (", or names of columns." if any(isinstance(name, str) for name in names) else ".")
            )
    return found


def _column(X: Any, j: int, name: str, categorical: bool, reader: str) -> NDArray[Any]:
    if isinstance(X, np.ndarray):
        return _array_column(X[:, j], name, categorical, reader)
    kind = kind_of(types_of(X)[j][1])
    values = values_of(X, j)
    if kind == "numbers" and not categorical and "bool" not in str(types_of(X)[j][1]).lower():
        return _numbers(values)
    if kind in {None, "categories", "numbers"}:
        return _of_values(list(values), name, categorical or kind is not None, reader)
    raise _refusal(name, kind, reader)


def _array_column(values: NDArray[Any], name: str, categorical: bool, reader: str) -> NDArray[Any]:
    kind = values.dtype.kind
    if kind in "iuf" and not categorical:
        return quiet(values.astype(np.float64))
    if kind in "Mmc":
        raise _refusal(name, {"M": "dates or times", "m": "durations", "c": "complex values"}[kind], reader)
    if kind in "US" and not categorical and all(map(_is_numeral, values)):
        raise NotNumbersError(
            f"X is an array of text, and column {name} of it holds numbers as text ('{values[0]}'): pass a DataFrame "
            "or an array of dtype object, or list the column in metric_params={'categorical': [...]}."
        )
    return _of_values(values.tolist(), name, categorical or kind in "bUS", reader)


def _of_values(values: list[Any], name: str, categorical: bool, reader: str) -> NDArray[Any]:
    """A column of Python values: numbers if all of them are, unless they are meant as categories."""
    known = [value for value in values if not _missing(value)]
    plain = [value.item() if isinstance(value, np.generic) else value for value in known]
    for value in plain:
        if not isinstance(value, str | bytes | Real) and not _is_decimal(value):
            raise _refusal(name, _kind_of_value(value), reader)
        if isinstance(value, Integral) and abs(int(value)) > _LARGEST:  # Python's have no largest
            raise NotNumbersError(
                f"column {name} holds numbers beyond 1.8e308, the largest float64: leave the column out, or take "
                "logarithms."
            )
    numbers = all(not isinstance(value, str | bytes | bool) for value in plain)
    if numbers and not categorical:
        return _numbers(values)
    found = np.full(len(values), None, dtype=object)
    there = iter(plain)
    for i, value in enumerate(values):
        if not _missing(value):
            found[i] = _category(next(there))
    return found


def _numbers(values: Any) -> Floats:
    try:
        return quiet(np.array(values, dtype=np.float64))  # None becomes NaN
    except (TypeError, ValueError):  # pandas.NA does not
        return np.array([np.nan if _missing(value) else float(value) for value in values], dtype=np.float64)


def _category(value: Any) -> Category:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, str | bool) else float(value)


def _as_categories(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype != np.float64:
        return column
    found = column.astype(object)
    found[np.isnan(column)] = None
    return found


def _missing(value: Any) -> bool:
    return type(value).__name__ in MISSING or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _is_numeral(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _is_decimal(value: Any) -> bool:
    return type(value).__name__ == "Decimal"


def _kind_of_value(value: Any) -> str:
    from datetime import date, time, timedelta

    if isinstance(value, date | time):
        return "dates or times"
    if isinstance(value, timedelta):
        return "durations"
    return "complex values" if isinstance(value, complex) else f"objects ({type(value).__name__})"


def _refusal(name: str, kind: str | None, reader: str) -> NotNumbersError:
    change = f", or convert it: {_REFUSED[kind]}" if kind in _REFUSED else ""
    return NotNumbersError(
        f"column {name} holds {kind}, but {reader} reads numbers, text, categories and booleans: leave the "
        f"column out{change}."
    )


def _example(column: NDArray[Any]) -> str:
    return repr(next(value for value in column if value is not None and not isinstance(value, float)))


def _distinct(column: NDArray[Any]) -> tuple[Category, ...]:
    """The values of a column of categories, in the order of their first rows: no two types need an order."""
    return tuple(dict.fromkeys(value for value in column if value is not None))


def _numbered(column: NDArray[Any], known: tuple[Category, ...]) -> Floats:
    """The number of each value: −1, −2, … for those that are not known."""
    number: dict[Category, int] = {value: i for i, value in enumerate(known)}
    unseen: dict[Category, int] = {}
    found = np.full(len(column), np.nan)
    for i, value in enumerate(column):
        if value is not None:
            place = number.get(value)
            found[i] = unseen.setdefault(value, -1 - len(unseen)) if place is None else place
    return found


def _rounded(column: Floats) -> Floats:
    """Without what encoding and decoding added: no more digits than the largest number has."""
    largest = float(np.nanmax(np.abs(column), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(np.float64).tiny:
        return column
    places = _DIGITS - int(np.floor(np.log10(largest)))
    return np.array([round(value, places) for value in column.tolist()])


def _ends(column: Floats) -> tuple[float, float]:
    known = 0.5 * column[~np.isnan(column)]
    return (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)


def _patterns(table: MixedTable) -> tuple[NDArray[np.bool_], Integers]:
    """Which columns rows know, each combination once, and the first row of each."""
    known = np.column_stack([~np.isnan(c) if c.dtype == np.float64 else c != None for c in table.columns])  # noqa: E711
    packed = np.packbits(known, axis=1)
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first = np.unique(keys, return_index=True)
    return known[first], first

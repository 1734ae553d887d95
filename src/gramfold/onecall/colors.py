"""What colours a map: a column of its table, which is then no part of the map, or a value of each row.

A Series that has the name and the values of a column is that column.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gramfold.advice.columns import read_column
from gramfold.advice.looks import is_distances
from gramfold.errors import InputError, NotNumbersError
from gramfold.neighbors.columns import counts_rows, types_of, values_of
from gramfold.onecall.frames import index_of, keys_of

_NAMED = 12  # columns in one sentence
_UNNAMED = "color"
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, eq=False)
class Color:
    """A value of each row, in their order."""

    name: str
    values: Any  # (n,) a column of pandas or polars, or an array
    key: Any = None  # of the column of the table that it is; None for values from elsewhere

    @classmethod
    def of(cls, color: Any, table: Any) -> Self:
        """Of the name of a column (of an array: its position), or of a value of each row of the table."""
        if isinstance(color, str | int | np.integer) or (isinstance(color, tuple) and color in keys_of(table)):
            return cls._column(color, table)
        n = int(table.shape[0])
        name = getattr(color, "name", None)
        values = _aligned(color, index_of(table)) if hasattr(color, "iloc") else color
        values = values if hasattr(values, "dtype") else np.asarray(values)
        if values.shape != (n,):
            raise InputError(
                f"color has shape {tuple(values.shape)} for {n} rows: pass the name of a column, or one value per row."
            )
        found = cls(_UNNAMED if name is None else str(name), values)
        if name is not None and name in keys_of(table) and not is_distances(table):
            column = cls._column(name, table)
            return column if _same(values, column.values) else found
        return found

    @classmethod
    def _column(cls, color: Any, table: Any) -> Self:
        keys = keys_of(table)
        if color not in keys:
            shown = ", ".join(repr(key) for key in keys[:_NAMED]) + (" and more" if len(keys) > _NAMED else "")
            raise InputError(
                f"color={color!r} is no column of the table ({shown}): name one of these, or pass one value per row."
            )
        if is_distances(table):
            raise InputError(f"color={color!r} names a column of a matrix of distances: pass one value per row.")
        j = keys.index(color)
        if isinstance(table, np.ndarray):
            values: Any = table[:, j]
        elif hasattr(table, "toarray"):
            values = table.tocsc()[:, [j]].toarray()[:, 0]
        else:
            values = values_of(table, j)
            values = values if hasattr(values, "dtype") else np.array(values)  # of Arrow, a list
        return cls(str(color), values, color)

    @property
    def shades(self) -> tuple[NDArray[Any], str]:
        """As a plot takes them, and what they are called there: numbers, categories, or days for dates."""
        values, column = self.values, hasattr(self.values, "to_frame")  # of pandas or polars
        table = values.to_frame() if column else values[:, None]
        kinds = types_of(table)
        if _have_days(values):
            days = np.asarray(values, dtype="datetime64[ns]")
            known = days[~np.isnat(days)]
            first = known.min() if len(known) else np.datetime64("1970-01-01")
            return (days - first) / _DAY, f"{self.name}, days since {first.astype('datetime64[D]')}"
        if not column and values.dtype.kind in "biuf":
            return values, self.name
        try:
            numbers = read_column(table, 0)
        except NotNumbersError:  # objects, durations, …
            return np.array([str(value) for value in values], dtype=object), self.name
        return _whole(numbers, kinds), self.name


def _same(first: Any, second: Any) -> bool:
    """Whether columns of one library have the same values, gaps included."""
    first, second = getattr(first, "array", first), getattr(second, "array", second)  # without their indexes
    return type(first) is type(second) and hasattr(first, "equals") and bool(first.equals(second))


def _have_days(column: Any) -> bool:
    """Whether values are dates, and not times of a day, durations or periods."""
    return str(column.dtype).lower().startswith(("date", "timestamp"))


def _whole(numbers: NDArray[Any], kinds: list[tuple[Any, Any]]) -> NDArray[Any]:
    """Whole numbers as integers, of which few are categories; booleans as such."""
    if numbers.dtype != np.float64 or np.isnan(numbers).any() or not kinds:
        return numbers
    written = str(kinds[0][1]).lower()
    if written.startswith("bool"):
        return numbers.astype(bool)
    return numbers.astype(np.int64) if written.startswith(("int", "uint")) else numbers


def _aligned(color: Any, index: Any) -> Any:
    """A Series of pandas in the order of the rows: by its index where that names them, else by position."""
    theirs = color.index
    if index is None or theirs.equals(index):
        return color
    by_name = theirs.is_unique and theirs.nlevels == index.nlevels and bool(index.isin(theirs).any())
    if by_name:
        return color.reindex(index)  # rows that it does not name have no colour
    if len(theirs) == len(index) and (counts_rows(theirs) or counts_rows(index)):
        return color
    why = "names a row twice" if not theirs.is_unique else "has no name of a row of the table"
    raise InputError(
        f"the index of color {why}, so that it is not known which value is whose: give both the same index, or pass "
        "color.to_numpy() in the order of the rows."
    )

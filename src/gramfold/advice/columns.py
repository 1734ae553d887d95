"""What each column of a table holds, by a sample of the rows, and whether a map should see it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gramfold.advice.asked import Asked
from gramfold.advice.dates import numbers_are_clock, numbers_are_dates
from gramfold.advice.doubts import doubts_of_numbers, doubts_of_texts
from gramfold.advice.ids import names_rows
from gramfold.advice.names import says_key
from gramfold.advice.texts import texts_name
from gramfold.errors import InputError, NotNumbersError
from gramfold.neighbors.columns import (
    MISSING,
    as_dense_or_sparse,
    as_table,
    kind_of,
    quiet,
    require_table,
    types_of,
    values_of,
)
from gramfold.neighbors.mixed import MixedTable
from gramfold.types import Floats, Integers

_SAMPLE = 5_000  # rows that are looked at; a column that may name rows is looked at whole
_MOST_GAPS = 0.5  # of a column's values
_DIFFERENT = 0.9  # distinct values per row of numbers that may name rows
_ROUNDING, _UNITS = 1e-10, 4  # of the largest value; in units of the last place of float32

Kind = Literal["numbers", "categories"]


@dataclass(frozen=True, eq=False)
class Column:
    """One column, as a sample shows it."""

    key: Any  # by which the table gives it: its name or its position
    position: int
    shown: str  # in a sentence
    kind: Kind
    values: NDArray[Any]  # float64 with NaN at gaps, or objects with None
    gaps: float = 0.0  # share
    why_not: str | None = None  # why a map should not see it
    doubts: tuple[str, ...] = ()  # what a user should look at
    guessed: bool = False  # whether it is left out by what its numbers look like, which may be chance

    @property
    def numbers(self) -> bool:
        """Whether its values are numbers."""
        return self.kind == "numbers"


@dataclass(frozen=True, eq=False)
class Seen:
    """A user's table, and a sample of its rows."""

    X: Any  # as `as_table` gives it
    n: int
    width: int
    sample: Integers  # rows, in order
    columns: tuple[Column, ...]  # none of a sparse matrix
    plain: bool  # whether estimators read X as it is: numbers without gaps
    typed: bool  # whether Gower's distance reads X as it is

    @classmethod
    def of(
        cls,
        X: Any,
        random_state: int = 0,
        names: Sequence[str] | None = None,
        asked: Asked | None = None,
    ) -> Self:
        """Look at each column but those set aside; `names` are those of a table that has none itself."""
        table = as_mixed(X)
        require_table(table, least_rows=2)
        n, width = (int(size) for size in table.shape)
        rng = np.random.default_rng(random_state)
        sample = np.arange(n) if n <= _SAMPLE else np.sort(rng.choice(n, _SAMPLE, replace=False))
        if issparse(table):
            return cls(table.tocsr(), n, width, sample, (), plain=True, typed=False)
        few = rows_of(table, sample)
        keys = list(names or [name for name, _ in types_of(table)] or range(width))
        columns = tuple(_looked_at(table, few, j, keys[j], asked or Asked()) for j in range(width))
        typed = hasattr(X, "iloc") or (isinstance(X, np.ndarray) and X.dtype == object)
        return cls(table, n, width, sample, columns, _is_plain(X, columns), typed)

    @property
    def kept(self) -> tuple[Column, ...]:
        """Those that a map should see."""
        return tuple(one for one in self.columns if one.why_not is None)

    @property
    def left_out(self) -> tuple[Column, ...]:
        """The others."""
        return tuple(one for one in self.columns if one.why_not is not None)

    def without(self, which: Callable[[Column], bool], why: Callable[[Column], str]) -> Self:
        """The same table, with such columns left out."""
        now = [one.why_not is None and which(one) for one in self.columns]
        columns = (replace(one, why_not=why(one)) if gone else one for one, gone in zip(self.columns, now, strict=True))
        return replace(self, columns=tuple(columns))

    def numbers(self) -> Floats:
        """(m, d) the sample of the kept columns of numbers, with NaN at gaps."""
        return np.column_stack([one.values for one in self.kept if one.numbers])


def rows_of(X: Any, rows: Integers) -> Any:
    """Some rows of a table of any kind."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and hasattr(X, "column_names"):  # Arrow
        return X.take(rows)
    return X[rows.tolist()] if hasattr(X, "columns") else X[rows]  # the latter a table of polars


def as_mixed(X: Any) -> Any:
    """Lists as arrays, of objects where they hold text: an array of text would hold their numbers as text too."""
    if isinstance(X, list | tuple):
        array = as_table(X)
        return np.array(X, dtype=object) if array.dtype.kind in "US" else array
    return as_dense_or_sparse(as_table(X))


def _is_plain(X: Any, columns: Sequence[Column]) -> bool:
    whole = all(one.numbers and one.gaps == 0.0 for one in columns)
    numeric = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    typed = hasattr(X, "iloc") and all(
        kind_of(dtype) == "numbers" and not hasattr(dtype, "fill_value") for _, dtype in types_of(X)
    )  # a sparse column beside others is one that scikit-learn warns of
    return whole and (numeric or typed)


def column_of(X: Any, j: int) -> Any:
    """A table of one column, number j."""
    if isinstance(X, np.ndarray):
        column = X[:, [j]]
        if column.dtype.kind in "US":  # an array of text, in which numbers are text too
            return _numbers_of_text(column)
        return column
    if hasattr(X, "iloc"):
        return X.iloc[:, [j]]
    return X.select([X.columns[j] if hasattr(X, "to_series") else X.schema.names[j]])


def _numbers_of_text(column: NDArray[Any]) -> NDArray[Any]:
    try:
        return column.astype(np.float64)
    except ValueError:
        return column.astype(object)


def read_column(X: Any, j: int) -> NDArray[Any]:
    """Column number j as numbers with NaN at gaps, or as objects with None; dates and the like raise."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return X[:, j].astype(np.float64)
    dtype = _type_of(X, j)
    if hasattr(X, "to_batches") and kind_of(dtype) == "numbers":  # Arrow, whose values need no Python objects
        return quiet(np.asarray(X.column(j).cast("double", safe=False).to_numpy()))
    if "bool" in str(dtype).lower():
        known = ((type(value).__name__ not in MISSING, value) for value in values_of(X, j))
        return np.array([float(value) if there else np.nan for there, value in known])
    return MixedTable.of(column_of(X, j), None, least_rows=1).columns[0]


def _type_of(X: Any, j: int) -> Any:
    """Type of one column, without a look at the others; None for an array, which has one for all."""
    if isinstance(X, np.ndarray):
        return None
    if hasattr(X, "iloc"):
        return X.iloc[:, j].dtype
    return X.to_series(j).dtype if hasattr(X, "to_series") else X.column(j).type


def read_columns(X: Any, which: Sequence[int]) -> NDArray[Any]:
    """Some columns: float64 where all hold numbers, else objects."""
    columns = [read_column(X, j) for j in which]
    if all(one.dtype == np.float64 for one in columns):
        return np.column_stack(columns)
    return np.column_stack([one.astype(object) for one in columns])


def _looked_at(X: Any, few: Any, j: int, key: Any, asked: Asked) -> Column:
    shown = f"'{key}'" if isinstance(key, str) else str(key)
    if key in asked.aside:
        return Column(key, j, shown, "numbers", np.full(few.shape[0], np.nan), why_not=asked.aside[key])
    found = _described(X, few, j, key, shown)
    if key not in asked.insisted or found.why_not is None:
        return found
    if np.isnan(found.gaps):
        raise InputError(f"column {shown} was asked for, but {found.why_not}: leave it out.")
    return replace(found, why_not=None, doubts=(f"it stays, since it was asked for, but {found.why_not}",))


def _described(X: Any, few: Any, j: int, key: Any, shown: str) -> Column:
    try:
        values = read_column(few, j)
    except NotNumbersError as error:
        nothing = np.full(few.shape[0], np.nan)
        return Column(key, j, shown, "numbers", nothing, np.nan, why_not=_no_numbers(str(error)))
    numbers = values.dtype == np.float64
    if numbers and np.isinf(values).any():
        raise InputError(f"column {shown} holds infinity: correct it, or make it a gap (NaN).")
    known = ~np.isnan(values) if numbers else np.array([value is not None for value in values])
    found = Column(key, j, shown, "numbers" if numbers else "categories", values, 1.0 - float(known.mean()))
    there = values[known]
    if not len(there):
        return replace(found, gaps=np.nan, why_not="it has no values")
    if found.gaps > _MOST_GAPS:
        return replace(found, why_not=f"{found.gaps:.0%} of its values are missing")
    if found.gaps == 0.0 and len(values) < X.shape[0]:  # few gaps may be in none of the rows looked at
        found = replace(found, gaps=1.0 - len(_known(read_column(X, j))) / X.shape[0])
    if (there == there[0]).all() and _constant(X, j):
        return replace(found, why_not="it has one value in all rows")
    if numbers and _rounding(there) and _rounding(_known(read_column(X, j))):
        return replace(found, why_not=f"it is {there[0]:.6g} in all rows, up to rounding")
    reason = _numbers_name(X, j, there, key) if numbers else texts_name(there, key)
    doubts = doubts_of_numbers(there, key) if numbers else doubts_of_texts(there)
    return replace(found, why_not=reason, doubts=doubts, guessed=numbers and reason is not None)


def _no_numbers(sentence: str) -> str:
    """The middle of a refusal of `neighbors/mixed.py`: what the column holds."""
    what = sentence.split(" holds ", 1)[-1].split(",", 1)[0]
    more = " (days since the first would be a number)" if "dates" in what else ""
    return f"it holds {what}, of which no distance is known{more}"


def _known(values: NDArray[Any]) -> NDArray[Any]:
    there = ~np.isnan(values) if values.dtype == np.float64 else values != None  # noqa: E711
    return np.asarray(values[there])


def _constant(X: Any, j: int) -> bool:
    """Whether the whole column is, of which a sample is."""
    known = _known(read_column(X, j))
    return bool((known == known[0]).all())


def _rounding(there: Floats) -> bool:
    """Whether numbers differ by no more than rounding makes them differ; whole ones are exact."""
    largest, spread = float(np.abs(there).max()), float(np.ptp(there))
    if np.array_equal(there, np.floor(there)):
        return False
    if spread <= _ROUNDING * largest:
        return True
    with np.errstate(over="ignore", under="ignore"):
        single = there.astype(np.float32)
    return np.array_equal(single, there) and spread <= _UNITS * float(np.spacing(np.float32(largest)))


def _numbers_name(X: Any, j: int, there: Floats, key: Any) -> str | None:
    """Why a column of numbers names rows or holds dates, by all rows if the sample may."""
    whole = np.array_equal(there, np.floor(there))
    different = len(np.unique(there)) >= _DIFFERENT * len(there)
    if (
        not (whole and (different or says_key(key)))
        and not numbers_are_dates(there)
        and not numbers_are_clock(there, key)
    ):
        return None
    values = read_column(X, j)
    known = _known(values)
    return numbers_are_dates(known) or names_rows(known, key, len(values) - len(known)) or numbers_are_clock(known, key)

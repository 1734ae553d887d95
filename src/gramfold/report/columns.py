"""The columns of any table, as the page holds them: numbers, categories, dates, or texts.

A table is a DataFrame of pandas or polars, an Arrow table, a dict of columns, an array or a sparse matrix. Whatever a
column holds, the page has it: what is neither number nor date nor text is written as text. Integers that float64 does
not hold are texts too, so that none is changed.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gramfold.errors import InputError
from gramfold.neighbors.columns import MISSING, as_table
from gramfold.report.blocks import Blocks
from gramfold.types import Floats, Integers

Kind = Literal["number", "category", "date", "text"]

MOST_KINDS = 20  # distinct integers up to which a colour is a category, as in gramfold.plotting
_WHOLE = 2**53  # integers up to which float64 holds them
_ALWAYS = 50  # different texts up to which they are categories, however few rows there are
_SHARE = 0.5  # of the rows, likewise: with more, texts are names
_LONGEST = 2_000  # letters of a text, and of ...
_LONGEST_ODD = 300  # ... an object written as text
_DAY = 86_400_000  # milliseconds
_LAST = 100_000_000 * _DAY  # from 1970, in both directions: of other days browsers know no date
_SECONDS = {  # of each unit of NumPy's dates and spans; years and months of mean length
    "Y": (31_556_952, 1),
    "M": (2_629_746, 1),
    "W": (604_800, 1),
    "D": (86_400, 1),
    "h": (3_600, 1),
    "m": (60, 1),
    "s": (1, 1),
    **{unit: (1, 1000**power) for power, unit in enumerate(("ms", "us", "ns", "ps", "fs", "as"), 1)},
    "generic": (1, 1_000_000),
}
_NO_DATE = np.iinfo(np.int64).min
_NONE = -1  # the code of a missing category
_SINGLE = 4  # bytes of a number in single precision, ...
SINGLE_DIGITS = 9  # ... which so many digits tell from all others


@dataclass(frozen=True, eq=False)
class Column:
    """A column and what it holds."""

    name: str  # different from those of all others
    key: Any  # by which users know it
    kind: Kind
    values: NDArray[Any]  # (n,) float64; codes of categories, −1 where missing; milliseconds since 1970; str as objects
    levels: tuple[str, ...] = ()  # of categories
    unit: str = ""
    zone: str = ""  # in which dates are told; "": as they were given
    single: bool = False  # numbers were given in single precision
    derived: bool = False  # computed from the map: shown, but not to all its digits

    def __len__(self) -> int:
        return len(self.values)

    def named(self, name: str) -> "Column":
        """The same under another name."""
        return replace(self, name=name)

    def take(self, rows: Integers | None) -> "Column":
        """Some rows."""
        return self if rows is None else replace(self, values=self.values[rows])

    def as_classes(self, *, always: bool = False) -> "Column":
        """Texts as categories, and few whole numbers too: what a colour is. All numbers, where they are labels."""
        if self.kind == "text":
            return replace(self, kind="category", **_categories(self.values.tolist()))
        if self.kind != "number" or self.derived:
            return self
        known = self.values[~np.isnan(self.values)]
        whole = bool(np.isfinite(known).all()) and np.array_equal(known, np.floor(known))
        different = np.unique(known)
        if not len(known) or not (always or (whole and len(different) <= MOST_KINDS)):
            return self
        codes = np.searchsorted(different, np.nan_to_num(self.values))
        codes = np.where(np.isnan(self.values), _NONE, codes)
        levels = tuple(f"{value:.0f}" if whole else str(value) for value in different.tolist())
        return replace(self, kind="category", values=codes, levels=levels)

    def written(self, blocks: Blocks) -> dict[str, Any]:
        """As the manifest has it, its values added to the blocks."""
        head: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind == "number":
            if self.derived:
                return {**head, "values": blocks.coded(self.values), "unit": self.unit, "digits": 4}
            ref, digits = blocks.numbers(self.values)
            digits = min(digits, SINGLE_DIGITS) if self.single else digits
            return {**head, "values": ref, "unit": self.unit, "digits": digits}
        if self.kind == "category":
            codes, levels = _used(self.values, self.levels)
            return {**head, "codes": blocks.codes(codes, len(levels)), "levels": levels}
        if self.kind == "date":
            known = self.values[~np.isnan(self.values)]
            form = "day" if not (known % _DAY).any() else "second"
            return {**head, "values": blocks.add(self.values), "form": form, "zone": self.zone}
        return {**head, "values": blocks.texts(self.values.tolist())}


def _used(codes: NDArray[Any], levels: Sequence[str]) -> tuple[NDArray[Any], list[str]]:
    """The same categories without those that no row has."""
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    kept = np.flatnonzero(counts)
    number = np.full(len(levels) + 1, _NONE)
    number[kept] = np.arange(len(kept))
    return number[codes], [levels[j] for j in kept.tolist()]


# --- tables


@dataclass(frozen=True, eq=False)
class Raw:
    """A column as it was given."""

    name: str
    key: Any
    values: Any
    classes: bool = False  # labels, whose numbers are names

    def read(self, rows: Integers | None = None) -> Column:
        """What it holds, in these rows."""
        kind, found = _read(self.values if rows is None else _taken(self.values, rows))
        column = Column(self.name, self.key, kind, **found)
        return column.as_classes(always=True) if self.classes else column


def columns_of(table: Any, n: int, name: str = "table") -> list[Raw]:
    """The columns of a table of n rows, each with a name of its own."""
    pairs = _pairs(table, name)
    found, taken = [], set[str]()
    for j, (key, values) in enumerate(pairs):
        try:
            written = _written(key) or f"column {j}"
        except Exception as error:  # anybody's object
            raise InputError(
                f"the name of column {j} of {name} cannot be written ({type(error).__name__}): give it a str as name."
            ) from error
        count = _length(values, f"column {_shown(key)} of {name}")
        if count != n:
            raise InputError(
                f"{name} has {count} rows in column {_shown(key)}, and the map has {n}: pass a table with a row for "
                "each row of the map, in the same order."
            )
        found.append(Raw(free_name(written, taken), key, values))
    return found


def free_name(name: str, taken: set[str]) -> str:
    """The name, or one like it that no other column has; it is taken then."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    taken.add(free)
    return free


def find(raws: Sequence[Raw], key: Any, what: str) -> int:
    """Where the column that users call this stands."""
    found = [j for j, raw in enumerate(raws) if _same(raw.key, key)] or [
        j for j, raw in enumerate(raws) if raw.name == key
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{what}={key!r} is the name of {len(found)} columns: give each column its own name.")
    shown = ", ".join(repr(raw.name) for raw in raws[:12]) + (" and more" if len(raws) > 12 else "")
    listed = f" ({shown})" if raws else ""
    raise InputError(f"{what}={key!r} is no column{listed}: name one of the table, or pass a table that has it.")


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _pairs(table: Any, name: str) -> list[tuple[Any, Any]]:
    """Key and values of each column."""
    if isinstance(table, Mapping):
        return list(table.items())
    if hasattr(table, "iloc"):
        if hasattr(table, "to_frame"):  # a Series
            return [(table.name if table.name is not None else "value", table)]
        return [(key, table.iloc[:, j]) for j, key in enumerate(table.columns)]
    if hasattr(table, "get_columns") and not hasattr(table, "collect_schema"):
        return [(column.name, column) for column in table.get_columns()]
    if hasattr(table, "get_columns"):  # polars, eager or lazy
        if not hasattr(table, "height"):
            raise InputError(f"{name} is a lazy query, not a table: pass {name}.collect().")
        return [(column.name, column) for column in table.get_columns()]
    if hasattr(table, "column_names") and hasattr(table, "column"):
        return [(key, table.column(j)) for j, key in enumerate(table.column_names)]
    if issparse(table):
        columns = table.tocsc()
        return [(j, _SparseColumn(columns, j)) for j in range(table.shape[1])]
    found = as_table(table, name)
    if getattr(getattr(found, "dtype", None), "names", None):
        return [(key, found[key]) for key in found.dtype.names]
    if getattr(found, "ndim", 0) == 1 and hasattr(found, "dtype"):
        return [("value", found)]
    if getattr(found, "ndim", 0) != 2:
        raise InputError(
            f"{name} is a {type(table).__name__}, which has no columns: pass a DataFrame, an Arrow table, a dict of "
            "columns or an array."
        )
    return [(j, found[:, j]) for j in range(found.shape[1])]


@dataclass(frozen=True, eq=False)
class _SparseColumn:
    """One column of a sparse matrix, made dense when it is read."""

    matrix: Any
    j: int

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.asarray(self.matrix[:, [self.j]].toarray()[:, 0], dtype=dtype)


def _length(values: Any, what: str) -> int:
    table = issparse(values) or hasattr(values, "columns") or hasattr(values, "column_names")
    without_order = isinstance(values, str | bytes | Mapping | Set)
    if table or without_order or not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0:
        raise InputError(f"{what} is a {type(values).__name__}, not a list or array of values: pass one.")
    return len(values)


def _taken(values: Any, rows: Integers) -> Any:
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "take") and not isinstance(values, np.ndarray):  # Arrow
        return values.take(rows)
    if hasattr(values, "gather"):
        return values.gather(rows)
    if hasattr(values, "dtype") or isinstance(values, _SparseColumn):
        return np.asarray(values)[rows]
    listed = list(values)
    return [listed[i] for i in rows.tolist()]


def _written(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else (f"column {key}" if type(key) is int else str(key))


def _shown(key: Any) -> str:
    return _safely(key, repr)


# --- what a column holds


def _read(values: Any) -> tuple[Kind, dict[str, Any]]:
    """Kind and fields of a column."""
    if hasattr(values, "iloc"):
        return _of_pandas(values)
    if hasattr(values, "to_arrow"):  # of polars
        return _of_polars(values)
    if hasattr(values, "type") and hasattr(values, "to_pylist"):
        return _of_arrow(values)
    if isinstance(values, np.ma.MaskedArray):
        values = [
            None if hidden else value for value, hidden in zip(values.data, np.ma.getmaskarray(values), strict=True)
        ]
    if isinstance(values, np.ndarray | _SparseColumn):
        return _of_array(np.asarray(values))
    return _of_objects(list(values))


def _of_polars(series: Any) -> tuple[Kind, dict[str, Any]]:
    if str(series.dtype) == "Object":  # of which Arrow has addresses
        return _of_objects(series.to_list())
    try:
        column = series.to_arrow()
    except (TypeError, ValueError, NotImplementedError):  # of a type that Arrow does not have
        return _of_objects(series.to_list())
    return _of_arrow(column)


def _of_pandas(series: Any) -> tuple[Kind, dict[str, Any]]:
    written = str(series.dtype).lower()
    if written == "category":
        levels = [_text(level) for level in series.cat.categories]
        codes = np.asarray(series.cat.codes, dtype=np.int64)
        return "category", _ordered(codes, levels, by_count=not series.cat.ordered)
    if written.startswith("datetime64"):
        zone = "UTC" if getattr(series.dt, "tz", None) is not None else ""
        if zone:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return _of_moments(np.asarray(series), zone)
    if written.endswith("[pyarrow]") or hasattr(series.dtype, "pyarrow_dtype"):
        import pyarrow as pa

        return _of_arrow(pa.array(series.array))
    if written.startswith("sparse"):
        return _of_array(np.asarray(series))
    kind = getattr(series.dtype, "kind", "O")
    if kind in "biufm" and isinstance(series.dtype, np.dtype):
        return _of_array(np.asarray(series))
    return _of_objects(series.astype(object).tolist())


def _of_arrow(column: Any) -> tuple[Kind, dict[str, Any]]:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # one of a type that cannot be joined
            return _of_objects(column.to_pylist())
    kind, types = column.type, pa.types
    if types.is_dictionary(kind) and not isinstance(column, pa.ExtensionArray):
        levels = [_text(level) for level in column.dictionary.to_pylist()]
        codes = column.indices.cast(pa.int64()).fill_null(_NONE).to_numpy(zero_copy_only=False)
        return "category", _ordered(codes, levels, by_count=True)
    if types.is_floating(kind) or types.is_null(kind):
        single = types.is_float32(kind) or types.is_float16(kind)
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return "number", {"values": values, "single": single}
    if types.is_timestamp(kind) or types.is_date(kind):
        zone = "UTC" if types.is_timestamp(kind) and kind.tz else ""
        return _of_moments(column.to_numpy(zero_copy_only=False), zone)
    if types.is_duration(kind):
        return _of_array(column.to_numpy(zero_copy_only=False))
    if types.is_integer(kind) and column.null_count == 0:
        return _of_array(column.to_numpy(zero_copy_only=False))
    return _of_objects(column.to_pylist())


def _of_array(values: NDArray[Any]) -> tuple[Kind, dict[str, Any]]:
    kind = values.dtype.kind
    if values.ndim != 1:
        return _of_objects(list(values))
    if kind == "b":
        return "category", {"values": values.astype(np.int64), "levels": ("False", "True")}
    if kind in "iu":
        if len(values) and max(-int(values.min()), int(values.max())) > _WHOLE:
            return _of_texts([str(value) for value in values.tolist()])
        return "number", {"values": values.astype(np.float64)}
    if kind == "f":
        with np.errstate(over="ignore"):  # long doubles beyond are told from infinite numbers
            found = values.astype(np.float64)
        if (np.isinf(found) & np.isfinite(values)).any():
            return _of_texts([_text(value) for value in values])
        return "number", {"values": found, "single": values.dtype.itemsize <= _SINGLE}
    if kind == "M":
        return _of_moments(values)
    if kind == "m":
        return "number", {"values": _seconds(values), "unit": "s"}
    return _of_objects(values.tolist())


def _of_objects(values: list[Any]) -> tuple[Kind, dict[str, Any]]:
    """Of a column whose values may be anything."""
    gaps = np.fromiter((_is_missing(value) for value in values), dtype=bool, count=len(values))
    kinds = {type(value) for value, gap in zip(values, gaps, strict=True) if not gap}
    if not kinds:
        return "number", {"values": np.full(len(values), np.nan)}
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        codes = [_NONE if gap else int(value) for value, gap in zip(values, gaps, strict=True)]
        return "category", {"values": np.array(codes, dtype=np.int64), "levels": ("False", "True")}
    if all(_holds_numbers(kind) for kind in kinds):
        return _of_numbers(values, gaps)
    if all(issubclass(kind, date | np.datetime64) for kind in kinds):
        return _of_dates(values, gaps)
    if all(issubclass(kind, timedelta | np.timedelta64) for kind in kinds):
        spans = [math.nan if gap else _span(value) for value, gap in zip(values, gaps, strict=True)]
        return "number", {"values": np.array(spans), "unit": "s"}
    return _of_texts(["" if gap else _text(value) for value, gap in zip(values, gaps, strict=True)], gaps)


def _holds_numbers(kind: type) -> bool:
    return issubclass(kind, Real | Decimal) and not issubclass(kind, bool | np.bool_ | timedelta | np.timedelta64)


def _of_numbers(values: list[Any], gaps: NDArray[np.bool_]) -> tuple[Kind, dict[str, Any]]:
    if any(not gap and _is_long(value) for value, gap in zip(values, gaps, strict=True)):
        return _of_texts(["" if gap else _text(value) for value, gap in zip(values, gaps, strict=True)], gaps)
    return "number", {
        "values": np.array([math.nan if gap else float(value) for value, gap in zip(values, gaps, strict=True)])
    }


def _is_long(value: Any) -> bool:
    """Whether it is a number that float64 does not hold."""
    if isinstance(value, int | np.integer):
        return abs(int(value)) > _WHOLE
    if isinstance(value, Fraction):
        return max(abs(value.numerator), value.denominator) > _WHOLE
    if isinstance(value, Decimal) and not value.is_finite():
        return value.is_snan()
    return math.isinf(float(value)) and value not in (math.inf, -math.inf)


def _of_dates(values: list[Any], gaps: NDArray[np.bool_]) -> tuple[Kind, dict[str, Any]]:
    zones = [getattr(value, "tzinfo", None) is not None for value, gap in zip(values, gaps, strict=True) if not gap]
    if any(zones) and not all(zones):  # which cannot be put in one order
        return _of_texts(["" if gap else _text(value) for value, gap in zip(values, gaps, strict=True)], gaps)
    found = [math.nan if gap else _since_1970(value) for value, gap in zip(values, gaps, strict=True)]
    return _dated(np.array(found, dtype=np.float64), values, "UTC" if any(zones) else "")


def _of_moments(values: NDArray[Any], zone: str = "") -> tuple[Kind, dict[str, Any]]:
    return _dated(_milliseconds(values), values, zone)


def _dated(found: Floats, values: Iterable[Any], zone: str) -> tuple[Kind, dict[str, Any]]:
    """Milliseconds as dates; as texts where there are some that browsers do not know."""
    if not (np.abs(found) > _LAST).any():
        return "date", {"values": found, "zone": zone}
    gaps = np.isnan(found)
    return _of_texts(["" if gap else _text(value) for value, gap in zip(values, gaps, strict=True)], gaps)


def _since_1970(value: Any) -> float:
    """Milliseconds; a time without a zone is taken as it is written."""
    if isinstance(value, np.datetime64):
        return float(_milliseconds(np.array([value]))[0])
    if not isinstance(value, datetime):
        return float((value - date(1970, 1, 1)).days) * _DAY
    from datetime import UTC

    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return round((aware - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def _milliseconds(values: NDArray[Any]) -> Floats:
    found = 1000 * _seconds(values)
    near = np.abs(found) <= 2 * _LAST  # what is farther NumPy may not hold in milliseconds, nor is it shown as a date
    found[near] = values[near].astype("datetime64[ms]").astype(np.int64)
    return found


def _seconds(values: NDArray[Any]) -> Floats:
    """Seconds of dates or spans, NaN where there is none; never beyond what NumPy's integers hold."""
    unit, count = np.datetime_data(values.dtype)
    times, part = _SECONDS[unit]
    counts = values.astype(np.int64)
    return np.where(counts == _NO_DATE, np.nan, counts * float(times * count) / part)


def _span(value: Any) -> float:
    """Seconds."""
    return value.total_seconds() if isinstance(value, timedelta) else float(_seconds(np.array([value]))[0])


def _of_texts(texts: list[str], gaps: NDArray[np.bool_] | None = None) -> tuple[Kind, dict[str, Any]]:
    """Categories where texts come again, else names."""
    known = texts if gaps is None else [text for text, gap in zip(texts, gaps, strict=True) if not gap]
    different = len(set(known))
    if different <= max(_ALWAYS, _SHARE * len(known)) and different < _too_many(len(known)):
        return "category", _categories(texts, gaps)
    return "text", {"values": _objects(texts)}


def _too_many(n: int) -> float:
    """Of 40 rows with 40 different names, names are no categories; of a handful they may be."""
    return math.inf if n <= MOST_KINDS else 0.9 * n


def _categories(texts: list[str], gaps: NDArray[np.bool_] | None = None) -> dict[str, Any]:
    missing = np.array([not text for text in texts], dtype=bool) if gaps is None else gaps
    counts = Counter(text for text, gap in zip(texts, missing, strict=True) if not gap)
    number = {level: j for j, level in enumerate(counts)}
    codes = [_NONE if gap else number[text] for text, gap in zip(texts, missing, strict=True)]
    return _ordered(np.array(codes, dtype=np.int64), list(counts), by_count=True)


def _ordered(codes: NDArray[Any], levels: list[str], *, by_count: bool) -> dict[str, Any]:
    """Categories with the level that most rows have first, or as they are."""
    if not by_count:
        return {"values": codes, "levels": tuple(levels)}
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    order = sorted(range(len(levels)), key=lambda j: (-counts[j], levels[j]))
    number = np.full(len(levels) + 1, _NONE)
    number[order] = np.arange(len(levels))
    return {"values": number[codes], "levels": tuple(levels[j] for j in order)}


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in MISSING:
        return True
    if isinstance(value, Decimal):
        return value.is_qnan()
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64) and bool(value != value)


def _text(value: Any) -> str:
    """Any value in words, of bounded length."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
    if isinstance(value, bytes):
        return _text(value.decode("utf-8", "backslashreplace"))
    if isinstance(value, int | np.integer):
        return _safely(value, str)
    words = " ".join(_safely(value, str).split())
    return words if len(words) <= _LONGEST_ODD else words[: _LONGEST_ODD - 1] + "…"


def _safely(value: Any, write: Callable[[Any], str]) -> str:
    """What a value says of itself; its type where it fails to."""
    try:
        return write(value)
    except Exception as error:  # noqa: BLE001 - anybody's object, of which the page shows a text and no more
        return f"{type(value).__name__} ({type(error).__name__})"


def _objects(texts: Iterable[str]) -> NDArray[Any]:
    listed = list(texts)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found

"""What the user gives, read once: one sentence for whatever cannot be used."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from gramfold.errors import InputError
from gramfold.neighbors.columns import as_table, numeric_table, quiet, require_table, types_of
from gramfold.neighbors.mixed import MixedColumns, MixedTable
from gramfold.neighbors.sparse_rows import canonical
from gramfold.runtime.memory import require_room
from gramfold.types import Floats, Integers

_MOST_COLUMNS = 12  # named in one sentence


@dataclass(frozen=True)
class Reads:
    """What X may be, and what may be made of it."""

    precomputed: bool = False  # distances, edges or kernel values instead of rows
    sparse: bool = False
    missing: bool = False  # NaN where a value is not known, in training rows and in new ones
    gaps: bool = False  # NaN in training rows only
    mixed: bool = False  # numbers, categories and gaps, encoded by the training rows (neighbors/mixed.py)
    categorical: Any = None  # columns of numbers that are categories there, as the user gave them
    checked: bool = True  # whether training values are looked at here; else the method does (`check_finite`)


@dataclass(frozen=True)
class Columns:
    """What is known of the columns of the training rows."""

    count: int
    names: tuple[str, ...] | None
    mixed: MixedColumns | None = None  # what they hold, where not all of them hold numbers
    shown: tuple[str, ...] | None = None  # the names in sentences, also those that are no strings


def read_training(name: str, X: Any, reads: Reads) -> tuple[Any, Columns]:
    """The rows of a fit of this class, which no change of the user's own array reaches, and their columns."""
    reader = _reader(name)
    if reads.mixed:
        return _read_mixed_training(reader, X, reads)
    rows = _read(reader, X, reads, reset=True)
    names = vars(reader).get("feature_names_in_")
    known = None if names is None else tuple(names)
    columns = Columns(reader.n_features_in_, known, shown=known or _labels(X))
    if reads.checked:
        missing = reads.missing or reads.gaps
        check_finite(rows, "X", allow_missing=missing, names=columns.shown, precomputed=reads.precomputed)
    return _owned(rows, X), columns


def read_new(name: str, X: Any, reads: Reads, columns: Columns) -> Any:
    """Rows that a fitted model is asked about."""
    reader = _reader(name)
    reader.n_features_in_ = columns.count
    if columns.names is not None:
        reader.feature_names_in_ = np.array(columns.names, dtype=object)
    if columns.mixed is not None:
        return _read_mixed(reader, X, reads, columns.mixed)
    rows = _read(reader, X, reads, reset=False)
    check_finite(rows, "X", allow_missing=reads.missing, names=columns.shown, precomputed=reads.precomputed)
    return rows


def _labels(X: Any) -> tuple[str, ...] | None:
    """Names of columns that are numbers other than their positions, or tuples (of several levels), as strings."""
    names = [name for name, _ in types_of(X)]
    if not names or names == list(range(len(names))) or any(isinstance(name, str) for name in names):
        return None
    return tuple(", ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in names)


def _reader(name: str) -> Any:
    """On which scikit-learn notes the columns: nothing of an estimator changes, and no other fit can change it."""
    return _reader_class(name)()


@cache
def _reader_class(name: str) -> type[BaseEstimator]:
    return type(name, (BaseEstimator,), {})  # of the name that errors are to tell


def _read(reader: Any, X: Any, reads: Reads, *, reset: bool) -> Any:
    """X as a float64 or float32 array (or CSR matrix), its width noted or compared."""
    X = numeric_table(X, least_rows=2 if reset else 1, dense_for=None if reads.sparse else type(reader).__name__)
    with _columns_told(reader, X):
        rows = validate_data(
            reader,
            X,
            reset=reset,
            dtype=(np.float64, np.float32),
            order=None if issparse(X) else "C",
            accept_sparse="csr" if reads.sparse else False,
            ensure_all_finite=False,  # told with the place, see `check_finite`
            ensure_min_samples=2 if reset else 1,
        )
    if not issparse(rows):
        return quiet(rows) if reads.missing or reads.gaps else rows
    return rows if reads.precomputed else canonical(rows)  # a stored 0 is an edge, not a value


@contextmanager
def _columns_told(reader: Any, X: Any) -> Iterator[None]:
    """Add to scikit-learn's words about other columns than those of the training rows what to pass instead."""
    try:
        yield
    except ValueError as error:
        names, own = vars(reader).get("feature_names_in_"), [name for name, _ in types_of(X)]
        if isinstance(error, InputError) or names is None or not own or list(names) == own:
            raise
        raise InputError(f"{str(error).rstrip()}\n{_other_columns(list(names), own, hasattr(X, 'iloc'))}") from error


def _other_columns(names: list[str], own: list[Any], pandas: bool) -> str:
    absent = [name for name in names if name not in own]
    if absent:
        shown = ", ".join(f"'{name}'" for name in absent[:_MOST_COLUMNS])
        more = f" and {len(absent) - _MOST_COLUMNS:,} more" if len(absent) > _MOST_COLUMNS else ""
        return f"X has no column {shown}{more}: pass all columns of the training rows, under their names."
    first = next(j for j, name in enumerate(own) if j == len(names) or name != names[j])
    should = (
        f"where the training rows have '{names[first]}'"
        if first < len(names)
        else "which the training rows do not have"
    )
    chosen = "X[list(model.feature_names_in_)]" if pandas else "X.select(list(model.feature_names_in_))"
    return f"X has column '{own[first]}', {should}: pass {chosen}."


def _read_mixed_training(reader: Any, X: Any, reads: Reads) -> tuple[Floats, Columns]:
    table = _mixed_table(reader, X, reads, reset=True)
    found, names = MixedColumns.of(table), vars(reader).get("feature_names_in_")
    known = None if names is None else tuple(names)
    columns = Columns(reader.n_features_in_, known, found, known)
    return found.encode(table), columns


def _read_mixed(reader: Any, X: Any, reads: Reads, columns: MixedColumns) -> Floats:
    table = _mixed_table(reader, X, reads, reset=False)
    rows = columns.encode(table)
    columns.require_shared(table)
    return rows


def _mixed_table(reader: Any, X: Any, reads: Reads, *, reset: bool) -> MixedTable:
    X = X if isinstance(X, list | tuple) else as_table(X)
    table = MixedTable.of(X, reads.categorical, least_rows=2 if reset else 1)
    with _columns_told(reader, X):
        validate_data(reader, X if hasattr(X, "shape") else table.numbers, reset=reset, skip_check_array=True)
    check_finite(table.numbers, "X", allow_missing=True, names=vars(reader).get("feature_names_in_"))
    return table


def _owned(rows: Any, given: Any) -> Any:
    """Rows that no change of the user's own array reaches: a fitted model reads them again."""
    if isinstance(given, list | tuple) or (isinstance(given, np.memmap) and given.mode == "r"):
        return rows
    if isinstance(given, np.ndarray) and not np.may_share_memory(rows, given):
        return rows  # converted
    size = rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes if issparse(rows) else rows.nbytes
    require_room(size, f"a copy of X ({rows.shape[0]:,} x {rows.shape[1]:,}) that the model can keep")
    return rows.copy()


def read_places(Y: Any, n_components: int, names: Sequence[str] = ()) -> Floats:
    """Places on a map of this many dimensions, whose columns have these names."""
    Y = as_table(Y, "Y")
    own = [name for name, _ in types_of(Y, "Y")]
    if own != list(names) and sorted(map(str, own)) == sorted(names):
        raise InputError(
            f"Y has column '{own[0]}' first, where the embedding has '{names[0]}': pass the columns in the order "
            f"{', '.join(names)}."
        )
    Y = numeric_table(Y, least_rows=1, name="Y")
    places: Floats = check_array(Y, dtype=np.float64, ensure_all_finite=False, input_name="Y")
    check_finite(places, "Y")
    if places.shape[1] != n_components:
        raise InputError(
            f"Y has {places.shape[1]} columns, but the embedding has n_components={n_components}: pass coordinates "
            "of the embedding."
        )
    return places


def coordinates_of(given: Any, name: str) -> Any:
    """The map itself, or that of a fitted estimator (`embedding_`)."""
    if isinstance(given, type) or not hasattr(given, "fit"):
        return getattr(given, "embedding_", given)
    check_is_fitted(given, msg=f"{name} is %(name)s, which is not fitted and has no map: call fit first.")
    if not hasattr(given, "embedding_"):
        raise InputError(
            f"{name} is {type(given).__name__}, which keeps no map (embedding_): pass the coordinates that it returned."
        )
    return given.embedding_


def check_count(value: Any, name: str) -> int:
    """A number of things that a method is asked for, at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name}={value!r} is not a number of rows: pass an integer of at least 1.")
    return int(value)


def rows_or_places(points: Any, columns: int, dimensions: int) -> Literal["rows", "coordinates"]:
    """Which of both these are, by their number of columns."""
    table = as_table(points)
    require_table(table, least_rows=1)
    if columns == dimensions:
        raise InputError(
            f"rows and coordinates both have {columns} columns, so extrapolation() cannot tell which of them was "
            "passed: pass of='rows' or of='coordinates'."
        )
    return "coordinates" if table.shape[1] == dimensions else "rows"


def check_finite(
    X: Any, name: str, *, allow_missing: bool = False, names: Sequence[str] | None = None, precomputed: bool = False
) -> bool:
    """Whether all values are there; what may not be raises, with its place and all columns that have such values."""
    values = X.data if issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # as it is where all are; a sum that overflows is looked at more closely
            return True
    bad = np.isinf(values) if allow_missing else ~np.isfinite(values)
    if not bad.any():
        return not (allow_missing and np.isnan(values).any())
    rows, columns = _places(X, bad)
    what = "NaN" if np.isnan(values[bad][0]) else "infinity"
    which, counts = np.unique(columns, return_counts=True)
    by_column = [f"{count:,} in {_named(j, names)}" for j, count in zip(which, counts, strict=True)]
    more = len(by_column) - _MOST_COLUMNS
    shown = ", ".join(by_column[:_MOST_COLUMNS]) + (f" and more in {more:,} others" if more > 0 else "")
    such = f"{len(rows):,} such value{'s' * (len(rows) > 1)} in all" + (f": {shown}" if len(by_column) > 1 else "")
    change = (
        "and precomputed values must be finite: correct them, or leave these rows and columns out"
        if precomputed
        else "and distances to such rows are not defined: remove the rows, or impute the values (sklearn.impute)"
    )
    raise InputError(f"{name} contains {what} in row {rows[0]}, {_named(columns[0], names)} ({such}), {change}.")


def _places(X: Any, chosen: Any) -> tuple[Integers, Integers]:
    """Row and column of the chosen values, row by row."""
    if issparse(X):
        entries = X.tocoo()
        return entries.row[chosen], entries.col[chosen]
    rows, columns = np.nonzero(chosen)
    return rows, columns


def _named(column: int, names: Sequence[str] | None) -> str:
    return f"column {column}" if names is None else f"column '{names[column]}'"

"""Check the user's table before it is converted; errors name each column that is not numeric."""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError, NotNumbersError
from gramfold.neighbors.arrow_tables import is_arrow, without_index

_MOST_SHOWN = 12  # columns of one kind
_MOST_LETTERS = 40
_MOSTLY_COMMON = 0.9  # of the labels of two tables: these are then names of the same rows
# Lower-case prefixes of the types of pandas, polars and Arrow. The first match counts: interval before int.
_KINDS = {
    ("interval",): "intervals",
    ("int", "uint", "float", "double", "half", "bool", "decimal", "null", "sparse["): "numbers",
    ("categor", "enum", "dictionary"): "categories",
    ("timedelta", "duration"): "durations",
    ("date", "time", "period"): "dates or times",
    ("complex",): "complex values",
    ("list", "array", "struct", "map"): "lists",
}
_TEXT = ("string", "large_string", "utf8", "binary", "large_binary", "<u", ">u", "|s")  # and "str" itself
MISSING = ("NAType", "NaTType", "NoneType")
_REMEDIES = {
    "categories": "categories by one-hot encoding (pandas.get_dummies)",
    "text": "text by one-hot encoding (pandas.get_dummies)",
    "dates or times": "dates as days since the first",
    "durations": "durations as seconds",
    "complex values": "complex values as real and imaginary parts",
}


@dataclass(frozen=True)
class _Odd:
    """A column that is not numeric."""

    name: str  # as it is shown
    kind: str
    example: str


def numeric_table(X: Any, least_rows: int, name: str = "X", dense_for: str | None = None) -> Any:
    """X as `as_table` returns it, checked to be a table of numbers.

    `dense_for` is the name of an estimator that reads dense rows only.
    """
    X = as_table(X, name)
    require_table(X, least_rows, name)
    if dense_for is not None:
        _require_dense(X, dense_for, name)
    if issparse(X):
        _require_indices(X, name)
    require_numbers(X, name)
    return X


def as_table(X: Any, name: str = "X") -> Any:
    """Convert lists, masked arrays and other array-likes to arrays; X of other types is returned as it is."""
    if is_dask(X):
        raise InputError(
            f"{name} is a Dask collection, but a table in memory is read here: pass {name}.compute(), or a part of it "
            "that fits in memory."
        )
    if isinstance(X, np.matrix):
        return np.asarray(X)  # whose rows are rows, not matrices again
    if isinstance(X, np.ma.MaskedArray):
        # masked values are missing; scikit-learn would use the values under the mask
        return np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan) if np.ma.is_masked(X) else X.data
    if isinstance(X, list | tuple):
        try:
            return _wide(np.asarray(X))
        except ValueError as error:
            lengths = [len(row) if hasattr(row, "__len__") else 1 for row in X]
            odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
            raise InputError(
                f"{name} is a list whose rows differ in length ({lengths[0]} values in row 0, {lengths[odd]} in row "
                f"{odd}): give each row a value for each column."
            ) from error
    if not hasattr(X, "shape") and hasattr(X, "__array__"):
        return _wide(np.asarray(X))
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise InputError(f"{name} is a lazy query, not a table: pass {name}.collect().")
    return without_index(X) if is_arrow(X) else X


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or dataframe; nothing of Dask is loaded."""
    home = type(X).__module__
    return home.startswith(("dask.", "dask_expr.")) and hasattr(X, "__dask_graph__")


def quiet(values: np.ndarray) -> np.ndarray:
    """Numbers whose missing values do not signal: R's do, and NumPy warns of arithmetic with them."""
    missing = np.isnan(values)
    return np.where(missing, values.dtype.type(np.nan), values) if missing.any() else values


def _wide(X: np.ndarray) -> np.ndarray:
    """Convert float32 to float64: lists do not set the precision, only arrays and tables do."""
    return X.astype(np.float64) if X.dtype == np.float32 else X


def require_table(X: Any, least_rows: int, name: str = "X") -> None:
    """Raise an error if X is not a table, in the words of scikit-learn."""
    shape = getattr(X, "shape", None)
    if shape is None or len(shape) == 0:
        hint = ", or read the file with gramfold.io.read_table" if isinstance(X, str) else ""
        raise InputError(
            f"Expected 2D array, got a {type(X).__name__}, which has no rows and columns: pass an array or table "
            f"as {name}{hint}."
        )
    if len(shape) == 1:
        if getattr(getattr(X, "dtype", None), "names", None):
            raise InputError(
                "Expected 2D array, got a structured array: pass "
                f"numpy.lib.recfunctions.structured_to_unstructured({name})."
            )
        raise InputError(
            f"Expected 2D array, got 1D array of shape {tuple(shape)}. Reshape your data: {name}.reshape(-1, 1) for a "
            f"column ({name}.to_frame() for a Series), {name}.reshape(1, -1) for a row."
        )
    if len(shape) > 2:
        raise InputError(
            f"{name} has {len(shape)} dimensions (shape={tuple(shape)}), but a table has 2: pass "
            f"{name}.reshape({shape[0]}, -1), which flattens each sample to one row."
        )
    rows, columns = shape
    if rows < least_rows:
        raise InputError(
            f"{name} has {rows} sample(s) (shape={tuple(shape)}) while a minimum of {least_rows} is required: pass "
            "more rows."
        )
    if columns < 1:
        raise InputError(
            f"{name} has 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required: pass at least one "
            "column."
        )


def _require_dense(X: Any, reader: str, name: str) -> None:
    if issparse(X):
        what, reduced, dense = "sparse matrix", "it", f"{name}.toarray()"
    elif hasattr(X, "sparse"):  # an attribute of a DataFrame whose columns are all sparse
        what, reduced, dense = "table of sparse columns", f"{name}.sparse.to_coo()", f"{name}.sparse.to_dense()"
    else:
        return
    size = 8e-9 * X.shape[0] * X.shape[1]
    raise InputError(
        f"{name} is a {what} of {X.shape[0]} x {X.shape[1]}, but {reader} reads dense rows: reduce {reduced} first "
        f"(sklearn.decomposition.TruncatedSVD) or pass {dense} if that fits in memory ({size:.2g} GB)."
    )


def _require_indices(X: Any, name: str) -> None:
    """Raise an error for invalid indices of a sparse matrix: compiled code would read outside of its arrays."""
    try:
        if X.format == "coo":
            type(X)((X.data, (X.row, X.col)), shape=X.shape)
        elif hasattr(X, "check_format"):
            copy(X).check_format()  # on a copy, since it may truncate arrays
    except ValueError as error:
        raise InputError(
            f"{name} is a sparse matrix of {X.shape[0]} x {X.shape[1]} with invalid indices ({error}): build it again "
            "from its entries with scipy.sparse.coo_array((values, (rows, columns)), shape)."
        ) from error


def require_numbers(X: Any, name: str = "X") -> None:
    """Raise an error for columns of text, dates, categories and the like, with their names and an example of each."""
    if issparse(X):
        if X.dtype.kind == "c":
            raise NotNumbersError(
                f"Complex data not supported: {name} holds complex values; pass their real parts, {name}.real."
            )
        return
    _refuse(_odd_in_array(X) if isinstance(X, np.ndarray) else _odd_in_frame(X, name), X, name)


def require_numeric_types(types: Sequence[tuple[Any, Any]], X: Any, name: str = "X") -> None:
    """The same by the names and types of columns, before any value is read: text is refused, whatever it says."""
    kinds = [(label, "text" if is_text(dtype) else kind_of(dtype) or "numbers") for label, dtype in types]
    _refuse([_Odd(_shown(label), kind, "") for label, kind in kinds if kind != "numbers"], X, name)


def _refuse(odd: Sequence[_Odd], X: Any, name: str) -> None:
    if not odd:
        return
    kinds = list(dict.fromkeys(column.kind for column in odd))
    found = [f"{kind} in {_named([column for column in odd if column.kind == kind])}" for kind in kinds]
    remedies = [_remedy(kind, X) for kind in kinds if kind in _REMEDIES]
    turn = f", or convert them to numbers: {', '.join(remedies)}" if remedies else ""
    # scikit-learn's words, by which its own checks and its users know these errors
    prefix = "Complex data not supported: " if "complex values" in kinds else ""
    raise NotNumbersError(f"{prefix}{name} holds {' and '.join(found)}: leave such columns out{turn}.")


def _remedy(kind: str, X: Any) -> str:
    """In the words of the library that X is of."""
    polars = hasattr(X, "to_dummies")
    return _REMEDIES[kind].replace(
        "pandas.get_dummies", "polars.DataFrame.to_dummies" if polars else "pandas.get_dummies"
    )


def _named(columns: Sequence[_Odd]) -> str:
    shown = [f"{column.name}{column.example}" for column in columns[:_MOST_SHOWN]]
    more = len(columns) - len(shown)
    return f"column{'s' * (len(columns) > 1)} {', '.join(shown)}" + (f" and {more:,} more" if more else "")


def _odd_in_array(X: np.ndarray) -> list[_Odd]:
    kind = X.dtype.kind
    if kind in "biuf" or X.ndim != 2:
        return []
    if kind in "Mmc":
        word = {"M": "dates or times", "m": "durations", "c": "complex values"}[kind]
        return [_Odd(str(j), word, _example(X[0, j])) for j in range(X.shape[1])] if len(X) else []
    columns = [_first_odd(str(j), X[:, j]) for j in range(X.shape[1])]
    return [column for column in columns if column is not None]


def _odd_in_frame(X: Any, name: str) -> list[_Odd]:
    """Columns that are not numeric of a pandas or polars DataFrame or an Arrow table; none for other types."""
    odd = []
    types = types_of(X, name)
    kinds = {dtype: kind_of(dtype) for dtype in dict.fromkeys(dtype for _, dtype in types)}
    for j, (column_name, dtype) in enumerate(types):
        kind = kinds[dtype]
        if kind == "numbers":
            continue
        shown = _shown(column_name)
        values = values_of(X, j)
        if kind is None:
            column = _first_odd(shown, values)
            if column is not None:
                odd.append(column)
        else:
            there = (value for value in values if type(value).__name__ not in MISSING)
            first = next(there, None)
            odd.append(_Odd(shown, kind, "" if first is None else _example(first)))
    return odd


def require_one_order(X: Any, Y: Any, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise an error if two pandas tables have the same rows at different positions, by their index.

    Tables are compared by position. An index that only counts the rows (0, 1, 2, …) says nothing of another that has
    other labels.
    """
    if not (hasattr(X, "iloc") and hasattr(Y, "iloc")):
        return
    first, second = X.index, Y.index
    found = _out_of_order(first, second)
    if found is None:
        return
    one, other = names
    if not (first.is_unique and second.is_unique):  # .loc would repeat rows
        remedy = f"sort {other} as {one} is"
    elif same_labels(first, second):
        remedy = f"pass {other}.loc[{one}.index]"
    else:
        remedy = "pass the rows that both have, in one order (.loc)"
    raise InputError(
        f"{one} and {other} have {found}, but rows are compared by position: {remedy}, or {other}.to_numpy() if row i "
        "of one is row i of the other."
    )


def _out_of_order(first: Any, second: Any) -> str | None:
    """What two indices of pandas have in common at different positions, if that is most of them."""
    if len(first) != len(second) or not len(first) or first.equals(second):
        return None
    if same_labels(first, second):
        return "the same index in different orders"
    names = [index for index in (first, second) if index.is_unique and not counts_rows(index)]
    if len(names) < 2 or first.nlevels != second.nlevels:
        return None
    where = second.get_indexer(first)  # -1 where it has no such label
    known = where >= 0
    if known.mean() < _MOSTLY_COMMON or (where == np.arange(len(first)))[known].all():
        return None
    return f"{int(known.sum()):,} of {len(first):,} labels of the index in common, at different positions"


def same_labels(first: Any, second: Any) -> bool:
    """Whether two indices of pandas have the same labels, each as often, in any order."""
    if len(first) != len(second) or first.nlevels != second.nlevels:
        return False
    if first.is_unique and second.is_unique:
        return bool(first.isin(second).all())
    return Counter(first) == Counter(second)


def counts_rows(index: Any) -> bool:
    """Whether an index of pandas only counts the rows: 0, 1, 2, …."""
    return index.dtype.kind in "iu" and np.array_equal(index.to_numpy(), np.arange(len(index)))


def types_of(X: Any, name: str = "X") -> list[tuple[Any, Any]]:
    """Name and type of each column."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        repeated = X.columns[X.columns.duplicated()]
        if len(repeated):
            raise InputError(
                f"{name} has several columns named {repeated[0]!r}: give each its own name, or pass {name}.to_numpy()."
            )
        # a fill value may also be NaN
        if X.shape[1] and all(getattr(dtype, "fill_value", 0) != 0 for dtype in X.dtypes):
            raise InputError(
                f"{name} has sparse columns with a fill value other than 0: pass {name}.sparse.to_dense()."
            )
        return list(zip(X.columns, X.dtypes, strict=True))
    if hasattr(X, "get_columns") and hasattr(X, "schema"):  # polars
        return list(X.schema.items())
    if is_arrow(X):
        return list(zip(X.column_names, X.schema.types, strict=True))
    return []


def as_dense_or_sparse(X: Any) -> Any:
    """A DataFrame with sparse columns as a sparse matrix if all are, else with dense ones; others as they are."""
    sparse = {name: dtype.subtype for name, dtype in types_of(X) if str(dtype).startswith("Sparse[")}
    if not sparse:
        return X
    return X.sparse.to_coo().tocsr() if len(sparse) == X.shape[1] else X.astype(sparse)


def values_of(X: Any, j: int) -> Iterable[Any]:
    """The values of column number j."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]  # type: ignore[no-any-return]
    return X.to_series(j) if hasattr(X, "to_series") else X.column(j).to_pylist()  # type: ignore[no-any-return]


def kind_of(dtype: Any) -> str | None:
    """Kind of a column type; None where it depends on the values, as for text, which may hold numbers."""
    written = str(dtype).lower()
    return next((word for starts, word in _KINDS.items() if written.startswith(starts)), None)


def is_text(dtype: Any) -> bool:
    """Whether a column type holds text and nothing else."""
    written = str(dtype).lower()
    return written == "str" or written.startswith(_TEXT)


def _shown(column_name: Any) -> str:
    return f"'{column_name}'" if isinstance(column_name, str) else str(column_name)


def _first_odd(name: str, values: Iterable[Any]) -> _Odd | None:
    """The first value that is not a number, if there is one; missing values are skipped."""
    for value in values:
        if type(value).__name__ in MISSING:
            continue
        try:
            float(value)
        except (TypeError, ValueError) as error:
            if isinstance(value, str | bytes):
                return _Odd(name, "text", _example(value))
            if isinstance(value, date | time):
                return _Odd(name, "dates or times", _example(value))
            if isinstance(value, timedelta):
                return _Odd(name, "durations", _example(value))
            if isinstance(value, complex):
                return _Odd(name, "complex values", _example(value))
            return _Odd(name, "objects", f"{_example(value)[:-1]}; {error})")
        except OverflowError:  # Python's whole numbers have no largest
            return _Odd(name, "numbers beyond 1.8e308, the largest float64,", "")
    return None


def _example(value: Any) -> str:
    shown = " ".join(str(value).split())
    shown = shown if len(shown) <= _MOST_LETTERS else shown[: _MOST_LETTERS - 1] + "…"
    return f" ('{shown}')" if isinstance(value, str) else f" ({shown})"

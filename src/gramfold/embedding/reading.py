"""What the user gives, read once: one sentence for whatever cannot be used."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from gramfold.embedding.columns import as_table, require_indices, require_numbers, require_table
from gramfold.errors import InputError
from gramfold.runtime.memory import require_room
from gramfold.types import Floats, Integers

_MOST_COLUMNS = 12  # named in one sentence


def read_rows(
    estimator: Any, X: Any, *, reset: bool, accept_sparse: bool, allow_missing: bool = False, check: bool = True
) -> Any:
    """X as a finite float64 or float32 array (or CSR matrix), its width remembered or compared.

    With `allow_missing` a value may be NaN; without `check` the caller looks at the values (`check_finite`).
    """
    given, X = X, as_table(X)
    require_table(X, least_rows=2 if reset else 1)
    if not accept_sparse:
        _require_dense(X, type(estimator).__name__)
    if issparse(X):
        require_indices(X)
    require_numbers(X)
    rows = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=(np.float64, np.float32),
        order=None if issparse(X) else "C",
        accept_sparse="csr" if accept_sparse else False,
        ensure_all_finite=False,  # below, with the place
        ensure_min_samples=2 if reset else 1,
    )
    if check:
        check_finite(rows, "X", allow_missing=allow_missing, names=getattr(estimator, "feature_names_in_", None))
    return _owned(rows, given) if reset else rows


def _require_dense(X: Any, reader: str) -> None:
    if issparse(X):
        what, reduced, dense = "sparse matrix", "it", "X.toarray()"
    elif hasattr(X, "sparse"):  # which a DataFrame has where all of its columns are
        what, reduced, dense = "table of sparse columns", "X.sparse.to_coo()", "X.sparse.to_dense()"
    else:
        return
    raise InputError(
        f"X is a {what} of {X.shape[0]} x {X.shape[1]} and {reader} reads dense rows: reduce {reduced} first "
        f"(sklearn.decomposition.TruncatedSVD) or pass {dense} if that fits in memory."
    )


def _owned(rows: Any, given: Any) -> Any:
    """Rows that no change of the user's own array reaches: a fitted model reads them again."""
    if isinstance(given, list | tuple) or (isinstance(given, np.memmap) and given.mode == "r"):
        return rows
    if isinstance(given, np.ndarray) and not np.may_share_memory(rows, given):
        return rows  # converted
    size = rows.data.nbytes + rows.indices.nbytes if issparse(rows) else rows.nbytes
    require_room(size, f"a copy of X ({rows.shape[0]:,} x {rows.shape[1]:,}) that the model can keep")
    return rows.copy()


def read_places(Y: Any, n_components: int) -> Floats:
    """Places on a map of this many dimensions."""
    Y = as_table(Y, "Y")
    require_table(Y, 1, "Y")
    require_numbers(Y, "Y")
    places: Floats = check_array(Y, dtype=np.float64, ensure_all_finite=False, input_name="Y")
    check_finite(places, "Y")
    if places.shape[1] != n_components:
        raise InputError(
            f"Y has {places.shape[1]} columns and the map has n_components={n_components}: pass places on the map."
        )
    return places


def check_finite(X: Any, name: str, *, allow_missing: bool = False, names: Sequence[str] | None = None) -> bool:
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
    raise InputError(
        f"{name} contains {what} in row {rows[0]}, {_named(columns[0], names)} ({such}), which is at no distance from "
        "anything: remove these rows or fill them in (sklearn.impute)."
    )


def _places(X: Any, chosen: Any) -> tuple[Integers, Integers]:
    """Row and column of the chosen values, row by row."""
    if issparse(X):
        entries = X.tocoo()
        return entries.row[chosen], entries.col[chosen]
    rows, columns = np.nonzero(chosen)
    return rows, columns


def _named(column: int, names: Sequence[str] | None) -> str:
    return f"column {column}" if names is None else f"column '{names[column]}'"

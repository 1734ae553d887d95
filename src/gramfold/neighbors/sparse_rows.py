"""Sparse rows: one form for all (CSR, columns ascending, nothing stored that is 0), and which of them are equal."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gramfold.errors import InputError
from gramfold.types import Floats, Integers

_ODD = 0x9E3779B97F4A7C15  # multipliers of the row keys: odd numbers with mixed bits
_OTHER = 0xC2B2AE3D27D4EB4F


def canonical(X: Any) -> csr_array:
    """The rows with columns ascending, repeated entries summed and zeros not stored; X itself where it is so."""
    rows = X if isinstance(X, csr_array) else csr_array(X)
    if rows.has_canonical_format and np.all(rows.data):
        return rows
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def as_sparse(X: Any) -> csr_array:
    """Rows in the canonical form, sparse or dense as they come: a few new rows for many sparse ones."""
    return canonical(X if issparse(X) else csr_array(X))


def require_dense_queries(queries: Any) -> None:
    """Refuse sparse new rows of a model of dense rows."""
    if issparse(queries):
        size = queries.shape[0] * queries.shape[1] * 8 / 1e9
        raise InputError(
            f"the new rows are sparse ({queries.shape[0]:,} x {queries.shape[1]:,}), but the model was fitted on dense "
            f"rows: pass X.toarray() ({size:.2g} GB), or fit on sparse rows."
        )


def numbers_per_row(X: Any) -> int:
    """How many numbers a row holds: its columns or, of sparse rows, the entries of the average one."""
    return int(X.nnz // max(1, X.shape[0]) + 1 if issparse(X) else X.shape[1])


def row_labels(rows: csr_array) -> Integers:
    """A number for each row of a canonical table, the same for equal rows and for no others."""
    n = rows.shape[0]
    labels = np.arange(n)
    _, label, counts = np.unique(_row_hashes(rows), return_inverse=True, return_counts=True)
    candidates = np.flatnonzero(counts[label] > 1)
    known: dict[bytes, int] = {}
    for number, key in zip(candidates, _row_bytes(rows[candidates]), strict=True):
        labels[number] = known.setdefault(key, int(number))
    return labels


def find_rows(new: csr_array, old: csr_array) -> Integers:
    """(n_new,) the first old row that equals each new one; -1 where none does. Both are canonical."""
    dtype = np.result_type(new.dtype, old.dtype)
    new, old = new.astype(dtype, copy=False), old.astype(dtype, copy=False)
    known: dict[bytes, int] = {}
    for number, key in enumerate(_row_bytes(old)):
        known.setdefault(key, number)
    return np.array([known.get(key, -1) for key in _row_bytes(new)], dtype=np.intp)


def differ(rows: Any, first: Integers, second: Integers) -> NDArray[np.bool_]:
    """Whether each of the first rows of a table, dense or sparse, differs from the second."""
    if not issparse(rows):
        return np.asarray((rows[first] != rows[second]).any(axis=1))
    return np.asarray(np.diff(canonical(rows[first] - rows[second]).indptr) > 0)


def squared_lengths(rows: csr_array) -> Floats:
    """|x|² of each row (n,), in float64; a canonical row is summed from its first column to its last."""
    from gramfold.neighbors.sparse_kernels import row_squares

    squares = np.empty(rows.shape[0])
    row_squares(rows.indptr, rows.data, squares)
    return squares


def isometric_rows(rows: csr_array) -> Floats:
    """Dense rows (n, at most n) in float64 that are as far apart as these: of few columns these, else turned ones."""
    from scipy.linalg import eigh

    n, d = rows.shape
    if d <= n:
        return np.asarray(rows.toarray(), dtype=np.float64)
    wide = rows.astype(np.float64)
    values, vectors = eigh((wide @ wide.T).toarray())
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _row_hashes(rows: csr_array) -> Integers:
    """An integer hash of each row: equal for equal rows, and rarely for others."""
    bits = rows.data.astype(np.float64).view(np.uint64)
    keys = (bits ^ (bits >> np.uint64(32))) * np.uint64(_ODD)
    keys = (keys ^ (keys >> np.uint64(29))) * (rows.indices.astype(np.uint64) * np.uint64(_OTHER) | np.uint64(1))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(keys, dtype=np.uint64)])
    return np.asarray(np.diff(sums[rows.indptr]))  # which wrap around alike


def _row_bytes(rows: csr_array) -> list[bytes]:
    """Columns and values of the entries of each row."""
    columns, values = rows.indices.astype(np.int64), rows.data
    return [columns[start:end].tobytes() + values[start:end].tobytes() for start, end in pairwise(rows.indptr)]

"""Rows that two tables have in common, by their values."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramfold.neighbors.duplicates import KnownRows, collapse_rows
from gramfold.types import Integers


def common_rows(new: Any, old: Any) -> Integers:
    """(m, 2) row indices of the new rows that equal an old one, each with the first that it equals.

    Either table may be sparse. If one is float32, values are compared in float32. A missing value equals no other.
    """
    dtype = min(new.dtype, old.dtype, key=lambda one: np.dtype(one).itemsize)
    with np.errstate(over="ignore"):
        new, old = new.astype(dtype, copy=False), old.astype(dtype, copy=False)
    if issparse(new) or issparse(old):
        found = _find_sparse(csr_array(new), csr_array(old))
    else:
        first = collapse_rows(old).first  # else all pairs of duplicates would be compared
        found = KnownRows(old if len(first) == len(old) else old[first]).find(new)
        found = np.where(found < 0, -1, first[found])
    matched = np.flatnonzero(found >= 0)
    return np.column_stack([matched, found[matched]])


def _find_sparse(new: csr_array, old: csr_array) -> Integers:
    """(n_new,) the first old row that equals each new one; -1 where none does."""
    known: dict[bytes, int] = {}
    for number, key in enumerate(_sparse_keys(old)):
        known.setdefault(key, number)
    return np.array([known.get(key, -1) for key in _sparse_keys(new)], dtype=np.intp)


def _sparse_keys(rows: csr_array) -> list[bytes]:
    """Columns and values of the entries of each row that are not 0."""
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    columns, values = rows.indices.astype(np.int64), rows.data
    return [columns[start:end].tobytes() + values[start:end].tobytes() for start, end in pairwise(rows.indptr)]

"""Rows that two tables have in common, by their values."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.neighbors.duplicates import KnownRows, collapse_rows
from gramfold.neighbors.sparse_rows import as_sparse, find_rows
from gramfold.types import Integers


def common_rows(new: Any, old: Any) -> Integers:
    """(m, 2) row indices of the new rows that equal an old one, each with the first that it equals.

    Either table may be sparse. If one is float32, values are compared in float32. A missing value equals no other.
    """
    dtype = min(new.dtype, old.dtype, key=lambda one: np.dtype(one).itemsize)
    with np.errstate(over="ignore"):
        new, old = new.astype(dtype, copy=False), old.astype(dtype, copy=False)
    if issparse(new) or issparse(old):
        found = find_rows(as_sparse(new), as_sparse(old))
    else:
        first = collapse_rows(old).first  # else all pairs of duplicates would be compared
        found = KnownRows(old if len(first) == len(old) else old[first]).find(new)
        found = np.where(found < 0, -1, first[found])
    matched = np.flatnonzero(found >= 0)
    return np.column_stack([matched, found[matched]])

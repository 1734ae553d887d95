"""A graph, or lists of neighbours, without some edges."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gramfold.types import Integers, Neighbors


def without_edges(lengths: csr_array, pairs: Integers) -> csr_array:
    """The symmetric matrix without the entries of these pairs (m, 2), both ways; stored zeros are kept."""
    n = lengths.shape[0]
    rows = np.repeat(np.arange(n), np.diff(lengths.indptr))
    kept = ~are_among(rows, lengths.indices, pairs, n)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows[kept], minlength=n)))).astype(lengths.indptr.dtype)
    return csr_array((lengths.data[kept], lengths.indices[kept], indptr), shape=lengths.shape)


def without_choices(lists: Neighbors, pairs: Integers) -> Neighbors:
    """Lists in which neither row of a pair has the other."""
    return lists.keep(~are_among(lists.rows, lists.indices, pairs, lists.n_vertices))


def are_among(rows: Integers, columns: Integers, pairs: Integers, n: int) -> NDArray[np.bool_]:
    """Which of the entries (row, column) of n vertices are among these pairs, in either order."""
    i, j = pairs.astype(np.int64).T
    return np.isin(rows.astype(np.int64) * n + columns, np.concatenate([i * n + j, j * n + i]))

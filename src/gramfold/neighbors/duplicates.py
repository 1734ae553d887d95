"""Identical rows are one vertex that counts several times.

Zero-length edges would break 1/d weights and conformal lengths, and k copies of a point would be its k
neighbours and cut it off from everybody else.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramfold.types import Floats, Integers


@dataclass(frozen=True)
class Collapse:
    """Which data rows are the same point."""

    first: Integers  # (n_vertices,) the first data row of each vertex, ascending
    vertex: Integers  # (n_rows,) the vertex of each data row
    multiplicity: Floats  # (n_vertices,)

    def __len__(self) -> int:
        return len(self.first)


def no_duplicates(n: int) -> Collapse:
    """Every row is a vertex of its own."""
    return Collapse(np.arange(n), np.arange(n), np.ones(n))


def collapse_rows(X: Floats) -> Collapse:
    """Group identical rows of a table."""
    # One column without a repeated value settles it for nearly all measured data.
    if len(np.unique(X[:, 0])) == len(X):
        return no_duplicates(len(X))
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 becomes 0.0, so that equal values have equal bytes
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return _from_labels(np.unique(keys, return_inverse=True)[1].ravel())


def collapse_distances(distances: Floats) -> Collapse:
    """Group the points of a distance matrix that are at distance 0 and see all others alike."""
    n = len(distances)
    rows, columns = np.nonzero(distances == 0)
    above = rows < columns
    pairs = [
        (i, j) for i, j in zip(rows[above], columns[above], strict=True) if np.array_equal(distances[i], distances[j])
    ]
    if not pairs:
        return no_duplicates(n)
    i, j = np.array(pairs).T
    same = csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    return _from_labels(connected_components(same, directed=False)[1])


def _from_labels(labels: Integers) -> Collapse:
    _, first, vertex, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)  # vertices keep the order in which the rows came
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return Collapse(first[order], place[vertex], counts[order].astype(np.float64))

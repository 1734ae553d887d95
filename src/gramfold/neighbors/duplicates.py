"""Collapse duplicate rows to one vertex with a multiplicity.

Zero-length edges would break 1/d weights and conformal lengths, and k copies of a point would be its k
neighbours and disconnect it from all other rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from gramfold.neighbors.sparse_rows import as_sparse, canonical, find_rows, row_labels
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers, Plain

_SOME = 64  # columns
_ENTRIES_PER_BLOCK = 1_000_000
_ODD = 2_654_435_761  # multiplier of the row keys: any odd number with mixed bits


@dataclass(frozen=True)
class Collapse:
    """Groups of duplicate rows."""

    first: Integers  # (n_vertices,) the first row of each vertex, ascending
    vertex: Integers  # (n_rows,) the vertex of each row
    multiplicity: Floats  # (n_vertices,) how many rows it stands for, or the sum of their weights

    def __len__(self) -> int:
        return len(self.first)

    @property
    def counts(self) -> Floats:
        """How many rows each vertex has, whatever these weigh, (n_vertices,)."""
        return np.bincount(self.vertex, minlength=len(self)).astype(np.float64)

    def weighted(self, weights: Floats) -> Self:
        """The same groups of rows that have these weights: a weight of 2 is a row that is there twice."""
        sums = np.bincount(self.vertex, weights=weights, minlength=len(self))
        return replace(self, multiplicity=np.asarray(sums, dtype=np.float64))


def no_duplicates(n: int) -> Collapse:
    """Groups of one row each."""
    everybody = np.arange(n)  # one array: a pickle holds it once
    return Collapse(everybody, everybody, np.ones(n))


def collapse_rows(X: Any) -> Collapse:
    """Group identical rows of a table, dense or sparse."""
    if issparse(X):
        return collapse_labels(row_labels(canonical(X)))
    # One column without a repeated value is enough for nearly all measured data, some columns for nearly all images.
    if len(np.unique(X[:, 0])) == len(X):
        return no_duplicates(len(X))
    candidates = np.arange(len(X))
    for columns in (slice(0, None, -(-X.shape[1] // _SOME)), slice(None)):
        part = X[:, columns] if len(candidates) == len(X) else X[candidates, columns]
        _, label, counts = np.unique(_row_keys(part), return_inverse=True, return_counts=True)
        candidates = candidates[counts[label] > 1]
        if not candidates.size:
            break
    return _group(X, candidates)


def collapse_distances(distances: Floats, tolerance: float = 0.0) -> Collapse:
    """Group points of a distance matrix at distance 0 whose distances to all others are equal, up to the tolerance."""
    zeros = np.count_nonzero(distances == 0, axis=1)
    first = np.arange(len(distances))  # the first point of each group
    for i in np.flatnonzero(zeros > (np.diag(distances) == 0)):
        for j in np.unique(first[np.flatnonzero(distances[i, :i] == 0)]):
            if np.abs(distances[i] - distances[j]).max() <= tolerance:
                first[i] = j
                break
    return collapse_labels(first)


@dataclass(frozen=True, eq=False)
class KnownRows(Plain):
    """Look-up of rows by their values."""

    rows: Any  # (n, d) dense or sparse

    @cached_property
    def _ascending(self) -> tuple[Integers, Integers]:
        """Keys of the rows, ascending, and their row indices."""
        keys = _wide_keys(self.rows)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def find(self, rows: Any) -> Integers:
        """(m,) the first known row that equals each of these; -1 where none does."""
        if issparse(self.rows):
            return find_rows(as_sparse(rows), canonical(self.rows))
        i, j = self.pairs(rows)
        found = np.full(len(rows), -1)
        found[i[::-1]] = j[::-1]
        return found

    def pairs(self, rows: Floats) -> tuple[Integers, Integers]:
        """All pairs of equal rows: indices of these rows, and of the known ones."""
        known, order = self._ascending
        keys = _wide_keys(rows)
        start, end = (np.searchsorted(known, keys, side) for side in ("left", "right"))
        counts = end - start
        i = np.repeat(np.arange(len(rows)), counts)
        place = np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)
        j = order[start[i] + place]
        equal = np.empty(len(i), dtype=bool)
        for part in _row_blocks(len(i), rows.shape[1]):
            equal[part] = (rows[i[part]] == self.rows[j[part]]).all(axis=1)
        return i[equal], j[equal]


def _row_blocks(n: int, width: int) -> list[slice]:
    return blocks(n, max(1, _ENTRIES_PER_BLOCK // width))


def _wide_keys(rows: Floats) -> Integers:
    """Keys of the values, independent of the dtype."""
    keys = np.empty(len(rows), dtype=np.uint64)
    for part in _row_blocks(len(rows), rows.shape[1]):
        keys[part] = _row_keys(rows[part].astype(np.float64, copy=False))
    return keys


def _row_keys(X: Floats) -> Integers:
    """An integer hash of each row: equal for equal rows, and rarely for others."""
    bits = _canonical(X).view(f"u{X.itemsize}")
    bits ^= bits >> (4 * X.itemsize)  # short numbers leave their lower half empty
    weights = np.cumprod(np.full(X.shape[1], _ODD, dtype=bits.dtype), dtype=bits.dtype)
    return np.asarray(bits @ weights)


def _canonical(X: Floats) -> Floats:
    return np.ascontiguousarray(X + 0.0)  # -0.0 becomes 0.0, so that equal values have equal bytes


def _group(X: Floats, candidates: Integers) -> Collapse:
    """Group rows of which only the candidates may be equal to another."""
    if not candidates.size:
        return no_duplicates(len(X))
    rows = _canonical(X[candidates])
    whole_rows = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    labels = np.arange(len(X))
    labels[candidates] = len(X) + np.unique(whole_rows, return_inverse=True)[1].ravel()
    return collapse_labels(labels)


def collapse_labels(labels: Integers) -> Collapse:
    """Group rows by their label."""
    _, first, vertex, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)  # vertices keep the order of the rows
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return Collapse(first[order], place[vertex], counts[order].astype(np.float64))

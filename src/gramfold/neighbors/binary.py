"""Jaccard and Hamming distances of rows of 0 and 1, from products: 0-1 rows have |a ∩ b| = a·b.

    Jaccard   1 − |a ∩ b| / |a ∪ b|, 0 for two empty rows;    Hamming   (|a| + |b| − 2 |a ∩ b|) / columns

Counts are integers, which products in float32 hold exactly, so distances are those of SciPy to the last bit.

An approximate search goes by Euclidean distances. Those of 0-1 rows are the root of Hamming's. For Jaccard rows of unit
length are searched, whose distances grow as |a ∩ b| / √(|a| |b|) falls, and more of the nearest are taken.
"""

from dataclasses import dataclass

import numpy as np

from gramfold.errors import InputError
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers

_MOST_COLUMNS = 2**24  # float32 holds all integers up to this

_ENTRIES_PER_BLOCK = 1_000_000
_FEWEST_CANDIDATES, _MORE_CANDIDATES = 48, 3  # nearest by angle, among which the nearest by Jaccard are


def is_binary(X: Floats) -> bool:
    """Whether all values are 0 or 1."""
    if X.shape[1] >= _MOST_COLUMNS:
        return False
    parts = blocks(len(X), max(1, _ENTRIES_PER_BLOCK // X.shape[1]))
    return all(bool(((X[part] == 0) | (X[part] == 1)).all()) for part in parts)


@dataclass(frozen=True, eq=False)
class BinaryMetric(Metric):
    """Jaccard's or Hamming's distance to training rows of 0 and 1; new rows may hold any values."""

    def prepare(self, X: Floats) -> Floats:
        """In float32 where all values are 0 or 1, else in float64."""
        return (
            np.ascontiguousarray(X, np.float32) if is_binary(X) else super().prepare(X.astype(np.float64, copy=False))
        )

    def block(self, left: Floats, right: Floats) -> Floats:
        """All distances from any rows to training rows, raw or prepared."""
        if not is_binary(left):
            return super().block(left, right)
        left, right = (np.ascontiguousarray(rows, dtype=np.float32) for rows in (left, right))
        return self._of_counts(left @ right.T, _counts(left)[:, None], _counts(right)[None, :], left.shape[1])

    def _pairs(self, left: Floats, i: Integers, right: Floats, j: Integers, out: Floats) -> None:
        if left.dtype != np.float32 or right.dtype != np.float32:  # not prepared from 0 and 1
            super()._pairs(left, i, right, j, out)
            return
        from gramfold.neighbors.distance_kernels import pair_products

        common = np.empty(len(i), dtype=np.float32)
        pair_products(left, i, right, j, common)
        out[:] = self._of_counts(common, _counts(left)[i], _counts(right)[j], left.shape[1])

    def _of_counts(self, common: Floats, left: Floats, right: Floats, width: int) -> Floats:
        """Distances from |a ∩ b|, |a| and |b|."""
        both = left + right  # float64
        if self.name == "hamming":
            return np.asarray((both - 2.0 * common) / width)
        union = both - common
        differ = union - common
        return np.asarray(np.divide(differ, union, out=np.zeros_like(union), where=union > 0))

    @property
    def approximable(self) -> bool:
        return True

    def candidates(self, k: int) -> int:
        return k if self.name == "hamming" else max(_FEWEST_CANDIDATES, _MORE_CANDIDATES * k)

    def vectors(self, rows: Floats) -> Floats:
        if rows.dtype != np.float32:
            raise InputError(
                "new rows hold values other than 0 and 1, but the training rows are of 0 and 1, which the approximate "
                f"search with metric={self.name!r} needs: correct them, or fit with search='exact'."
            )
        if self.name == "hamming":
            return rows
        lengths = np.sqrt(_counts(rows))
        return np.asarray(rows / np.where(lengths > 0, lengths, 1.0).astype(np.float32)[:, None])


def _counts(rows: Floats) -> Floats:
    """Number of ones of each row, in float64."""
    return np.asarray(rows @ np.ones(rows.shape[1], dtype=np.float32), dtype=np.float64)

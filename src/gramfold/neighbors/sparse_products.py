"""All products of sparse rows, a block at a time.

x·y = Σ over the columns that x and y both have. Column by column that takes Σ (entries of the column)² steps, of which
those of texts spend nearly all in the few columns that most rows have. Such columns are a narrow dense table, whose
products linear algebra computes some thirty times as fast; the others are added one by one from their columns (CSC).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from gramfold.neighbors.sparse_rows import squared_lengths
from gramfold.types import Floats, Integers

# A column that this share of the rows has is cheaper in a product of dense tables. The table has at most 1/share times
# as many entries as the sparse one.
_SHARE = 0.12
_UNDERFLOW = 2.0**-140  # more than the roundings of a term that is no normal number of float32


@dataclass(frozen=True, eq=False)
class Products:
    """Rows that others are multiplied with."""

    points: csr_array  # (n, d) canonical
    common: Integers  # columns that many rows have, ascending

    @classmethod
    def of(cls, points: csr_array, share: float = _SHARE) -> Self:
        """Of these rows."""
        counts = np.bincount(points.indices, minlength=1)
        return cls(points, np.flatnonzero(counts > share * points.shape[0]))

    @cached_property
    def squares(self) -> Floats:
        """|y|² of each row, (n,)."""
        return squared_lengths(self.points)

    @cached_property
    def lengths(self) -> Floats:
        """|y| of each row, (n,)."""
        return np.sqrt(self.squares)

    @cached_property
    def nonnegative(self) -> bool:
        """Whether no entry is negative: then a product of 0 is one of rows without a common column."""
        return bool(self.points.data.min(initial=0.0) >= 0)

    @cached_property
    def most_entries(self) -> int:
        """Of a row."""
        return int(np.diff(self.points.indptr).max(initial=0))

    @cached_property
    def _rare(self) -> csc_array:
        """The other columns, in the dtype of the rows."""
        return csc_array(_without(self.points, self._is_common))

    @cached_property
    def _is_common(self) -> NDArray[np.bool_]:
        mask = np.zeros(self.points.shape[1], dtype=bool)
        mask[self.common] = True
        return mask

    @cached_property
    def _power(self) -> int:
        """Of two: rows over it are no longer than 1, so that no product in float32 overflows."""
        return _power_of(self.squares)

    @cached_property
    def _narrow(self) -> Floats:
        """The rare columns in float32."""
        return _float32(self._rare.data, self._power)

    @cached_property
    def _dense(self) -> Floats:
        """The common columns, (common, n) in float32."""
        return np.ascontiguousarray(_float32(self._table(self.points), self._power).T)

    @cached_property
    def _wide_dense(self) -> Floats:
        return np.ascontiguousarray(self._table(self.points).astype(np.float64, copy=False).T)

    def _table(self, rows: csr_array) -> Floats:
        """The common columns of some rows, dense."""
        table = np.zeros((rows.shape[0], len(self.common)), dtype=rows.dtype)
        if not self.common.size:
            return table
        place = np.searchsorted(self.common, rows.indices)
        place[place == len(self.common)] = 0
        there = self.common[place] == rows.indices
        owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        table[owner[there], place[there]] = rows.data[there]
        return table

    def prepare(self, *, wide: bool = False) -> None:
        """Compute what blocks need, before threads ask for it."""
        for name in ("squares", "lengths", "most_entries", "nonnegative", "_rare"):
            getattr(self, name)
        for name in ("_wide_dense",) if wide else ("_narrow", "_dense"):
            getattr(self, name)

    def narrow(self, rows: csr_array, own: Floats) -> "Block":
        """x·y for a few rows x with these |x|², in float32."""
        power = _power_of(own)
        common = _float32(self._table(rows), power) if self.common.size else None
        found = self._multiplied(rows, _float32(rows.data, power), common, self._dense, self._narrow)
        factor = 2.0 ** (power + self._power)
        terms = np.minimum(np.diff(rows.indptr), self.most_entries) + 4.0  # roundings of the factors, and of their sum
        slack = 2.0 * float(np.finfo(np.float32).eps) * terms * np.sqrt(own)
        return Block(found, 2.0 * factor, slack, float(terms.max(initial=0.0)) * _UNDERFLOW * factor)

    def wide(self, rows: csr_array, own: Floats) -> "Block":
        """The same in float64."""
        common = self._table(rows).astype(np.float64, copy=False) if self.common.size else None
        values = self._rare.data.astype(np.float64, copy=False)
        found = self._multiplied(rows, rows.data.astype(np.float64, copy=False), common, self._wide_dense, values)
        terms = np.minimum(np.diff(rows.indptr), self.most_entries) + 4.0
        return Block(found, 2.0, 2.0 * float(np.finfo(np.float64).eps) * terms * np.sqrt(own), 0.0)

    def _multiplied(
        self, rows: csr_array, data: Floats, common: Floats | None, dense: Floats, values: Floats
    ) -> Floats:
        from gramfold.neighbors.sparse_kernels import add_products

        if common is None:
            products = np.zeros((rows.shape[0], self.points.shape[0]), dtype=data.dtype)
        else:
            products = common @ dense
        rare = self._rare
        add_products(rows.indptr, rows.indices, data, rare.indptr, rare.indices, values, products)
        return products


@dataclass(frozen=True, eq=False)
class Block:
    """Products of a few rows x with all rows y, and how far |y|² − 2 x·y may be off: by slack(x) |y| + floor."""

    products: Floats  # (m, n)
    twice: float  # times these they are 2 x·y
    slack: Floats  # (m,)
    floor: float  # by products too small for float32


def _power_of(squares: Floats) -> int:
    return int(np.frexp(np.sqrt(squares.max(initial=0.0)))[1])


def _float32(values: Floats, power: int) -> Floats:
    with np.errstate(under="ignore"):
        return np.asarray(np.ldexp(values, -power).astype(np.float32, copy=False))


def _without(rows: csr_array, mask: NDArray[np.bool_]) -> csr_array:
    """The rows without the entries in these columns."""
    if not mask.any():
        return rows
    kept = ~mask[rows.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[rows.indptr].astype(rows.indptr.dtype)
    return csr_array((rows.data[kept], rows.indices[kept], ends), shape=rows.shape)

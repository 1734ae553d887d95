"""Exact search among sparse rows: products of all pairs by blocks in float32, what they leave open in float64.

    |x − y|² − |x|² ≥ |y|² − 2 x·y − s(x) |y|,     s(x) bounding the rounding of float32

The rows with the least bounds are candidates. Their distances are computed from differences. Where the least bound left
out is not above the k-th distance (many ties, say), the row is searched again by float64 products.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.neighbors.index import ROUNDING, VectorIndex, sort_lists
from gramfold.neighbors.sparse_products import Products
from gramfold.neighbors.sparse_rows import as_sparse, canonical, squared_lengths
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import ROWS, Floats, Integers

_ENTRIES_PER_BLOCK = 1_000_000  # of float32 products, which stay in the cache of a core
_SPARE = 6  # candidates beyond k
_PAIRS_PER_ROW = 64  # that may be within a radius, at first


@dataclass(frozen=True, eq=False)
class SparseRowsIndex(VectorIndex):
    """All products, a block of rows at a time; for the Euclidean and the cosine metric."""

    points: Any = field(metadata=ROWS)  # (n, d) CSR in the canonical form

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", canonical(self.points))

    @property
    def size(self) -> int:
        return int(self.points.shape[0])

    @cached_property
    def _products(self) -> Products:
        return Products.of(self.rows)

    @property
    def _angular(self) -> bool:
        return self.metric.name == "cosine"

    def _prepared(self, queries: Any) -> csr_array:
        return self.metric.prepare(as_sparse(queries))

    def _nearest(self, rows: Any, k: int, stages: Stages) -> tuple[Integers, Floats]:
        from gramfold.neighbors.sparse_kernels import least_bounds

        m, more = rows.shape[0], min(k + _SPARE, self.size)
        candidates, farthest = np.empty((m, more), dtype=np.intp), np.empty(m)
        products, own = self._products, self._squares_of(rows)
        products.prepare()

        def work(part: slice) -> None:
            block, bounds = products.narrow(rows[part], own[part]), np.empty((part.stop - part.start, more))
            least_bounds(
                block.products, block.twice, block.slack, products.squares, products.lengths, candidates[part], bounds
            )
            farthest[part] = bounds[:, -1] + own[part] - block.floor

        with one_blas_thread():
            run_blocks(work, self._parts(m), self.n_jobs, stages=stages, what="search")
        owners = np.repeat(np.arange(m), more)
        exact = self.metric.pairs(rows, owners, self.rows, candidates.ravel(), self.n_jobs).reshape(candidates.shape)
        indices, distances = sort_lists(candidates, exact)
        indices, distances = indices[:, :k], distances[:, :k]
        if more < self.size:
            limit = self._limit(distances)
            doubtful = np.flatnonzero(farthest <= limit)
            if doubtful.size:
                found = self._nearest_in_doubt(rows[doubtful], k, limit[doubtful])
                indices[doubtful], distances[doubtful] = found
        return indices, distances

    def _nearest_in_doubt(self, rows: Any, k: int, limit: Floats) -> tuple[Integers, Floats]:
        """Every row within the squared length `limit` is looked at."""
        from gramfold.neighbors.sparse_kernels import exact_nearest

        m, known = rows.shape[0], self.rows
        indices, distances = np.empty((m, k), dtype=np.intp), np.empty((m, k))
        products, own = self._products, self._squares_of(rows)
        products.prepare(wide=True)
        nonnegative = products.nonnegative and bool(rows.data.min(initial=0.0) >= 0)

        def work(part: slice) -> None:
            some = rows[part]
            block = products.wide(some, own[part])
            exact_nearest(
                some.indptr, some.indices, some.data, block.products, block.slack, own[part],
                limit[part] * (1.0 + ROUNDING), nonnegative, known.indptr, known.indices, known.data,
                products.squares, products.lengths, self._angular, indices[part], distances[part],
            )  # fmt: skip

        with one_blas_thread():
            run_blocks(work, self._parts(m), self.n_jobs)
        return indices, distances

    def _squares_of(self, rows: Any) -> Floats:
        return self._products.squares if rows is self.rows else squared_lengths(rows)

    def _limit(self, distances: Floats) -> Floats:
        """The squared length that belongs to the last distance of each row."""
        return np.asarray(self.metric.search_length(distances[:, -1])) ** 2 * (1.0 + ROUNDING)

    def _parts(self, m: int) -> list[slice]:
        return blocks(m, max(1, _ENTRIES_PER_BLOCK // self.size))

    def _within(self, rows: Any, reach: Floats, reaches: Floats | None) -> tuple[Integers, Integers, Floats]:
        from gramfold.neighbors.sparse_kernels import pairs_within

        products, own = self._products, self._squares_of(rows)
        products.prepare()
        squared = self._squared_reach(reach)
        squares = np.full(self.size, -np.inf) if reaches is None else self._squared_reach(reaches)

        def work(part: slice) -> tuple[Integers, Integers]:
            block, count = products.narrow(rows[part], own[part]), np.zeros(1, dtype=np.intp)
            room = _PAIRS_PER_ROW * (part.stop - part.start)
            while True:
                i, j = np.empty(room, dtype=np.intp), np.empty(room, dtype=np.intp)
                pairs_within(
                    block.products, block.twice, block.slack, own[part] - block.floor, products.squares,
                    products.lengths, squared[part], squares, i, j, count,
                )  # fmt: skip
                if count[0] <= room:
                    return i[: count[0]] + part.start, j[: count[0]]
                room = int(count[0])

        with one_blas_thread():
            found = run_blocks(work, self._parts(rows.shape[0]), self.n_jobs)
        i, j = (np.concatenate(column) for column in zip(*found, strict=True))
        return i, j, self.metric.pairs(rows, i, self.rows, j, self.n_jobs)

    def _squared_reach(self, reach: Floats) -> Floats:
        # a little more than asked, since products round differently; the caller cuts exactly
        return np.asarray(self.metric.search_length(reach)) ** 2 * (1.0 + 1e-9)

    def vertex_grams(self, vertices: Integers) -> Callable[[Integers, Integers], Floats]:
        return lambda r, j: _difference_grams(self.points, vertices[r], self.points, vertices[j])

    def query_grams(self, queries: Any) -> Callable[[Integers, Integers], Floats]:
        asked = as_sparse(queries)
        return lambda r, j: _difference_grams(asked, r, self.points, j)


def _difference_grams(centers: csr_array, numbers: Integers, points: csr_array, lists: Integers) -> Floats:
    from gramfold.neighbors.sparse_kernels import difference_grams

    grams = np.empty((len(lists), lists.shape[1], lists.shape[1]))
    difference_grams(
        centers.indptr, centers.indices, centers.data, np.asarray(numbers), points.indptr, points.indices, points.data,
        np.ascontiguousarray(lists), grams,
    )  # fmt: skip
    return grams

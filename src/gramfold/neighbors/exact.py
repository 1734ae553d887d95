"""Exact search: a k-d tree in few dimensions, all distances by blocks in many."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self

import numpy as np

from gramfold.errors import InputError
from gramfold.neighbors.index import ROUNDING, VectorIndex, sort_lists, without
from gramfold.neighbors.join import USUAL, Seeming, plan, seeming_nearest, seeming_neighbors, seeming_within
from gramfold.neighbors.leading import Axes
from gramfold.neighbors.plain_distances import plain_smallest, smallest
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, one_blas_thread, openmp_threads, run_blocks
from gramfold.types import Floats, Integers, Neighbors

_QUERIES_PER_TASK = 4_000  # of a thread of our pool: an interrupt while SciPy's own threads run would end the process
_ROWS_PER_BLOCK = 1_000
_FEW_ENTRIES = 200_000  # of which the smallest are found before scikit-learn's search has looked at its parameters
# Candidates taken beyond k from rounded distances, so that the check below seldom fails.
_SPARE = 4


@dataclass(frozen=True, eq=False)
class TreeIndex(VectorIndex):
    """k-d tree; for Euclidean, cosine and Minkowski metrics."""

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.rows)

    def _nearest(self, rows: Floats, k: int, stages: Stages) -> tuple[Integers, Floats]:
        indices = np.empty((len(rows), k), dtype=np.intp)
        distances = np.empty((len(rows), k))
        # The tree's own rows are searched leaf by leaf: near rows visit the same nodes, which are then in the cache.
        # (Rows that two threads prepared at once may not be recognised as its own: then only the order differs.)
        order = self._tree.indices if rows is self.rows else np.arange(len(rows))
        parts = blocks(len(rows), self.costs.queries_per_block)
        for part in stages.bar(parts, len(parts), "search"):
            asked = order[part]
            indices[asked], distances[asked] = self._nearest_block(rows[asked], k)
        return indices, distances

    def _nearest_block(self, rows: Floats, k: int) -> tuple[Integers, Floats]:
        more = min(k + 1, self.size)  # one more shows whether there is a tie for the last place
        found, farthest = np.empty((len(rows), more), dtype=np.intp), np.empty(len(rows))

        def work(part: slice) -> None:
            lengths, near = self._tree.query(rows[part], more, p=self.metric.searched_power)
            found[part], farthest[part] = near.reshape(-1, more), lengths.reshape(-1, more)[:, -1]

        run_blocks(work, blocks(len(rows), _QUERIES_PER_TASK), self.n_jobs)
        if (found == self.size).any():  # which stands for nobody
            raise InputError(
                "distances between rows of X overflow, so that their nearest neighbours are not known: divide X by a "
                "constant."
            )
        indices, distances = sort_lists(found, self._measure(rows, found))
        if more > k:
            limit = distances[:, k - 1] * (1.0 + ROUNDING)
            exact = self.metric.searched_power == self.metric.p
            tied = np.flatnonzero((distances[:, k] if exact else farthest) <= limit)
            # every row as near as the last may take its place
            for part in blocks(len(tied), self.costs.tied_per_block):
                near = self._ties(rows[tied[part]], limit[tied[part]])
                places = near.indptr[:-1, None] + np.arange(k)
                indices[tied[part], :k], distances[tied[part], :k] = near.indices[places], near.distances[places]
        return indices[:, :k], distances[:, :k]

    def _ties(self, rows: Floats, limit: Floats) -> Neighbors:
        i, j = self._ball(self._tree, rows, self._search_radius(limit))
        return Neighbors.from_pairs(i, j, self.metric.pairs(rows, i, self.rows, j, self.n_jobs), (len(rows), self.size))

    def _measure(self, rows: Floats, found: Integers) -> Floats:
        owners = np.repeat(np.arange(len(rows)), found.shape[1])
        return self.metric.pairs(rows, owners, self.rows, found.ravel(), self.n_jobs).reshape(found.shape)

    def _search_radius(self, distance: Floats) -> Floats:
        # a little more than asked, since the tree rounds differently; the caller cuts exactly
        return np.asarray(self.metric.search_length(distance)) * (1.0 + 1e-9) + np.finfo(np.float64).tiny

    def _within(self, rows: Floats, reach: Floats, reaches: Floats | None) -> tuple[Integers, Integers, Floats]:
        i, j = self._ball(self._tree, rows, self._search_radius(reach))
        if reaches is not None:
            # One tree for the vertices of similar radius: a ball query with the largest of these radii finds them, and
            # an outlier does not enlarge the search for all others. The balls' volumes differ at most fourfold.
            from scipy.spatial import cKDTree

            with np.errstate(divide="ignore"):
                steps = np.floor(np.log2(reaches) * (0.5 * self.rows.shape[1]))
            for step in np.unique(steps[np.isfinite(steps)]):
                members = np.flatnonzero(steps == step)
                radius = np.full(len(rows), self._search_radius(reaches[members].max()))
                more_i, more_j = self._ball(cKDTree(self.rows[members]), rows, radius)
                i, j = np.concatenate([i, more_i]), np.concatenate([j, members[more_j]])
            i, j = np.divmod(np.unique(i * self.size + j), self.size)
        return i, j, self.metric.pairs(rows, i, self.rows, j, self.n_jobs)

    def _ball(self, tree: Any, rows: Floats, radius: Floats) -> tuple[Integers, Integers]:
        power = self.metric.searched_power

        def work(part: slice) -> list[list[int]]:
            return list(tree.query_ball_point(rows[part], radius[part], p=power, return_sorted=False))

        found = list(chain.from_iterable(run_blocks(work, blocks(len(rows), _QUERIES_PER_TASK), self.n_jobs)))
        counts = np.fromiter(map(len, found), dtype=np.intp, count=len(rows))
        columns = np.fromiter(chain.from_iterable(found), dtype=np.intp, count=int(counts.sum()))
        return np.repeat(np.arange(len(rows)), counts), columns


@dataclass(frozen=True, eq=False)
class _Shifted:
    """Centred rows. Products round relative to the length of the rows: shorter rows round less."""

    center: Floats  # (d,)
    rows: Floats  # (n, d)
    norms: Floats  # (n,) float64, squared lengths

    @classmethod
    def of(cls, rows: Floats, n_jobs: int | None) -> Self:
        center = rows.mean(axis=0, dtype=np.float64).astype(rows.dtype)
        shifted, norms = np.empty_like(rows), np.empty(len(rows))

        def work(part: slice) -> None:
            np.subtract(rows[part], center, out=shifted[part])
            norms[part] = _squared_norms(shifted[part])

        run_blocks(work, blocks(len(rows), _ROWS_PER_BLOCK), n_jobs)
        return cls(center, shifted, norms)


@dataclass(frozen=True, eq=False)
class BlockedIndex(VectorIndex):
    """All distances, a block of rows at a time; for any metric."""

    @cached_property
    def _shifted(self) -> _Shifted:
        # Computed before the pool starts: else each of its threads would compute it.
        return _Shifted.of(self.rows, self.n_jobs)

    def _parts(self, m: int) -> list[slice]:
        return blocks(m, max(1, self.costs.entries_per_block // self.size))

    def _axes(self, rows: Floats, k: int) -> Axes | None:
        """Axes whose bounds save the most work in a search for the k nearest of these rows; None if none save any."""
        with one_blas_thread():
            return plan(rows, self.rows, k, self.costs).axes

    def own(self, k: int | None, radius: float | None, stages: Stages = SILENT) -> Neighbors:
        if self.metric.family != "euclidean" or radius is not None:
            return super().own(k, radius, stages)
        assert k is not None
        more = min(k + 1 + _SPARE, self.size)
        if plain_smallest(self.size**2):
            seeming = self._seeming_of_few(self.rows, more)
        else:
            seeming = seeming_neighbors(self.rows, more, self._axes(self.rows, more), self.n_jobs, stages, self.costs)
        indices, distances = without(np.arange(self.size), *self._proved(self.rows, seeming, k + 1))
        return Neighbors.from_lists(indices, distances, self.size)

    def _nearest(self, rows: Floats, k: int, stages: Stages) -> tuple[Integers, Floats]:
        if self.metric.family == "euclidean" and plain_smallest(len(rows) * self.size):
            return self._proved(rows, self._seeming_of_few(rows, min(k + _SPARE, self.size)), k)
        if self.metric.family == "euclidean" and len(rows) >= self.costs.many:
            more = min(k + _SPARE, self.size)
            axes = self._axes(rows, more)
            seeming = seeming_nearest(rows, self.rows, more, axes, self.n_jobs, stages, self.costs)
            return self._proved(rows, seeming, k)
        return self._nearest_by_blocks(rows, k, stages)

    def _seeming_of_few(self, rows: Floats, more: int) -> Seeming:
        """Candidates of a small table by what is compiled already: NumPy, or scikit-learn's search."""
        shifted = self._shifted
        if len(rows) * self.size <= _FEW_ENTRIES:
            squares, rounding = self._rounded_squares(rows, shifted)
            found = np.argpartition(squares, more - 1, axis=1)[:, :more]
            return Seeming(found, squares[np.arange(len(rows)), found[:, -1]], rounding)
        from sklearn.neighbors import NearestNeighbors

        asking = shifted.rows if rows is self.rows else rows - shifted.center
        with openmp_threads():
            squares, found = (
                NearestNeighbors(n_neighbors=more, algorithm="brute", metric="sqeuclidean")
                .fit(shifted.rows)
                .kneighbors(asking)
            )
        return Seeming(found, squares[:, -1], self._rounding(asking, shifted))

    def _rounding(self, asking: Floats, others: _Shifted) -> Floats:
        """A bound on the rounding error of |x|² + |y|² − 2 x·y, for each x."""
        longest = np.sqrt(_squared_norms(asking)) + np.sqrt(others.norms.max())
        eps = max(np.finfo(asking.dtype).eps, np.finfo(self.rows.dtype).eps)
        return np.asarray(8.0 * eps * np.sqrt(asking.shape[1]) * longest**2)

    def _proved(self, rows: Floats, seeming: Seeming, k: int) -> tuple[Integers, Floats]:
        """The exact k nearest of each row, from the candidates."""
        indices, distances = self._sorted(rows, seeming.indices.astype(np.intp), self.n_jobs)
        indices, distances = indices[:, :k], distances[:, :k]
        if seeming.indices.shape[1] < self.size:
            # A row left out may be as near as the last one found: then these rows are searched exactly.
            doubtful = np.flatnonzero(seeming.farthest <= self._limit(distances) + seeming.error)
            indices[doubtful], distances[doubtful] = self._nearest_by_blocks(rows[doubtful], k, SILENT)
        return indices, distances

    def _sorted(self, rows: Floats, found: Integers, n_jobs: int | None) -> tuple[Integers, Floats]:
        owners = np.repeat(np.arange(len(rows)), found.shape[1])
        exact = self.metric.pairs(rows, owners, self.rows, found.ravel(), n_jobs).reshape(found.shape)
        return sort_lists(found, exact)

    def _limit(self, distances: Floats) -> Floats:
        """The squared length that belongs to the last distance of each row."""
        return np.asarray(self.metric.search_length(distances[:, -1])) ** 2 * (1 + ROUNDING)

    def _nearest_by_blocks(self, rows: Floats, k: int, stages: Stages) -> tuple[Integers, Floats]:
        indices = np.empty((len(rows), k), dtype=np.intp)
        distances = np.empty((len(rows), k))
        if not len(rows):  # no row is doubtful
            return indices, distances
        shifted = self._shifted if self.metric.family == "euclidean" else None

        def work(part: slice) -> None:
            near = rows[part]
            indices[part], distances[part] = (
                self._plain_nearest(near, k) if shifted is None else self._euclidean_nearest(near, k, shifted)
            )

        with one_blas_thread():  # the pool's threads are enough
            run_blocks(work, self._parts(len(rows)), self.n_jobs, stages=stages, what="search")
        return indices, distances

    def _plain_nearest(self, rows: Floats, k: int) -> tuple[Integers, Floats]:
        return _smallest(self.metric.block(rows, self.rows), k)

    def _euclidean_nearest(self, rows: Floats, k: int, shifted: _Shifted) -> tuple[Integers, Floats]:
        squared, rounding = self._rounded_squares(rows, shifted)
        more = min(k + _SPARE, self.size)
        found, rough = _smallest(squared, more)
        indices, distances = self._sorted(rows, found, n_jobs=1)
        indices, distances = indices[:, :k], distances[:, :k]
        if more < self.size:
            # A row left out may be as near as the k-th one found: then compute all that may be, from differences.
            limit = self._limit(distances) + rounding
            for row in np.flatnonzero(rough[:, -1] <= limit):
                near = np.flatnonzero(squared[row] <= limit[row])
                exact = self.metric.pairs(rows, np.full(len(near), row), self.rows, near, n_jobs=1)
                order = np.argsort(exact, kind="stable")[:k]
                indices[row], distances[row] = near[order], exact[order]
        return indices, distances

    def _rounded_squares(self, rows: Floats, others: _Shifted) -> tuple[Floats, Floats]:
        """|x|² + |y|² − 2 x·y for all pairs, and a bound on the rounding error of each row's entries."""
        shifted = rows - others.center
        norms = _squared_norms(shifted)
        longest = np.sqrt(norms) + np.sqrt(others.norms.max())
        if longest.max() ** 2 > np.finfo(shifted.dtype).max:  # of float32
            shifted = shifted.astype(np.float64)
        squared = shifted @ others.rows.T
        squared *= -2.0
        squared += norms[:, None].astype(squared.dtype)
        squared += others.norms[None, :].astype(squared.dtype)
        return squared, self._rounding(rows - others.center, others)

    def _within(self, rows: Floats, reach: Floats, reaches: Floats | None) -> tuple[Integers, Integers, Floats]:
        few = len(rows) < self.costs.many or plain_smallest(len(rows) * self.size)
        if self.metric.family != "euclidean" or few:
            return self._within_by_blocks(rows, reach, reaches)
        nobody = np.zeros(self.size)
        length, lengths = (
            np.asarray(self.metric.search_length(r)) for r in (reach, nobody if reaches is None else reaches)
        )
        axes = self._axes(rows, USUAL)
        seeming = seeming_within(rows, self.rows, length, lengths, axes, self.n_jobs, self.costs)
        i, j = seeming.asking, seeming.rows
        distances = self.metric.pairs(rows, i, self.rows, j, self.n_jobs)
        if not seeming.crowded.size:
            return i, j, distances
        more = self._within_by_blocks(rows[seeming.crowded], reach[seeming.crowded], reaches)
        return (
            np.concatenate([i, seeming.crowded[more[0]]]),
            np.concatenate([j, more[1]]),
            np.concatenate([distances, more[2]]),
        )

    def _within_by_blocks(
        self, rows: Floats, reach: Floats, reaches: Floats | None
    ) -> tuple[Integers, Integers, Floats]:
        shifted = self._shifted if self.metric.family == "euclidean" else None

        def work(part: slice) -> tuple[Integers, Integers, Floats]:
            limit = reach[part, None] if reaches is None else np.maximum(reach[part, None], reaches[None, :])
            if shifted is None:
                block = self.metric.block(rows[part], self.rows)
                i, j = np.nonzero(block <= limit * (1 + ROUNDING))
                return i + part.start, j, block[i, j]
            squared, rounding = self._rounded_squares(rows[part], shifted)
            length = np.asarray(self.metric.search_length(limit))
            i, j = np.nonzero(squared <= length**2 * (1 + 1e-9) + rounding[:, None])
            return i + part.start, j, self.metric.pairs(rows[part], i, self.rows, j, n_jobs=1)

        with one_blas_thread():
            found = run_blocks(work, self._parts(len(rows)), self.n_jobs)
        i, j, distances = (np.concatenate(column) for column in zip(*found, strict=True))
        return i, j, distances


def _squared_norms(rows: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))


def _smallest(values: Floats, k: int) -> tuple[Integers, Floats]:
    indices = np.empty((len(values), k), dtype=np.intp)
    kept = np.empty((len(values), k), dtype=values.dtype)
    if plain_smallest(values.size):
        smallest(values, indices, kept)
    else:
        from gramfold.neighbors import distance_kernels

        distance_kernels.smallest(np.ascontiguousarray(values), indices, kept)
    return indices, kept

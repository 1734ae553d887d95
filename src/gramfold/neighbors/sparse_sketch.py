"""Approximate search among sparse rows: candidates from a sketch of few columns, their distances from the rows.

    z(x) = Vᵀ x,  V (d, 256) spanning about the leading principal directions of the rows;    HNSW of z (approximate.py)

Distances of z are a lower bound of those of x. Of the true 10 nearest rows of word counts, tf-idf weights and gene
counts (cosine), 0.95 and more are among the 160 nearest of z. More than 65,536 columns are first added up in so many,
with random signs. The block power method: Halko, Martinsson, Tropp, SIAM Review 53 (2011); signs: Weinberger et al.,
ICML 2009.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from gramfold.neighbors.approximate import SmallWorldIndex
from gramfold.neighbors.duplicates import KnownRows
from gramfold.neighbors.index import VectorIndex, sort_lists
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.sparse_index import SparseRowsIndex
from gramfold.neighbors.sparse_rows import as_sparse, canonical
from gramfold.runtime.costs import COSTS, SearchCosts
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers, Neighbors, Plain

_COLUMNS = 256  # of the sketch
_MOST_COLUMNS = 65_536  # that directions are found in
_ROWS = 8_000  # from which directions are found
_SWEEPS = 2  # of the power method
_CANDIDATES = 160  # for each row, at least ...
_PER_NEIGHBOR = 4  # ... and for each neighbour
_ROWS_PER_BLOCK = 2_000
_EUCLIDEAN = Metric("euclidean", "euclidean")


@dataclass(frozen=True, eq=False)
class Sketch(Plain):
    """A projection of sparse rows on few columns."""

    axes: Floats  # (columns, m) float32, orthonormal
    fold: Integers | None  # (d,) ± (1 + the column that each is added to, with this sign); None: each its own

    @classmethod
    def of(cls, rows: csr_array, random_state: np.random.RandomState) -> Self:
        """On about the leading principal directions of these rows."""
        n, d = rows.shape
        fold = None
        if d > _MOST_COLUMNS:
            signs = 2 * random_state.randint(2, size=d) - 1
            fold = (signs * (1 + random_state.randint(_MOST_COLUMNS, size=d))).astype(np.int32)
        some = rows if n <= _ROWS else rows[np.sort(random_state.choice(n, _ROWS, replace=False))]
        seen = _folded(some, fold).astype(np.float32)
        width = min(_COLUMNS, *seen.shape)
        axes = random_state.standard_normal((seen.shape[1], width)).astype(np.float32)
        across = csr_array(seen.T)
        for _ in range(_SWEEPS):
            axes = np.linalg.qr(across @ (seen @ axes))[0]
        return cls(np.ascontiguousarray(axes), fold)

    def __call__(self, rows: csr_array) -> Floats:
        """Z (m, columns) of these rows, in float32."""
        found = np.empty((rows.shape[0], self.axes.shape[1]), dtype=np.float32)
        for part in blocks(rows.shape[0], _ROWS_PER_BLOCK):
            found[part] = _folded(rows[part], self.fold) @ self.axes
        return found


@dataclass(frozen=True, eq=False)
class SketchIndex(SparseRowsIndex):
    """HNSW index of a sketch of the rows; distances are those of the rows."""

    sketch: Sketch
    near: SmallWorldIndex  # among the rows of the sketch

    @classmethod
    def of(
        cls,
        points: csr_array,
        metric: Metric,
        n_jobs: int | None,
        random_state: np.random.RandomState,
        costs: SearchCosts = COSTS.search,
    ) -> Self:
        """Sketch these points and build the search graph."""
        rows = metric.prepare(points)
        sketch = Sketch.of(rows, random_state)
        near = SmallWorldIndex.of(sketch(rows), _EUCLIDEAN, n_jobs, costs)
        index = cls(points, metric, n_jobs, sketch, near, costs=costs)
        vars(index).update(rows=rows)  # already computed
        return index

    @cached_property
    def _known(self) -> KnownRows:
        return KnownRows(self.rows)

    def _nearest(self, rows: Any, k: int, stages: Stages) -> tuple[Integers, Floats]:
        m, more = rows.shape[0], min(self.size, max(_CANDIDATES, _PER_NEIGHBOR * k))
        indices, distances = np.empty((m, k), dtype=np.intp), np.empty((m, k))
        equal = self._known.find(rows)
        parts = blocks(m, _ROWS_PER_BLOCK)
        for part in stages.bar(parts, len(parts), "search"):
            found = self.near.nearest(self.sketch(rows[part]), more).indices.reshape(-1, more)
            missed = np.flatnonzero((equal[part] >= 0) & (found != equal[part, None]).all(axis=1))
            found[missed, -1] = equal[part][missed]
            owners = np.repeat(np.arange(part.start, part.stop), more)
            exact = self.metric.pairs(rows, owners, self.rows, found.ravel(), self.n_jobs)
            nearest = sort_lists(found, exact.reshape(found.shape))
            indices[part], distances[part] = nearest[0][:, :k], nearest[1][:, :k]
        return indices, distances

    # What a search among many of the nearest answers, it answers as the index of dense rows does.

    def _within(self, rows: Any, reach: Floats, reaches: Floats | None) -> tuple[Integers, Integers, Floats]:
        return SmallWorldIndex._within(self, rows, reach, reaches)  # type: ignore[arg-type]  # noqa: SLF001

    def lists_for_new(self, lists: Neighbors) -> Neighbors:
        return lists  # which it walks along

    def joined(self, queries: Any, k: int, lists: Neighbors) -> Neighbors:
        return SmallWorldIndex.joined(self, as_sparse(queries), k, lists)  # type: ignore[arg-type]

    def _of_others(self, points: Any) -> VectorIndex:
        # used once: not worth a new sketch
        return SparseRowsIndex(points, self.metric, self.n_jobs, costs=self.costs)

    def measured(self, k: int, random_state: np.random.RandomState) -> Self:
        """The same index with its measured recall, as of dense rows."""
        recall = SmallWorldIndex.measure_recall(self, k, random_state)  # type: ignore[arg-type]
        index = replace(self, recall=recall)
        vars(index).update(vars(self) | {"recall": recall})  # both share what was built
        return index


def _folded(rows: csr_array, fold: Integers | None) -> csr_array:
    if fold is None:
        return rows
    into = fold[rows.indices]
    shape = rows.shape[0], _MOST_COLUMNS
    return canonical(csr_array((rows.data * np.sign(into), np.abs(into) - 1, rows.indptr), shape=shape))

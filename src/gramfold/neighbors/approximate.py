"""Approximate search: a hierarchical navigable small-world graph (faiss), with its recall measured.

Malkov, Yashunin, IEEE TPAMI 42 (2020). The same rows are found whatever the number of threads.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.errors import InputError, MissingExtraError
from gramfold.neighbors.duplicates import KnownRows
from gramfold.neighbors.exact import BlockedIndex
from gramfold.neighbors.index import ROUNDING, VectorIndex, nearer_than, sort_lists, united, without
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, in_forked_child, thread_count
from gramfold.types import Floats, Integers, Neighbors

_LINKS = 24  # per vertex and layer
_BUILD_WIDTH = 80  # vertices kept in view while building
_SEARCH_WIDTH = 80  # and while searching; at least twice k
_QUERIES_PER_BLOCK = 20_000
_RECALL_SAMPLE = 200
# Those within a radius are looked for among this many of a row's nearest at first, then among twice as many; those who
# would choose a new row as their neighbour among so many too, and a step further on.
_LOOK = 64


class SmallWorldIndex(VectorIndex):
    """HNSW over float32 copies of the rows; distances found are computed again in float64."""

    def _build(self) -> None:
        if self.metric.family != "euclidean":
            raise InputError(
                "approximate neighbours know the euclidean, cosine and correlation metrics, not "
                f"{self.metric.name!r}: use neighbors='exact'."
            )
        faiss = load_faiss()
        _set_threads(faiss, self.n_jobs)
        self._graph = faiss.IndexHNSWFlat(self.rows.shape[1], _LINKS)
        self._graph.hnsw.efConstruction = _BUILD_WIDTH
        self._center = self.rows.mean(axis=0, dtype=np.float64)  # float32 keeps more digits of short rows
        self._graph.add(self._float32(self.rows))
        self._known = KnownRows(self.rows)

    def _float32(self, rows: Floats) -> Floats:
        shifted = np.empty(rows.shape, dtype=np.float32)
        np.subtract(rows, self._center, out=shifted, casting="same_kind")  # in float64, a little at a time
        return shifted

    def _nearest(self, rows: Floats, k: int, stages: Stages) -> tuple[Integers, Floats]:
        faiss = load_faiss()
        _set_threads(faiss, self.n_jobs)
        found = np.empty((len(rows), k), dtype=np.intp)
        width = faiss.SearchParametersHNSW(efSearch=max(_SEARCH_WIDTH, 2 * k))
        parts = blocks(len(rows), _QUERIES_PER_BLOCK)
        for part in stages.bar(parts, len(parts), "neighbours"):
            found[part] = self._graph.search(self._float32(rows[part]), k, params=width)[1]
        lost = np.flatnonzero((found < 0).any(axis=1))
        if lost.size:  # the search graph did not lead to k vertices: look at everybody for these rows
            everybody = BlockedIndex(self.points, self.metric, self.n_jobs)
            found[lost] = everybody.nearest(rows[lost], k).indices.reshape(-1, k)
        self._put_in_equals(rows, found)
        owners = np.repeat(np.arange(len(rows)), k)
        exact = self.metric.pairs(rows, owners, self.rows, found.ravel(), self.n_jobs)
        return sort_lists(found, exact.reshape(found.shape))

    def _put_in_equals(self, rows: Floats, found: Integers) -> None:
        """A vertex that equals a row is its nearest, also where the search graph does not lead to it."""
        equal = self._known.find(rows)
        missed = np.flatnonzero((equal >= 0) & (found != equal[:, None]).all(axis=1))
        found[missed, -1] = equal[missed]

    def _within(self, rows: Floats, reach: Floats, reaches: Floats | None) -> tuple[Integers, Integers, Floats]:
        asking, k = np.arange(len(rows)), min(self.size, _LOOK)
        found: list[tuple[Integers, Integers, Floats]] = []
        while asking.size:
            indices, distances = self._nearest(rows[asking], k, SILENT)
            done = (distances[:, -1] > reach[asking] * (1.0 + ROUNDING)) | (k == self.size)
            found.append((np.repeat(asking[done], k), indices[done].ravel(), distances[done].ravel()))
            asking, k = asking[~done], min(self.size, 2 * k)
        i, j, lengths = (np.concatenate(column) for column in zip(*found, strict=True))
        return i, j, lengths

    def joined(self, queries: Floats, k: int, lists: Neighbors) -> Neighbors:
        # Whoever would choose a new row mostly is near to it, or shares an edge with one of its own neighbours.
        near = self.nearest(queries, min(self.size, max(_LOOK, k)))
        own = near.keep(np.arange(len(near.indices)) - near.indptr[near.rows] < k)
        i, j = _two_steps(own, lists)
        rows = self.metric.prepare(queries)
        found = Neighbors.from_pairs(i, j, self.metric.pairs(rows, i, self.rows, j, self.n_jobs), (len(own), self.size))
        seen = united(near, found)
        return united(own, seen.keep(seen.distances <= nearer_than(lists.farthest)[seen.indices]))

    def _of_others(self, points: Floats) -> VectorIndex:
        return BlockedIndex(points, self.metric, self.n_jobs)  # asked once: not worth a new search graph

    def measure_recall(self, k: int, random_state: np.random.RandomState) -> float:
        """Share of the k neighbours found that are as near as the true ones, on a sample of the vertices."""
        k = min(k, self.size - 1)  # with a radius k may be any
        if k == 0:
            return 1.0
        sample = random_state.choice(self.size, min(_RECALL_SAMPLE, self.size), replace=False)
        exact = BlockedIndex(self.points, self.metric, self.n_jobs)
        lists = (index.nearest(self.points[sample], k + 1) for index in (self, exact))
        found, truth = (
            without(sample, near.indices.reshape(-1, k + 1), near.distances.reshape(-1, k + 1))[1] for near in lists
        )
        return float(np.mean(found <= truth[:, -1:]))

    # faiss indices are not picklable by themselves

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_graph": load_faiss().serialize_index(self._graph)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _graph=load_faiss().deserialize_index(state["_graph"]))


def _two_steps(near: Neighbors, lists: Neighbors) -> tuple[Integers, Integers]:
    """Pairs of a row and a vertex that shares an edge of the lists' union graph with one of those near to the row."""
    middle, place = np.unique(near.indices, return_inverse=True)
    number = np.full(near.n_vertices, -1)
    number[middle] = np.arange(len(middle))
    chosen = lists.take(middle)
    entries = np.flatnonzero(number[lists.indices] >= 0)
    choosers = np.searchsorted(lists.indptr, entries, side="right") - 1
    ends = np.concatenate([chosen.indices, choosers])
    starts = np.concatenate([chosen.rows, number[lists.indices[entries]]])
    shape = len(middle), near.n_vertices
    steps = csr_array((np.ones(len(ends), dtype=np.int32), (starts, ends)), shape=shape)
    first = csr_array((np.ones(len(place), dtype=np.int32), place, near.indptr), shape=(len(near), len(middle)))
    i, j = (first @ steps).nonzero()
    return i, j


def faiss_installed() -> bool:
    """Whether the `approximate` extra is there, without loading it."""
    from importlib.util import find_spec

    return find_spec("faiss") is not None


def load_faiss() -> Any:
    """The faiss module, or one sentence on how to get it."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError(
            'approximate neighbours need faiss: pip install "gramfold[approximate]", or use neighbors="exact".'
        ) from error
    return faiss


def _set_threads(faiss: Any, n_jobs: int | None) -> None:
    import sys

    # beside another OpenMP runtime on macOS more than one faiss thread can crash; in a forked child it waits for ever
    faiss.omp_set_num_threads(1 if sys.platform == "darwin" or in_forked_child() else thread_count(n_jobs))

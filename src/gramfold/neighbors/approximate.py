"""Approximate search: a hierarchical navigable small-world graph (faiss), with its recall measured.

Malkov, Yashunin, IEEE TPAMI 42 (2020). faiss 1.15.1 builds the same graph for any number of threads. With 1.12 each
build on two threads differs: 27 to 30 % of 20,000 rows of 50 columns get other neighbours than with one thread.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gramfold.errors import InputError, MissingExtraError
from gramfold.neighbors.duplicates import KnownRows
from gramfold.neighbors.exact import BlockedIndex
from gramfold.neighbors.index import ROUNDING, VectorIndex, nearer_than, sort_lists, united, without
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.costs import COSTS, SearchCosts
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, in_forked_child, thread_count
from gramfold.types import Floats, Integers, Neighbors

_LINKS = 24  # per vertex and layer
_BUILD_WIDTH = 80  # efConstruction: candidates kept while building
_SEARCH_WIDTH = 80  # efSearch: candidates kept while searching
_QUERIES_PER_BLOCK = 2_000  # between two steps of the progress bar: 1 s of a hard search by one thread
_RECALL_SAMPLE = 200
# Neighbours within a radius are searched among this many nearest rows at first, then among twice as many. Vertices that
# would count a new row among their own neighbours are searched among this many too, and among the neighbours of these.
_LOOK = 64


@dataclass(frozen=True, eq=False)
class SmallWorldIndex(VectorIndex):
    """HNSW index of float32 copies of the rows; distances are computed again in float64.

    The links of the search graph are pickled with a model: built again, by another faiss or on another machine, they
    may differ, and so would the coordinates of new rows. A model file holds none: faiss believes whatever it reads.
    """

    links: NDArray[np.uint8] | None  # the search graph without its rows, as faiss writes it; None: built when used
    width: int = field(default=_SEARCH_WIDTH, kw_only=True)  # of a search; at least twice k

    @classmethod
    def of(cls, points: Floats, metric: Metric, n_jobs: int | None, costs: SearchCosts = COSTS.search) -> Self:
        """Build the search graph of these points."""
        if not metric.approximable:
            raise InputError(
                "approximate search supports the euclidean, cosine and correlation metrics, and jaccard and hamming of "
                f"rows of 0 and 1, not {_told(metric)}: use search='exact'."
            )
        faiss = load_faiss()
        built = cls(np.ascontiguousarray(points), metric, n_jobs, None, costs=costs)
        links = faiss.serialize_index(built._graph, faiss.IO_FLAG_SKIP_STORAGE)
        return built._sharing(replace(built, links=links))

    @cached_property
    def _center(self) -> Floats:
        return _center(self.metric.vectors(self.rows))

    def _vectors(self, rows: Floats) -> Floats:
        return _float32(self.metric.vectors(rows), self._center)

    @cached_property
    def _graph(self) -> Any:
        faiss = load_faiss()
        if self.links is None:
            graph = faiss.IndexHNSWFlat(self.rows.shape[1], _LINKS)
            graph.hnsw.efConstruction = _BUILD_WIDTH
            with _threads(faiss, self.n_jobs):
                graph.add(self._vectors(self.rows))
            return graph
        graph, storage = faiss.deserialize_index(self.links), faiss.IndexFlatL2(self.rows.shape[1])
        storage.add(self._vectors(self.rows))
        storage.this.disown()
        graph.storage, graph.own_fields = storage, True
        return graph

    @cached_property
    def _known(self) -> KnownRows:
        return KnownRows(self.rows)

    def _nearest(self, rows: Floats, k: int, stages: Stages) -> tuple[Integers, Floats]:
        faiss = load_faiss()
        more = min(self.size, max(k, self.metric.candidates(k)))
        found = np.empty((len(rows), more), dtype=np.intp)
        width = faiss.SearchParametersHNSW(efSearch=max(self.width, 2 * k, more))
        parts = blocks(len(rows), _QUERIES_PER_BLOCK)
        with _threads(faiss, self.n_jobs):
            for part in stages.bar(parts, len(parts), "search"):
                found[part] = self._graph.search(self._vectors(rows[part]), more, params=width)[1]
        lost = np.flatnonzero((found < 0).any(axis=1))
        if lost.size:  # the search graph did not lead to k vertices: search these rows exactly
            everybody = self._of_others(self.points)
            found[lost] = everybody.nearest(rows[lost], more).indices.reshape(-1, more)
        self._put_in_equals(rows, found)
        owners = np.repeat(np.arange(len(rows)), more)
        exact = self.metric.pairs(rows, owners, self.rows, found.ravel(), self.n_jobs)
        indices, distances = sort_lists(found, exact.reshape(found.shape))
        return indices[:, :k], distances[:, :k]

    def _put_in_equals(self, rows: Floats, found: Integers) -> None:
        """Insert a vertex that equals a row as its neighbour where the search graph did not find it."""
        equal = self._known.find(rows)
        missed = np.flatnonzero((equal >= 0) & (found != equal[:, None]).all(axis=1))
        found[missed, -1] = equal[missed]

    def _within(self, rows: Floats, reach: Floats, reaches: Floats | None) -> tuple[Integers, Integers, Floats]:
        asking, k = np.arange(rows.shape[0]), min(self.size, _LOOK)
        found: list[tuple[Integers, Integers, Floats]] = []
        while asking.size:
            indices, distances = self._nearest(rows[asking], k, SILENT)
            done = (distances[:, -1] > reach[asking] * (1.0 + ROUNDING)) | (k == self.size)
            found.append((np.repeat(asking[done], k), indices[done].ravel(), distances[done].ravel()))
            asking, k = asking[~done], min(self.size, 2 * k)
        i, j, lengths = (np.concatenate(column) for column in zip(*found, strict=True))
        return i, j, lengths

    def lists_for_new(self, lists: Neighbors) -> Neighbors:
        return lists  # which it walks along

    def joined(self, queries: Floats, k: int, lists: Neighbors) -> Neighbors:
        # Vertices that would take a new row as a neighbour are mostly near to it, or neighbours of its neighbours.
        near = self.nearest(queries, min(self.size, max(_LOOK, k)))
        own = near.keep(np.arange(len(near.indices)) - near.indptr[near.rows] < k)
        i, j = _two_steps(own, lists)
        rows = self.metric.prepare(queries)
        found = Neighbors.from_pairs(i, j, self.metric.pairs(rows, i, self.rows, j, self.n_jobs), (len(own), self.size))
        seen = united(near, found)
        return united(own, seen.keep(seen.distances <= nearer_than(lists.farthest)[seen.indices]))

    def _of_others(self, points: Floats) -> VectorIndex:
        # used once: not worth a new search graph
        return BlockedIndex(points, self.metric, self.n_jobs, costs=self.costs)

    def measured(self, k: int, random_state: np.random.RandomState) -> Self:
        """The same index with its measured recall."""
        return self._sharing(replace(self, recall=self.measure_recall(k, random_state)))

    def _sharing(self, other: Self) -> Self:
        """The other index of the same points, with what was built for this one."""
        vars(other).update({name: value for name, value in vars(self).items() if name not in vars(other)})
        return other

    def measure_recall(self, k: int, random_state: np.random.RandomState, sample_size: int = _RECALL_SAMPLE) -> float:
        """Recall on a sample of the vertices: share of the k neighbours found that are as near as the true ones."""
        k = min(k, self.size - 1)  # with a radius k may be any
        if k == 0:
            return 1.0
        sample = random_state.choice(self.size, min(sample_size, self.size), replace=False)
        exact = self._of_others(self.points)
        lists = (index.nearest(self.points[sample], k + 1) for index in (self, exact))
        found, truth = (
            without(sample, near.indices.reshape(-1, k + 1), near.distances.reshape(-1, k + 1))[1] for near in lists
        )
        return float(np.mean(found <= truth[:, -1:]))


def _told(metric: Metric) -> str:
    """The metric, in an error message; the one of these names is of rows with other values."""
    return f"{metric.name!r}" + (" of other values" if metric.name in {"jaccard", "hamming"} else "")


def _center(rows: Floats) -> Floats:
    return np.asarray(rows.mean(axis=0, dtype=np.float64))


def _float32(rows: Floats, center: Floats) -> Floats:
    """Centred rows in float32, which keeps more digits of short rows."""
    shifted = np.empty(rows.shape, dtype=np.float32)
    np.subtract(rows, center, out=shifted, casting="same_kind")  # in float64, a little at a time
    return shifted


def _two_steps(near: Neighbors, lists: Neighbors) -> tuple[Integers, Integers]:
    """Pairs of a row and a vertex that shares an edge of the union graph with one of the vertices near the row."""
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
    """Whether the `approximate` extra is installed, without importing it."""
    from importlib.util import find_spec

    return find_spec("faiss") is not None


def load_faiss() -> Any:
    """Import faiss, or raise an error with the command that installs it."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError(
            'approximate search needs faiss, which is not installed: run `pip install "gramfold[approximate]"`, or use '
            'search="exact".'
        ) from error
    return faiss


@contextmanager
def _threads(faiss: Any, n_jobs: int | None) -> Iterator[None]:
    """So many threads of faiss, and then as many as there were."""
    before = faiss.omp_get_max_threads()
    # beside another OpenMP runtime on macOS more than one faiss thread can crash; in a forked child it waits for ever
    faiss.omp_set_num_threads(1 if sys.platform == "darwin" or in_forked_child() else thread_count(n_jobs))
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)

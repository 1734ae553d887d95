"""Neighbours given by the user: a distance matrix, a sparse graph, or a scikit-learn transformer."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from gramfold.errors import DisconnectedGraphError, InputError, PrecomputedInputError
from gramfold.neighbors.duplicates import KnownRows
from gramfold.neighbors.exact import _smallest
from gramfold.neighbors.index import ROUNDING, Index, Outlook, Step, VectorIndex
from gramfold.runtime.costs import COSTS, SearchCosts
from gramfold.runtime.progress import SILENT, Stages, beats
from gramfold.runtime.threads import blocks
from gramfold.types import DISTANCES, Floats, Integers, Neighbors, Plain

# A larger difference from the transpose, relative to the largest entry, is not a rounding error (float32: 1e-6).
ASYMMETRY = 1e-8
# Share of the rows that must have the same number of neighbours in a graph of k nearest neighbours. An approximate
# search may miss the row itself, and then gives one more.
_REGULAR = 0.9
# Given weights: the largest has a power that is a number, and those below this share of it count for nothing.
LARGEST, NEGLIGIBLE = 1e100, 1e-150


@dataclass(frozen=True, eq=False)
class DistanceIndex(Index):
    """A symmetric matrix of all distances; new rows are given by their distances to the training rows."""

    distances: Floats = field(metadata=DISTANCES)  # (n, n) among the vertices
    first: Integers  # (n,) the training row of each vertex, the first of duplicates
    rounding: float = 0.0  # a new row within this distance of a vertex is that vertex
    costs: SearchCosts = field(default=COSTS.search, kw_only=True)
    euclidean: ClassVar[bool] = False

    @classmethod
    def of(cls, distances: Floats, first: Integers, rounding: float = 0.0, costs: SearchCosts = COSTS.search) -> Self:
        """Select the distances between vertices from those of all training rows."""
        if len(first) < len(distances):
            distances = np.ascontiguousarray(distances[np.ix_(first, first)])
        return cls(distances, first, rounding, costs=costs)

    @property
    def size(self) -> int:
        return len(self.first)

    def compacted(self, *, grams: bool) -> Self:
        return self if grams else self.without("distances")  # new rows bring their own

    def own(self, k: int | None, radius: float | None, stages: Stages = SILENT) -> Neighbors:
        parts = blocks(self.size, max(1, self.costs.entries_per_block // self.size))
        found = [self._own_block(part, k, radius) for part in stages.bar(parts, len(parts), "search")]
        i, j, distances = (np.concatenate(column) for column in zip(*found, strict=True))
        return Neighbors.from_pairs(i, j, distances, (self.size, self.size))

    def _own_block(self, part: slice, k: int | None, radius: float | None) -> tuple[Integers, Integers, Floats]:
        vertices = np.arange(part.start, part.stop)
        distances = self.distances[part].astype(np.float64)
        distances[np.arange(len(vertices)), vertices] = np.inf
        if radius is not None:
            i, j = np.nonzero(distances <= radius * (1 + ROUNDING))
            return vertices[i], j, distances[i, j]
        assert k is not None
        indices, kept = _smallest(distances, k)
        return np.repeat(vertices, k), indices.ravel(), kept.ravel()

    def nearest(self, queries: Floats, k: int) -> Neighbors:
        return Neighbors.from_lists(*_smallest(self._to_vertices(queries), k), self.size)

    def within(self, queries: Floats, reach: Floats, reaches: Floats) -> Neighbors:
        distances = self._to_vertices(queries)
        limit = np.maximum(reach[:, None], reaches[None, :])
        i, j = np.nonzero(distances <= limit * (1 + ROUNDING))
        return Neighbors.from_pairs(i, j, distances[i, j], (len(distances), self.size))

    def distances_from(self, vertex: int) -> Floats:
        return np.asarray(self.distances[vertex], dtype=np.float64)

    def distances_between(self, first: Integers, second: Integers) -> Floats:
        return np.asarray(self.distances[first, second], dtype=np.float64)

    def gap(self, group: Integers, others: Integers) -> Step:
        between = self.distances[np.ix_(group, others)]
        i, j = np.unravel_index(np.argmin(between), between.shape)
        return int(group[i]), int(others[j]), float(between[i, j])

    def vertex_grams(self, vertices: Integers) -> Callable[[Integers, Integers], Floats]:
        def grams(r: Integers, j: Integers) -> Floats:
            return self._grams(self.distances[vertices[r][:, None], vertices[j]], vertices[j])

        return grams

    def query_grams(self, queries: Floats) -> Callable[[Integers, Integers], Floats]:
        distances = self._to_vertices(queries)
        return lambda r, j: self._grams(distances[r[:, None], j], j)

    def _grams(self, to_center: Floats, lists: Integers) -> Floats:
        # ⟨x_j − x, x_l − x⟩ = ½(d_j² + d_l² − d_jl²)
        squares = to_center.astype(np.float64) ** 2  # (b, k)
        between = self.distances[lists[:, :, None], lists[:, None, :]].astype(np.float64) ** 2
        return np.asarray(0.5 * (squares[:, :, None] + squares[:, None, :] - between))

    def _to_vertices(self, queries: Any) -> Floats:
        if issparse(queries):
            raise InputError(
                "the model was fitted on a dense distance matrix but was given a sparse one, which lacks some "
                "distances: pass a dense array of the distances from the new rows to all training rows."
            )
        _check_signs(queries)
        distances = np.asarray(queries, dtype=np.float64)[:, self.first]
        distances[distances <= self.rounding] = 0.0
        return distances


@dataclass(frozen=True, eq=False)
class SparseIndex(Index):
    """A sparse graph of distances; every stored entry off the diagonal is an edge, a stored 0 too.

    In a graph of k nearest neighbours a new row has k neighbours too: of more stored entries the k nearest are kept. (A
    transformer of scikit-learn stores k + 1, which include a training row itself.)
    """

    given: ClassVar[bool] = True

    @property
    @abstractmethod
    def _edges(self) -> csr_array:
        """Stored entries of each vertex."""

    @property
    def size(self) -> int:
        return int(self._edges.shape[0])

    @cached_property
    def _lists(self) -> tuple[Neighbors, ...]:
        """Edges off the diagonal; also all entries, where the diagonal is not 0 or other entries are 0 too."""
        stored = _stored(self._edges)
        itself = stored.rows == stored.indices
        own = stored.keep(~itself)
        more = itself.any() and (stored.distances[itself].any() or not own.distances.all())
        return (own, stored) if more else (own,)

    @cached_property
    def _k(self) -> int | None:
        return None if self.weighted else _common_count(self._lists[0])

    def own(self, k: int | None, radius: float | None, stages: Stages = SILENT) -> Neighbors:
        return self._lists[0]

    def within(self, queries: Any, reach: Floats, reaches: Floats) -> Neighbors:
        return self.nearest(queries, 0)

    def _settled(self, found: Neighbors, own: Integers) -> Neighbors:
        """Lists of new rows: one that is vertex `own` (-1: none) has no other neighbour; none is longer than k."""
        known = np.flatnonzero(own >= 0)
        if known.size:
            others = own[found.rows] < 0
            found = Neighbors.from_pairs(
                np.concatenate([found.rows[others], known]),
                np.concatenate([found.indices[others], own[known]]),
                np.concatenate([found.distances[others], np.zeros(len(known))]),
                (len(found), found.n_vertices),
            )
        return found if self._k is None else _nearest_of_lists(found, self._k)


@dataclass(frozen=True, eq=False)
class GraphIndex(SparseIndex):
    """A sparse graph of distances given by the user; new rows are given by their edges.

    A new row with the stored entries of a training row is that row, with or without a stored 0 for itself.
    """

    graph: csr_array = field(metadata=DISTANCES)  # (n, n)
    gaps_unknown: ClassVar[bool] = True

    @classmethod
    def of(cls, graph: Any) -> Self:
        """Index of a sparse matrix of any format."""
        return cls(csr_array(graph))

    @property
    def _edges(self) -> csr_array:
        return self.graph

    @cached_property
    def _known(self) -> "tuple[KnownLists, ...]":
        return tuple(map(KnownLists, self._lists))

    def nearest(self, queries: Any, k: int) -> Neighbors:
        if not issparse(queries):
            raise InputError(
                "the model was fitted on a sparse graph but was given a dense array: pass a sparse matrix "
                f"with {self.size} columns that stores each new row's distances to its neighbours."
            )
        _check_signs(queries.data)
        found = _stored(csr_array(queries))
        return self._settled(found, np.maximum.reduce([known.find(found) for known in self._known]))

    def distances_from(self, vertex: int) -> Floats:
        from scipy.sparse.csgraph import dijkstra

        own = self._lists[0]
        edges = csr_array((own.distances, own.indices, own.indptr), shape=(self.size, self.size))
        return np.asarray(dijkstra(edges, directed=False, indices=vertex))  # along the edges: others are not known

    def distances_between(self, first: Integers, second: Integers) -> Floats:
        if not len(first):
            return np.empty(0)
        raise PrecomputedInputError(
            f"the distance between vertices {first[0]} and {second[0]} is needed, but a sparse graph holds only those "
            "of its edges: pass the rows themselves or a dense distance matrix."
        )

    def gap(self, group: Integers, others: Integers) -> Step:
        raise DisconnectedGraphError(
            f"the graph is not connected: one connected component has {len(group)} of {self.size} vertices. A given "
            "graph does not hold the distances between components, so they cannot be bridged: add edges, or use "
            "on_disconnected='largest' or 'separate'."
        )

    def vertex_grams(self, vertices: Integers) -> Callable[[Integers, Integers], Floats]:
        raise PrecomputedInputError(
            "local weights need the distances between neighbours, which a sparse graph does not hold: pass the "
            "rows themselves or a dense distance matrix."
        )

    def query_grams(self, queries: Any) -> Callable[[Integers, Integers], Floats]:
        return self.vertex_grams(np.empty(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class WeightedIndex(GraphIndex):
    """A sparse graph of weights given by the user; new rows are given by their weights. Lengths are 1/w."""

    weighted: ClassVar[bool] = True

    @classmethod
    def of(cls, graph: Any) -> Self:
        """Index of a matrix of weights, which must have been checked."""
        return cls(_lengths_of(graph))

    @property
    def loops(self) -> Floats:
        """Weights on the diagonal, (n,)."""
        lengths = self.graph.diagonal()
        return np.asarray(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0))

    def nearest(self, queries: Any, k: int) -> Neighbors:
        weights = csr_array(queries)
        largest = float(weights.data.max(initial=0.0))
        if largest > LARGEST or 0 < largest < 1.0 / LARGEST:
            raise InputError(
                f"the weights of the new rows are as large as {largest:.3g}, and weights must be between "
                f"{1 / LARGEST:g} and {LARGEST:g}: use the unit of the training weights."
            )
        if weights.nnz and weights.data.min() < 0:
            raise InputError(
                f"the weights of the new rows contain {weights.data.min():.3g}: weights must be positive for an edge "
                "and 0 otherwise. Clip or shift the weights first."
            )
        return super().nearest(_lengths_of(weights), k)


def _lengths_of(weights: csr_array) -> csr_array:
    """1/w of each edge; a weight of 0 is not an edge."""
    lengths = csr_array(weights, dtype=np.float64, copy=True)
    lengths.data[lengths.data < NEGLIGIBLE * lengths.data.max(initial=0.0)] = 0.0
    lengths.eliminate_zeros()
    with np.errstate(over="ignore"):  # of a tiny weight
        lengths.data = 1.0 / lengths.data
    return lengths


@dataclass(frozen=True, eq=False)
class TransformerIndex(SparseIndex):
    """A graph from a scikit-learn neighbours transformer; other distances are computed from the rows."""

    transformer: Any  # the user's own; fitted if `graph` is given
    vectors: VectorIndex
    graph: csr_array | None = None  # (n, n) its graph of the training rows

    @classmethod
    def of(cls, transformer: Any, vectors: VectorIndex) -> Self:
        """Fit a copy of the transformer to the rows, and compute its graph."""
        fitted, graph = _searched(transformer, vectors)
        return cls(fitted, vectors, graph)

    @cached_property
    def _search(self) -> tuple[Any, csr_array]:
        """The fitted transformer and its graph."""
        return _searched(self.transformer, self.vectors) if self.graph is None else (self.transformer, self.graph)

    @property
    def _edges(self) -> csr_array:
        return self._search[1]

    @cached_property
    def _known(self) -> KnownRows:
        return KnownRows(self.vectors.rows)

    @cached_property
    def _k(self) -> int | None:
        return super()._k if getattr(self.transformer, "radius", None) is None else None

    def nearest(self, queries: Floats, k: int) -> Neighbors:
        # a training row is recognised by its values: a transformer may find it at a small distance due to rounding
        found = _stored(csr_array(self._search[0].transform(queries)))
        return self._settled(found, self._known.find(self.vectors.metric.prepare(queries)))

    def distances_from(self, vertex: int) -> Floats:
        return self.vectors.distances_from(vertex)

    def distances_between(self, first: Integers, second: Integers) -> Floats:
        return self.vectors.distances_between(first, second)

    def gap(self, group: Integers, others: Integers) -> Step:
        return self.vectors.gap(group, others)

    def gaps(self, piece: Integers, outlook: Outlook | None = None) -> list[Step]:
        return self.vectors.gaps(piece, outlook)

    def vertex_grams(self, vertices: Integers) -> Callable[[Integers, Integers], Floats]:
        return self.vectors.vertex_grams(vertices)

    def query_grams(self, queries: Floats) -> Callable[[Integers, Integers], Floats]:
        return self.vectors.query_grams(queries)


def _searched(transformer: Any, vectors: VectorIndex) -> tuple[Any, csr_array]:
    """A copy of the transformer fitted to the rows, and its graph of them."""
    from sklearn.base import clone

    try:
        fitted = clone(transformer).fit(vectors.points)
        return fitted, csr_array(fitted.transform(vectors.points))
    except ValueError as error:
        raise InputError(
            f"the neighbours transformer could not search the {vectors.size} distinct rows ({error}): give it "
            "fewer neighbours, or pass more rows."
        ) from error


@dataclass(frozen=True, eq=False)
class KnownLists(Plain):
    """Look-up of vertices by their neighbour lists."""

    lists: Neighbors

    @cached_property
    def _ascending(self) -> tuple[Integers, Integers]:
        """Keys of the lists that identify a vertex, ascending, and these vertices."""
        # a list of two vertices identifies neither, and an empty list identifies none
        keys, vertices, counts = np.unique(_list_keys(self.lists), return_index=True, return_counts=True)
        telling = (counts == 1) & (self.lists.counts[vertices] > 0)
        return keys[telling], vertices[telling]

    def find(self, lists: Neighbors) -> Integers:
        """(m,) the vertex that has each of these lists; -1 where none does."""
        found = np.full(len(lists), -1)
        known, vertices = self._ascending
        if not known.size:
            return found
        keys = _list_keys(lists)
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        vertex = vertices[place]
        alike = np.flatnonzero((known[place] == keys) & (self.lists.counts[vertex] == lists.counts))
        here, there = lists.take(alike), self.lists.take(vertex[alike])
        differ = (here.indices != there.indices) | (here.distances != there.distances)
        same = np.bincount(here.rows[differ], minlength=len(alike)) == 0
        found[alike[same]] = vertex[alike[same]]
        return found


def _list_keys(lists: Neighbors) -> Integers:
    """An integer hash of each list: equal for equal lists, and rarely for others."""
    entries = _mixed((lists.distances + 0.0).view(np.uint64) + _mixed(lists.indices.astype(np.uint64)))
    keys = np.zeros(len(lists), dtype=np.uint64)
    np.add.at(keys, lists.rows, entries)
    return keys


def _mixed(numbers: Integers) -> Integers:
    """Mix the bits of 64-bit integers, so that each bit depends on all others (the finalizer of SplitMix64)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _common_count(lists: Neighbors) -> int | None:
    """The k of a graph of k nearest neighbours; None for other graphs, such as those of a radius or complete ones."""
    counts, rows = np.unique(lists.counts, return_counts=True)
    k = int(counts[np.argmax(rows)])
    return k if rows.max() >= _REGULAR * len(lists) and 0 < k < len(lists) - 1 else None


def _nearest_of_lists(lists: Neighbors, k: int) -> Neighbors:
    """The k nearest of each list, or all of them where all are at the same distance."""
    place = np.arange(len(lists.indices)) - lists.indptr[:-1][lists.rows]
    level = lists.distances[lists.indptr[:-1][lists.rows]] == lists.farthest[lists.rows]
    return lists.keep((place < k) | level)


def settled_distances(D: Floats, costs: SearchCosts = COSTS.search) -> Floats:
    """The matrix itself or, if it has rounding errors, a copy that is symmetric, nonnegative and 0 on the diagonal.

    Where the diagonal is not 0, distances that are no larger are set to 0 too.
    """
    parts = blocks(len(D), max(1, costs.entries_per_block // len(D)))
    clean = all(np.array_equal(D[part], D[:, part].T) and D[part].min() >= 0 for part in parts)
    if clean and not D.diagonal().any():
        return D
    settled = np.empty_like(D)
    for part in parts:
        np.maximum(0.5 * D[part] + 0.5 * D[:, part].T, 0.0, out=settled[part])
        settled[part][settled[part] <= D.diagonal().max()] = 0.0
    return settled


def check_distances(D: Any, costs: SearchCosts = COSTS.search) -> None:
    """Raise an error if D is not a distance matrix."""
    if D.shape[0] != D.shape[1]:
        raise InputError(
            f"metric='precomputed' needs a square matrix of distances, but got {D.shape[0]} x {D.shape[1]}: pass "
            "all pairwise distances, or use another metric for a table of rows."
        )
    _check_signs(D.data if issparse(D) else D)
    if issparse(D):
        return  # a neighbour graph need not be symmetric: edges are taken both ways
    tolerance = rounding_of(D)
    worst = int(np.argmax(np.diag(D)))
    if D[worst, worst] > tolerance:
        raise InputError(
            f"the precomputed matrix has {D[worst, worst]:.3g} on its diagonal in row {worst}: the distance "
            "of a row from itself must be 0. For similarities use KernelPCA(kernel='precomputed')."
        )
    for part in beats(blocks(len(D), max(1, costs.entries_per_block // len(D)))):
        difference = np.abs(D[part] - D[:, part].T)
        if difference.max() > tolerance:
            row, j = np.unravel_index(int(np.argmax(difference)), difference.shape)
            i = part.start + row
            raise InputError(
                f"the precomputed matrix is not symmetric: entry ({i}, {j}) is {D[i, j]:.6g} and entry ({j}, {i}) is "
                f"{D[j, i]:.6g}; use (D + D.T) / 2 if both mean the same distance."
            )


def _check_signs(distances: Floats) -> None:
    if distances.size and distances.min() < -rounding_of(distances):
        raise InputError(
            f"the precomputed distances hold a negative entry ({distances.min():.3g}): distances cannot be "
            "negative; convert similarities to distances first."
        )


def rounding_of(distances: Floats) -> float:
    """Largest difference of distances that counts as a rounding error."""
    return max(ASYMMETRY, 10 * float(np.finfo(distances.dtype).eps)) * float(distances.max())


def _stored(graph: csr_array) -> Neighbors:
    # without a method of the matrix, which would store on it whether its indices are sorted
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    return Neighbors.from_pairs(rows, graph.indices, np.maximum(graph.data.astype(np.float64), 0.0), graph.shape)

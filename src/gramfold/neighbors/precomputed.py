"""Neighbours that the user already knows: a distance matrix, a sparse graph, or a scikit-learn transformer."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramfold.errors import DisconnectedGraphError, InputError, PrecomputedInputError
from gramfold.neighbors.exact import _smallest
from gramfold.neighbors.index import ROUNDING, Index, Outlook, Step, VectorIndex
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers, Neighbors

# A matrix this much unlike its transpose, relative to its largest entry, is not a rounding error (of float32: 1e-6).
ASYMMETRY = 1e-8
_ENTRIES_PER_BLOCK = 2_000_000


class DistanceIndex(Index):
    """A symmetric matrix of all distances; a new row brings its distances to the training rows."""

    def __init__(self, distances: Floats, first: Integers) -> None:
        whole = len(first) == len(distances)
        self.distances = distances if whole else np.ascontiguousarray(distances[np.ix_(first, first)])
        self.first = first
        self.size = len(first)

    def own(self, k: int | None, radius: float | None, stages: Stages = SILENT) -> Neighbors:
        parts = blocks(self.size, max(1, _ENTRIES_PER_BLOCK // self.size))
        found = [self._own_block(part, k, radius) for part in stages.bar(parts, len(parts), "neighbours")]
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
                "the model was fitted on all distances and was given a sparse matrix, which leaves some out: pass a "
                "dense array of the new rows' distances to all training rows."
            )
        _check_signs(queries)
        return np.asarray(queries, dtype=np.float64)[:, self.first]


class GraphIndex(Index):
    """A sparse graph of distances; every stored entry off the diagonal is an edge, a stored 0 too."""

    given = True

    def __init__(self, graph: csr_array) -> None:
        self.graph = graph
        self.size = graph.shape[0]

    def own(self, k: int | None, radius: float | None, stages: Stages = SILENT) -> Neighbors:
        found = _stored(self.graph)
        return found.keep(found.rows != found.indices)

    def nearest(self, queries: Any, k: int) -> Neighbors:
        if not issparse(queries):
            raise InputError(
                "the model was fitted on a sparse graph and was given a dense array: pass a sparse matrix "
                f"with {self.size} columns that stores each new row's distances to its neighbours."
            )
        _check_signs(queries.data)
        return _stored(csr_array(queries))

    def within(self, queries: Any, reach: Floats, reaches: Floats) -> Neighbors:
        return self.nearest(queries, 0)

    def distances_from(self, vertex: int) -> Floats:
        from scipy.sparse.csgraph import dijkstra

        return np.asarray(dijkstra(self.graph, directed=False, indices=vertex))  # along the edges: all that is known

    def distances_between(self, first: Integers, second: Integers) -> Floats:
        raise PrecomputedInputError(
            f"the distance of vertices {first[0]} and {second[0]} was asked for, and a sparse graph holds those of its "
            "edges only: pass the rows themselves or a dense distance matrix."
        )

    def gap(self, group: Integers, others: Integers) -> Step:
        raise DisconnectedGraphError(
            f"the graph is in pieces (one has {len(group)} of {self.size} vertices) and a sparse graph does not "
            "tell how far apart they are, so they cannot be bridged: add neighbours, or use "
            "on_disconnected='largest' or 'separate'."
        )

    def vertex_grams(self, vertices: Integers) -> Callable[[Integers, Integers], Floats]:
        raise PrecomputedInputError(
            "local weights need the distances among the neighbours, which a sparse graph does not hold: pass the "
            "rows themselves or a dense distance matrix."
        )

    def query_grams(self, queries: Any) -> Callable[[Integers, Integers], Floats]:
        return self.vertex_grams(np.empty(0, dtype=np.intp))


class TransformerIndex(GraphIndex):
    """A scikit-learn neighbours transformer finds the graph; the rows are there for all else."""

    def __init__(self, transformer: Any, vectors: VectorIndex) -> None:
        from sklearn.base import clone

        self.transformer = clone(transformer).fit(vectors.points)
        self.vectors = vectors
        super().__init__(csr_array(self.transformer.transform(vectors.points)))

    def nearest(self, queries: Floats, k: int) -> Neighbors:
        return _stored(csr_array(self.transformer.transform(queries)))

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


def check_distances(D: Any) -> None:
    """One sentence for whatever makes a square matrix no matrix of distances."""
    if D.shape[0] != D.shape[1]:
        raise InputError(
            f"metric='precomputed' needs a square matrix of distances and got {D.shape[0]} x {D.shape[1]}: pass "
            "all pairwise distances, or use another metric for a table of rows."
        )
    _check_signs(D.data if issparse(D) else D)
    if issparse(D):
        return  # a neighbour graph need not be symmetric: edges are taken both ways
    tolerance = max(ASYMMETRY, 10 * float(np.finfo(D.dtype).eps)) * float(D.max())
    worst = int(np.argmax(np.diag(D)))
    if D[worst, worst] > tolerance:
        raise InputError(
            f"the precomputed matrix has {D[worst, worst]:.3g} on its diagonal in row {worst}: a point is at distance "
            "0 from itself; for similarities use KernelPCA(kernel='precomputed')."
        )
    for part in blocks(len(D), max(1, _ENTRIES_PER_BLOCK // len(D))):
        difference = np.abs(D[part] - D[:, part].T)
        if difference.max() > tolerance:
            row, j = np.unravel_index(int(np.argmax(difference)), difference.shape)
            i = part.start + row
            raise InputError(
                f"the precomputed matrix is not symmetric: entry ({i}, {j}) is {D[i, j]:.6g} and entry ({j}, {i}) is "
                f"{D[j, i]:.6g}; use (D + D.T) / 2 if both mean the same distance."
            )


def _check_signs(distances: Floats) -> None:
    if distances.size and distances.min() < 0:
        raise InputError(
            f"the precomputed distances hold a negative entry ({distances.min():.3g}): distances cannot be "
            "negative; convert similarities to distances first."
        )


def _stored(graph: csr_array) -> Neighbors:
    coo = graph.tocoo()
    return Neighbors.from_pairs(coo.row, coo.col, coo.data.astype(np.float64), graph.shape)

"""Shortest walks between all vertices of a graph that are found anew whenever they are asked for, and never kept.

What stays is the eliminated graph: O(n log n) numbers, of a sheet. From it come strips, the walks of some vertices to
all that are not after them: over all vertices these are one half of a matrix that is symmetric.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.direct.elimination import eliminate
from gramfold.graph.build import subgraph
from gramfold.graph.geodesic import elimination_is_quicker, most_fill
from gramfold.graph.min_plus import EliminatedGraph
from gramfold.runtime.costs import COSTS, Costs
from gramfold.runtime.progress import SILENT
from gramfold.runtime.threads import StopFlag, blocks, thread_count
from gramfold.types import Floats, Graph, Integers, Neighbors, Plain

# Vertices walked from at once: a strip reads the whole structure, however many they are, and takes a room of n each.
_MOST_LANES, _LEAST_LANES, _ROOM = 256, 64, 5e7


def lanes_of(n: int) -> int:
    """How many vertices of n a strip has."""
    return int(min(_MOST_LANES, max(_LEAST_LANES, _ROOM / n)))


def in_postorder(graph: Graph) -> Graph:
    """The graph with its vertices in an order of the same elimination, in which all below a vertex come just before it.

    Then few vertices after a strip lie on the way of one before it to the root.
    """
    symbolic = eliminate(graph.lengths)
    return graph if symbolic is None else subgraph(graph, postorder(symbolic.parent))


def postorder(parent: Integers) -> Integers:
    """The vertices of a forest, all below a vertex just before it; `parent` is after its children, or -1."""
    n = len(parent)
    size = [1] * n  # of the subtree
    for v, u in enumerate(parent.tolist()):
        if u >= 0:
            size[u] += size[v]
    order, free = np.empty(n, dtype=np.intp), [0] * (n + 1)  # free: the first place in a subtree, the forest's last
    for v in range(n - 1, -1, -1):
        u = int(parent[v])
        first = free[u]
        free[u] += size[v]
        order[first + size[v] - 1] = v
        free[v] = first
    return order


@dataclass(frozen=True, eq=False)
class StreamedWalks(Plain):
    """Of a connected graph whose vertices are in an order that fills in little (`geodesic.arranged`)."""

    graph: Graph
    single: bool  # whether they are in float32

    def __len__(self) -> int:
        return len(self.graph)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the walks."""
        return np.dtype(np.float32 if self.single else np.float64)

    def parts(self) -> list[slice]:
        """The vertices of each strip: as many as are walked from at once."""
        return blocks(len(self), lanes_of(len(self)))

    def strip(self, part: slice, stop: StopFlag) -> Floats:
        """Walks (part.stop, b) between these vertices and all that are not after them; the array is the caller's."""
        if self.eliminated is not None:
            return self.eliminated.strip(part, stop)[:, : part.stop - part.start]
        sources = np.arange(part.start, part.stop, dtype=np.int32)
        return self._dijkstra(self.graph.lengths, sources)[:, : part.stop].T

    def of(self, steps: Neighbors, stop: StopFlag) -> Floats:
        """Walks (m, n) of a few points that step onto the graph; the array is the caller's."""
        n, m = len(self), len(steps)
        if self.eliminated is not None:
            return self.eliminated.walks_of(steps, stop)[:, :m].T
        # the points as further vertices, which have edges out and none in
        edges = self.graph.lengths
        lengths = np.concatenate([edges.data, steps.distances])
        ends = np.concatenate([edges.indices, steps.indices])
        starts = np.concatenate([edges.indptr, edges.indptr[-1] + steps.indptr[1:]])
        joined = csr_array((lengths, ends, starts), shape=(n + m, n + m))
        return self._dijkstra(joined, np.arange(n, n + m, dtype=np.int32))[:, :n]

    def from_vertices(self, vertices: Integers, stop: StopFlag) -> Floats:
        """Walks (m, n) of some vertices to all."""
        count = len(vertices)
        own = Neighbors.from_lists(np.asarray(vertices).reshape(-1, 1), np.zeros((count, 1)), len(self))
        out = np.empty((count, len(self)), dtype=self.dtype)
        for some in blocks(count, lanes_of(len(self))):
            out[some] = self.of(own.take(np.arange(some.start, some.stop)), stop)
        return out

    def ready(self) -> None:
        """Make what is kept, before several threads ask for it."""
        if self.eliminated is not None:
            _ = self.eliminated.earliest

    @cached_property
    def eliminated(self) -> EliminatedGraph | None:
        """The eliminated graph; None where Dijkstra's algorithm is predicted to be quicker."""
        return self.engine(COSTS)

    def engine(self, costs: Costs) -> EliminatedGraph | None:
        """The same, by these costs."""
        symbolic = eliminate(self.graph.lengths, most_fill(self.graph, len(self), costs))
        if not symbolic or not elimination_is_quicker(self.graph, symbolic, None, thread_count(None), costs):
            return None
        return EliminatedGraph.of(self.graph, symbolic, self.dtype, SILENT)

    def _dijkstra(self, edges: csr_array, sources: Integers) -> Floats:
        from gramfold.graph.walk_kernels import shortest_walks

        out = np.empty((len(sources), edges.shape[0]), dtype=self.dtype)
        lengths = np.ascontiguousarray(edges.data, dtype=np.float64)
        shortest_walks(edges.indptr.astype(np.int64), edges.indices.astype(np.int32), lengths, sources, out)
        return out

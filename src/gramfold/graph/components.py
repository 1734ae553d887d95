"""A neighbour graph in connected components: one where it is connected or was bridged, else one for each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gramfold.graph.connect import connect
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.neighbors.index import Index
from gramfold.types import Floats, Graph, Integers, Plain


@dataclass(frozen=True, eq=False)
class Component(Plain):
    """A connected graph, the data rows in it and the vertex of each."""

    graph: Graph
    index: Index
    rows: Integers  # (m,) data rows
    numbers: Integers  # (m,) their vertices in the graph
    largest: bool

    def __len__(self) -> int:
        return len(self.graph)

    @property
    def grams(self) -> Callable[[Integers, Integers], Floats]:
        """`grams(r, j)`: inner products (b, k, k) of the differences x_j − x_r of vertices r, lists j (b, k)."""
        return self.index.vertex_grams(self.graph.vertices)

    def distances_from(self, vertex: int) -> Floats:
        """Distances of all its vertices from one of them."""
        return self.index.distances_from(int(self.graph.vertices[vertex]))[self.graph.vertices]


@dataclass(frozen=True, eq=False)
class Components(Plain):
    """The components of a neighbour graph, largest first, and where each vertex of it is."""

    net: NeighborGraph
    graphs: tuple[Graph, ...]
    component: Integers  # (n_vertices,) of each vertex; -1 where it is in none
    number: Integers  # (n_vertices,) its number there
    subset: Integers | None = None  # data rows that the graph was made of, ascending; None: all

    @classmethod
    def of(
        cls, net: NeighborGraph, arrange: Callable[[Graph], Graph] = lambda graph: graph, subset: Integers | None = None
    ) -> Self:
        """Connected as the neighbourhood says; `arrange` numbers vertices as the method's kernel is quickest in."""
        graphs = [arrange(graph) for graph in connect(net.whole(), net.index, net.on_disconnected, net.copies.counts)]
        component, number = np.full(len(net.copies), -1, dtype=np.int32), np.full(len(net.copies), -1)
        for place, graph in enumerate(graphs):
            component[graph.vertices] = place
            number[graph.vertices] = np.arange(len(graph))
        if np.array_equal(number, graphs[0].vertices):
            number = graphs[0].vertices  # one array: a pickle holds it once
        if subset is not None:  # from places in the subset to data rows
            graphs = [replace(graph, rows=subset[graph.rows]) for graph in graphs]
        return cls(net, tuple(graphs), component, number, subset)

    def vertex_of(self, n: int) -> Integers:
        """The vertex of each of n data rows, (n,); -1 where the graph does not have the row."""
        if self.subset is None:
            return self.net.copies.vertex
        vertex = np.full(n, -1)
        vertex[self.subset] = self.net.copies.vertex
        return vertex

    @property
    def first(self) -> Integers:
        """The data row of each vertex, the first of identical ones, (n_vertices,)."""
        return self.net.copies.first if self.subset is None else self.subset[self.net.copies.first]

    @property
    def dropped(self) -> Integers:
        """The data rows of edges that were taken out of the graph, (m, 2)."""
        dropped = self.net.dropped
        return np.empty((0, 2), dtype=np.intp) if dropped is None else np.asarray(self.first[dropped])

    def each(self) -> list[Component]:
        """One by one, with their rows."""
        vertex = self.net.copies.vertex
        where = self.component[vertex]
        found = []
        for place, graph in enumerate(self.graphs):
            rows = np.flatnonzero(where == place)
            data = rows if self.subset is None else self.subset[rows]
            found.append(Component(graph, self.net.index, data, self.number[vertex[rows]], largest=place == 0))
        return found

"""Lists of neighbours become a symmetric graph.

union: an edge where either end is a neighbour of the other;    mutual: where both are
mst: the minimum spanning tree (spanning_tree.py), by itself or together with one of these
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from gramfold.direct.permutation import permuted
from gramfold.types import Floats, Graph, Integers, Neighbors

EdgeRule = Literal["union", "mutual", "mst", "union+mst", "mutual+mst"]

_BITS_OF_INFINITY = np.float64(np.inf).view(np.int64)


def symmetrize(neighbors: Neighbors) -> csr_array:
    """Edge lengths (n, n), the shorter where the two directions differ, stored zeros kept."""
    n = neighbors.n_vertices
    # Sparse maximum drops zeros. The bits of floats that are not negative are ordered as the floats are:
    # counted down from infinity they are positive whole numbers, the largest for the shortest edge.
    key = 1 + _BITS_OF_INFINITY - np.abs(neighbors.distances).view(np.int64)  # abs: −0.0 is 0.0
    # SuperLU, scikit-learn and many others read 32-bit indices only, and they are quicker
    small = np.int32 if 2 * len(key) <= np.iinfo(np.int32).max else np.int64
    lists = csr_array((key, neighbors.indices.astype(small), neighbors.indptr.astype(small)), shape=(n, n))
    choosers = csr_array(lists.T)  # to turn the lists sorts them, which makes the maximum quick
    both = csr_array(choosers.maximum(csr_array(choosers.T)))
    lengths = (1 + _BITS_OF_INFINITY - both.data).view(np.float64)
    return csr_array((lengths, both.indices.astype(small), both.indptr.astype(small)), shape=(n, n))


def mutual(neighbors: Neighbors) -> Neighbors:
    """Only the pairs in which each is a neighbour of the other."""
    n = neighbors.n_vertices
    return neighbors.keep(np.isin(neighbors.rows * n + neighbors.indices, neighbors.indices * n + neighbors.rows))


def build_graph(
    neighbors: Neighbors,
    radii: Floats | None,
    multiplicity: Floats,
    rows: Integers | None = None,
    edges: Neighbors | None = None,
) -> Graph:
    """The union graph of these lists, or of `edges`; `rows` are the data rows of the vertices, unless the same."""
    vertices = np.arange(len(neighbors))
    lengths = symmetrize(neighbors if edges is None else edges)
    return Graph(lengths, neighbors, radii, multiplicity, vertices, vertices if rows is None else rows)


def subgraph(graph: Graph, members: Integers) -> Graph:
    """The part of the graph on these vertices, from which no edge leads outside."""
    number = np.full(len(graph), -1)
    number[members] = np.arange(len(members))
    inside = graph.bridges[np.isin(graph.bridges, members).all(axis=1)]
    lists = graph.neighbors.take(members)
    within = number[lists.indices] >= 0  # mutual neighbours are connected, others need not be
    lists = lists if within.all() else lists.keep(within)
    return replace(
        graph,
        lengths=permuted(graph.lengths, members),
        neighbors=lists.renumber(number, len(members)),
        radii=None if graph.radii is None else graph.radii[members],
        multiplicity=graph.multiplicity[members],
        vertices=graph.vertices[members],
        rows=graph.rows[members],
        bridges=number[inside],
        loops=None if graph.loops is None else graph.loops[members],
    )

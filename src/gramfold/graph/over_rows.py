"""A graph of distinct rows as users see it: over their data rows.

Vertex i is data row i. Identical rows are one vertex of the graph, whose edges are stored at the first of them.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from gramfold.types import Graph, Integers, Neighbors


def graph_over_rows(graphs: Sequence[Graph], first: Integers) -> Graph:
    """The components of a graph as one graph over the data rows.

    `first` (n,) is the row whose vertex stands for each data row: the first of identical ones, -1 for rows that are in
    no component.
    """
    n, everybody = len(first), np.arange(len(first))
    if len(graphs) == 1 and np.array_equal(graphs[0].rows, everybody):
        return graphs[0]
    place = np.full(n + 1, -1)  # of a row's vertex among all vertices; the last entry is for rows without one
    place[np.concatenate([graph.rows for graph in graphs])] = np.arange(sum(map(len, graphs)))
    place = place[first]
    inside = place >= 0
    ends = [np.repeat(np.arange(len(graph)), np.diff(graph.lengths.indptr)) for graph in graphs]
    small = np.result_type(*(graph.lengths.indices.dtype for graph in graphs))  # which many libraries need
    i = np.concatenate([graph.rows[end] for graph, end in zip(graphs, ends, strict=True)]).astype(small)
    j = np.concatenate([graph.rows[graph.lengths.indices] for graph in graphs]).astype(small)
    lengths = csr_array((np.concatenate([graph.lengths.data for graph in graphs]), (i, j)), shape=(n, n))
    lengths.sort_indices()
    stacked = [graph.neighbors.renumber(graph.rows, n) for graph in graphs]
    loops = [graph.loops for graph in graphs if graph.loops is not None]
    radii = [graph.radii for graph in graphs if graph.radii is not None]
    return Graph(
        lengths=lengths,
        neighbors=_taken(_stacked(stacked), place),
        radii=np.where(inside, np.concatenate(radii)[place], 0.0) if len(radii) == len(graphs) else None,
        multiplicity=np.where(inside, np.concatenate([graph.multiplicity for graph in graphs])[place], 0.0),
        vertices=np.where(inside, np.concatenate([graph.vertices for graph in graphs])[place], -1),
        rows=np.where(inside, first, -1),
        bridges=np.concatenate([graph.rows[graph.bridges] for graph in graphs]),
        loops=np.where(inside, np.concatenate(loops)[place], 0.0) if len(loops) == len(graphs) else None,
    )


def neighbors_over_rows(lists: Neighbors, first: Integers, vertex: Integers) -> Neighbors:
    """Lists of distinct rows as lists of data rows; identical rows have the same list.

    `first` is the data row of each vertex, `vertex` (n,) the vertex of each data row, -1 where it has none.
    """
    if np.array_equal(vertex, np.arange(len(lists))):
        return lists
    return _taken(lists.renumber(first, len(vertex)), vertex)


def _stacked(lists: Sequence[Neighbors]) -> Neighbors:
    """Lists over the same vertices, one after another."""
    counts = np.concatenate([one.counts for one in lists])
    return Neighbors(
        np.concatenate(([0], np.cumsum(counts))),
        np.concatenate([one.indices for one in lists]),
        np.concatenate([one.distances for one in lists]),
        lists[0].n_vertices,
        lists[0].recall,
    )


def _taken(lists: Neighbors, place: Integers) -> Neighbors:
    """These of the lists, an empty one for -1."""
    with_empty = Neighbors(
        np.append(lists.indptr, lists.indptr[-1]), lists.indices, lists.distances, lists.n_vertices, lists.recall
    )
    return with_empty.take(np.where(place >= 0, place, len(lists)))

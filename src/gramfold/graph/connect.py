"""A graph with several connected components: bridge them, keep the largest, embed each by itself, or refuse."""

from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning, PrecomputedInputError
from gramfold.graph.build import subgraph
from gramfold.neighbors.index import Index, Outlook, Step
from gramfold.runtime.counting import counted
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Integers, Neighbors

Vector = TypeVar("Vector", Floats, Integers)
OnDisconnected = Literal["bridge", "largest", "separate", "error"]


def components(graph: Graph) -> Integers:
    """The connected component of each vertex; they are numbered by size, the largest 0."""
    if len(breadth_first_order(graph.lengths, 0, return_predecessors=False)) == len(graph):  # the quickest to tell
        return np.zeros(len(graph), dtype=np.intp)
    count, label = connected_components(graph.lengths, directed=False)
    sizes = np.bincount(label, weights=graph.multiplicity, minlength=count)
    place = np.empty(count, dtype=np.intp)
    place[np.argsort(-sizes, kind="stable")] = np.arange(count)
    return np.asarray(place[label])


def connect(graph: Graph, index: Index, on_disconnected: OnDisconnected, counts: Floats | None = None) -> list[Graph]:
    """The connected graphs to embed: one, or under "separate" one for each connected component, largest first.

    `counts` (n,) are the data rows of each vertex, for messages; None: its multiplicity.
    """
    component = components(graph)
    count = int(component.max()) + 1
    if count == 1:
        return [graph]
    sizes = np.bincount(component, weights=graph.multiplicity if counts is None else counts).astype(np.intp)
    found = f"the neighbour graph has {count} connected components of {_listing(sizes)} rows"
    more = "edges" if index.given else "neighbours (n_neighbors or radius)"
    advice = f"more {more} may connect them"
    bridgeable = _bridgeable(component, index)
    if not graph.n_edges and not (bridgeable and on_disconnected == "bridge"):
        or_bridge = ", or use on_disconnected='bridge'" if bridgeable else ""
        raise DisconnectedGraphError(
            f"the neighbour graph has no edges between its {len(graph)} vertices, so there is nothing to embed: add "
            f"{more}{or_bridge}."
        )
    if on_disconnected == "error":
        raise DisconnectedGraphError(
            f"{found}, and on_disconnected='error': {advice}, or use {other_ways(component, index)}."
        )
    if on_disconnected == "bridge":
        graph = bridge(graph, component, index)
        _warn(
            f"{found}; they were connected by {counted(len(graph.bridges), 'bridge')} of least length, so "
            f"distances between components are approximate: {advice}."
        )
        return [graph]
    parts = [subgraph(graph, np.flatnonzero(component == number)) for number in range(count)]
    if on_disconnected == "largest":
        _warn(
            f"{found}; only the largest was embedded, and the coordinates of the other {sizes[1:].sum():,} rows are "
            f"NaN (see kept_): {advice}."
        )
        return parts[:1]
    _warn(
        f"{found}; each was embedded by itself and they are arranged side by side, so only distances within a "
        f"component are meaningful: {advice}."
    )
    return parts


def other_ways(component: Integers, index: Index) -> str:
    """What `on_disconnected` can be for these components, in words."""
    bridge = "'bridge', " if _bridgeable(component, index) else ""
    return f"on_disconnected={bridge}'largest' or 'separate'"


def _bridgeable(component: Integers, index: Index) -> bool:
    """Whether the distances between components are known."""
    try:
        index.distances_between(np.flatnonzero(component == 0)[:1], np.flatnonzero(component == 1)[:1])
    except PrecomputedInputError:  # a sparse graph holds those of its edges only
        return False
    return True


def bridge(graph: Graph, component: Integers, index: Index) -> Graph:
    """Join the components by the shortest edges between them, as Borůvka's spanning tree does, until one is left."""
    bridges: list[Step] = []
    outlook = Outlook.of(component)
    while (count := int(component.max()) + 1) > 1:
        merged = np.arange(count)
        for i, j, length in index.gaps(component, outlook):  # the largest component is reached by the others
            if merged[component[i]] != merged[component[j]]:
                bridges.append((i, j, length))
                one, other = sorted((merged[component[i]], merged[component[j]]))
                merged[merged == other] = one  # number 0 keeps its number
        component = np.unique(merged, return_inverse=True)[1][component]
    ends = np.array([[i, j] for i, j, _ in bridges])
    lengths = np.array([length for *_, length in bridges])
    # each at both of its ends
    rows, columns = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    lengths = np.concatenate([lengths, lengths])
    return replace(
        graph,
        lengths=_with_edges(graph.lengths, rows, columns, lengths),
        neighbors=_with_choices(graph.neighbors, rows, columns, lengths),
        bridges=ends,
    )


def merge_components(component: Integers, index: Index, count: int) -> Integers:
    """The smallest components merged with their nearest others until `count` are left, numbered by size again."""
    while (left := int(component.max()) + 1) > count:
        steps = index.gaps(np.maximum(component - count + 1, 0))  # those that stay are one for the search
        merged, grown = np.arange(left), np.zeros(left, dtype=bool)
        for i, j, _ in sorted(steps, key=lambda step: -int(component[step[0]])):
            own, other = int(component[i]), int(component[j])
            if grown[own]:
                continue  # its way out is to be sought again
            merged[merged == own] = merged[other]
            grown[merged[other]] = True
        component = _by_size(np.unique(merged, return_inverse=True)[1][component])
    return component


def _with_edges(edges: csr_array, rows: Integers, columns: Integers, lengths: Floats) -> csr_array:
    """The edges with these among them, their rows sorted by column."""
    order = np.lexsort((columns, rows))
    rows, columns, lengths = rows[order], columns[order], lengths[order]
    places = []
    for row, column in zip(rows, columns, strict=True):
        mine = slice(edges.indptr[row], edges.indptr[row + 1])
        places.append(mine.start + int(np.searchsorted(edges.indices[mine], column)))
    indptr = edges.indptr + _before(rows, edges.shape[0]).astype(edges.indptr.dtype)
    return csr_array(
        (_inserted(edges.data, places, lengths), _inserted(edges.indices, places, columns), indptr), shape=edges.shape
    )


def _with_choices(neighbors: Neighbors, rows: Integers, columns: Integers, lengths: Floats) -> Neighbors:
    """The lists with these edges where their lengths belong."""
    order = np.lexsort((columns, lengths, rows))
    rows, columns, lengths = rows[order], columns[order], lengths[order]
    places = []
    for row, column, length in zip(rows, columns, lengths, strict=True):
        mine = slice(neighbors.indptr[row], neighbors.indptr[row + 1])
        nearer = neighbors.distances[mine] < length
        tied = (neighbors.distances[mine] == length) & (neighbors.indices[mine] < column)
        places.append(mine.start + int((nearer | tied).sum()))
    return replace(
        neighbors,
        indptr=neighbors.indptr + _before(rows, len(neighbors)),
        indices=_inserted(neighbors.indices, places, columns),
        distances=_inserted(neighbors.distances, places, lengths),
    )


def _inserted(array: Vector, places: list[int], values: Vector) -> Vector:
    """`np.insert` at a few places that rise, which copies what lies between them at once."""
    runs = np.split(array, places)
    parts = [part for i, run in enumerate(runs) for part in (run, values[i : i + 1])]
    return np.concatenate(parts, dtype=array.dtype)


def _before(rows: Integers, n: int) -> Integers:
    """How many of these rows come before each of n, and how many there are, (n + 1,)."""
    return np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))


def _by_size(component: Integers) -> Integers:
    place = np.empty(int(component.max()) + 1, dtype=np.intp)
    place[np.argsort(-np.bincount(component), kind="stable")] = np.arange(len(place))
    return np.asarray(place[component])


def _listing(sizes: Integers, shown: int = 5) -> str:
    listed = ", ".join(f"{size:,}" for size in sizes[:shown])
    return listed if len(sizes) <= shown else f"{listed}, ..."


def _warn(message: str) -> None:
    warn(message, DisconnectedGraphWarning)

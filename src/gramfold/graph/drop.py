"""Edges taken out of a neighbour graph: those that a user names, or its short circuits.

Edges are named by their data rows. Identical rows are one vertex, so each of them names the same edges.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from gramfold.errors import DroppedEdgesWarning, InputError, PrecomputedInputError
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.graph.short_circuits import ShortCircuits, find_short_circuits
from gramfold.graph.without import are_among
from gramfold.runtime.counting import counted
from gramfold.runtime.warning import warn
from gramfold.types import Integers


def drop_edges(
    net: NeighborGraph,
    asked: Any,
    n: int,
    subset: Integers | None,
    random_state: np.random.RandomState,
    n_jobs: int | None,
) -> NeighborGraph:
    """The same neighbours without the edges `asked` for, pairs of n data rows or "short_circuits".

    `subset` are the data rows that the graph is of; None: all.
    """
    if asked is None:
        return net
    if isinstance(asked, str):
        found = short_circuits_of(net, random_state, n_jobs)
        if not len(found):
            return net
        warn(
            f"{counted(found.n_found, 'short circuit')} of {counted(len(found), 'edge')} of the neighbour graph "
            f"(first: rows {_named(found.edges[0], subset)}) cut through the ambient space and "
            f"{'was' if len(found) == 1 else 'were'} removed (see dropped_edges_): fewer neighbours may avoid them.",
            DroppedEdgesWarning,
        )
        return replace(net, dropped=net.copies.vertex[found.edges])
    pairs = checked_pairs(asked, n)
    vertices = net.copies.vertex[pairs] if subset is None else _in_subset(pairs, subset, net.copies.vertex, n)
    graph = net.whole()
    inside = (vertices >= 0).all(axis=1)
    there = np.zeros(len(pairs), dtype=bool)
    edges = np.column_stack([np.repeat(np.arange(len(graph)), np.diff(graph.lengths.indptr)), graph.lengths.indices])
    there[inside] = are_among(vertices[inside, 0], vertices[inside, 1], edges, len(graph))
    if not there.all():
        absent = np.flatnonzero(~there)
        i, j = pairs[absent[0]]
        warn(
            f"{len(absent)} of {counted(len(pairs), 'pair')} of rows in drop_edges (first: rows {i} and {j}) "
            f"{'is' if len(absent) == 1 else 'are'} not an edge of the neighbour graph and had no effect: graph_ holds "
            "its edges.",
            DroppedEdgesWarning,
        )
    return replace(net, dropped=vertices[there]) if there.any() else net


def short_circuits_of(net: NeighborGraph, random_state: np.random.RandomState, n_jobs: int | None) -> ShortCircuits:
    """The short circuits of these neighbours; rows are numbered as the graph has them."""
    graph = net.whole()
    grams: Any = net.index.vertex_grams
    try:
        grams = grams(graph.vertices)
    except PrecomputedInputError:  # a sparse graph holds no rows: the edges alone are judged
        grams = None
    points = getattr(net.index, "points", None)
    columns = None if points is None else int(points.shape[1])
    return find_short_circuits(graph, grams, columns=columns, random_state=random_state, n_jobs=n_jobs)


def checked_pairs(asked: Any, n: int) -> Integers:
    """Pairs (m, 2) of n data rows."""
    given = np.asarray(asked)
    if given.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise InputError(
            f"drop_edges has shape {given.shape} and dtype {given.dtype}, but edges are pairs of row numbers: pass "
            "integers of shape (n_edges, 2), as in [(3, 17), (4, 90)]."
        )
    outside = np.flatnonzero(((given < 0) | (given >= n)).any(axis=1))
    if outside.size:
        i, j = given[outside[0]]
        raise InputError(
            f"drop_edges holds the pair ({i}, {j}), but X has the rows 0 to {n - 1}: name edges by the rows of this X."
        )
    return given.astype(np.intp)


def _in_subset(pairs: Integers, subset: Integers, vertex: Integers, n: int) -> Integers:
    """The vertices of these data rows; -1 where the graph does not have the row."""
    place = np.full(n, -1)
    place[subset] = vertex
    return np.asarray(place[pairs])


def _named(edge: Integers, subset: Integers | None) -> str:
    i, j = edge if subset is None else subset[edge]
    return f"{i} and {j}"

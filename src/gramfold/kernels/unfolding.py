"""How a sheet is kept while it is unfolded: whether the rows lie on one, and with how many neighbours.

A neighbourhood is flat in d dimensions if its d first principal directions have most of its variance. Rows whose
neighbourhoods are flat in one or two dimensions lie on a curve or a sheet.

On a sheet, distances that may shrink are strings: it holds its shape only if strings of nearly every direction leave
each row. Edges that are universally rigid by themselves (graph/rigidity.py), together with the distances between common
neighbours, do so. Elsewhere the learned kernel has more dimensions than a sheet. Neighbourhoods then only need to share
enough rows to fix each other, and fewer neighbours mean fewer short cuts.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.graph.rigidity import rigid_bodies
from gramfold.kernels.semidefinite import common_neighbors
from gramfold.types import Floats, Graph, Integers, Neighbors

MOST_NEIGHBORS = 12  # on a sheet few edges more would be rigid; elsewhere they are short cuts
UNHELD_NEIGHBORS = 4  # where not even these hold the rows
_SHEET = 2  # dimensions at most
_FLAT = 0.9  # share of the variance in so many: sheets with noise have 0.93, images and cells 0.4 to 0.8
_PROBED = 8  # neighbours by which the dimension is judged
_SAMPLE = 200  # vertices by which it is
_HELD = 0.97  # share of the rows in rigid bodies
_FRAGMENT = 0.05  # share of the rows that a body has at least
_FEW = 10  # and so many rows
_LOCAL = 0.06  # share of the rows that the kept pairs of one may reach: more fold rolls of 300 to 500 rows
_BLOCK = 64  # rows at once: their differences to their neighbours stay in the cache

Grams = Callable[[Integers, Integers], Floats]


def flatness(lists: Neighbors, grams: Grams, rows: Integers) -> Floats:
    """(b, 2) share of the variance of these rows' neighbourhoods in one principal direction, and in two.

    A neighbourhood is the row and its neighbours.
    """
    found = np.ones((len(rows), _SHEET))
    counts = lists.counts[rows]
    for k in np.unique(counts[counts > 1]):
        alike = np.flatnonzero(counts == k)
        for some in np.split(alike, range(_BLOCK, len(alike), _BLOCK)):
            chosen = lists.indices[lists.indptr[rows[some]][:, None] + np.arange(k)]
            found[some] = _shares(grams(rows[some], chosen))
    return found


def _shares(gram: Floats) -> Floats:
    """Of inner products (b, k, k) of the differences to a row, which is one of the points itself."""
    points = np.pad(gram.astype(np.float64), ((0, 0), (1, 0), (1, 0)))
    points = points - points.mean(axis=1, keepdims=True)
    points = points - points.mean(axis=2, keepdims=True)
    values = np.clip(np.linalg.eigvalsh(points)[:, ::-1], 0.0, None)  # distances that are not Euclidean have others
    total = values.sum(axis=1, keepdims=True)
    shares = np.cumsum(values, axis=1)[:, :_SHEET]
    np.divide(shares, total, out=shares, where=total > 0)
    return np.where(total > 0, shares, 1.0)


def sheet_dimension(lists: Neighbors, grams: Grams) -> int | None:
    """1 or 2 where at least half of the neighbourhoods are flat in so many dimensions; otherwise None."""
    n = len(lists)
    some = np.arange(n) if n <= _SAMPLE else np.linspace(0, n - 1, _SAMPLE).astype(int)
    curved = 1 - flatness(lists, grams, some)
    flat = np.flatnonzero(np.median(curved - _allowed(lists.counts[some]), axis=0) <= 0)
    return int(flat[0]) + 1 if flat.size else None


def _allowed(counts: Integers) -> Floats:
    """(b, 2) share of the variance that may lie outside of one dimension, and of two.

    What lies outside has k − d dimensions: so few neighbours that they hardly have it show less of it.
    """
    d = np.arange(1, _SHEET + 1)
    seen = np.clip((counts[:, None] - d) / (_PROBED - d), 0.0, 1.0)
    return np.where(counts[:, None] > d, (1 - _FLAT) * seen, -1.0)


def rigid_neighbors(net: NeighborGraph) -> NeighborGraph:
    """The same rows with the smallest number of neighbours that holds them; see the module.

    Rows in several connected components, however many neighbours they have, are held in each.
    """
    most = min(MOST_NEIGHBORS, net.index.size - 1)
    full = replace(net.index.own(most, None), recall=net.index.recall)
    grams = net.index.vertex_grams(np.arange(net.index.size))
    dimension = sheet_dimension(_first(full, min(_PROBED, most)), grams)
    d = dimension or _SHEET
    local = int(_LOCAL * len(full) / 2**d)  # neighbours of neighbours are 2^d times as many
    for k in range(_connecting(net, full, most), most + 1):
        pairs = _common(_with(net, full, k).whole())
        if _in_large_bodies(pairs, d) if dimension is None else _in_one_body(pairs, d):
            break
    else:
        return _with(net, full, min(UNHELD_NEIGHBORS, most))
    while dimension is not None and k < min(most, local):
        if _in_one_body(_pattern(_with(net, full, k).whole()), d + 1):
            break
        k += 1
    return _with(net, full, k)


def _connecting(net: NeighborGraph, full: Neighbors, most: int) -> int:
    """The smallest number that connects all rows, if other components would be refused or left out; otherwise 1."""
    if net.on_disconnected in {"bridge", "separate"}:
        return 1
    for k in range(1, most + 1):
        if connected_components(_pattern(_with(net, full, k).whole()), directed=False)[0] == 1:
            return k
    return 1


def _in_large_bodies(pairs: csr_array, order: int) -> bool:
    """Whether nearly all vertices are in bodies that are no fragments; these may be hinged, or apart."""
    bodies = rigid_bodies(pairs, order)
    sizes = np.bincount(bodies[bodies >= 0], minlength=1)
    return bool(sizes[sizes >= _whole(len(bodies))].sum() >= _HELD * len(bodies))


def _in_one_body(pairs: csr_array, order: int) -> bool:
    """Whether nearly all vertices of every connected component, but for fragments, are in one body."""
    bodies = rigid_bodies(pairs, order)
    _, part = connected_components(pairs, directed=False)
    sizes = np.bincount(part)
    for one in np.flatnonzero(sizes >= _whole(len(part))):
        found = bodies[(part == one) & (bodies >= 0)]
        if np.bincount(found, minlength=1).max() < _HELD * sizes[one]:
            return False
    return bool((sizes >= _whole(len(part))).any())


def _whole(n: int) -> float:
    """Rows of a body or component of n rows that is no fragment, at least."""
    return max(_FRAGMENT * n, min(n, _FEW))


def _with(net: NeighborGraph, full: Neighbors, k: int) -> NeighborGraph:
    return replace(net, neighbors=_first(full, k), n_neighbors=k)


def _first(lists: Neighbors, k: int) -> Neighbors:
    """The k nearest of each list."""
    return lists.keep(np.arange(len(lists.indices)) - lists.indptr[lists.rows] < k)


def _pattern(graph: Graph) -> csr_array:
    """1 for each edge, those of length 0 too."""
    lengths = graph.lengths
    return csr_array((np.ones(lengths.nnz), lengths.indices, lengths.indptr), shape=lengths.shape)


def _common(graph: Graph) -> csr_array:
    """Pattern of the edges and of the pairs that some vertex chose both of."""
    common = common_neighbors(graph.neighbors)
    return csr_array(_pattern(graph) + common + common.T)

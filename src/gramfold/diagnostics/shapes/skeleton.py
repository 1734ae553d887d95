"""Curves: the skeleton of the levels of the geodesic distance from one end.

    f(row) = length of the shortest path from an end, which is the row farthest from the middle
    node     connected component of the rows with f in one of up to 20 equal intervals
    edge     between nodes of successive intervals with neighbours in both

Where nodes are narrow, this graph is the shape: with two ends it is a line, with one loop and no end a ring, with three
ends or more and no loop it branches (Reeb 1946; Singh, Mémoli, Carlsson, PBG 2007). Noise makes a curve as wide as a
strip is: both count as curves if they are eight times as long as wide. Ends between which there is no gap wider than
chance makes are joined: of n rows along a ring the widest gap has about ln n times the usual width.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from gramfold.diagnostics.shapes.cloud import Cloud, widest_by_chance
from gramfold.types import Floats, Integers

THIN = 1 / 8  # of the length of a skeleton: a wider one is no curve
_LEVELS = (3, 20)  # fewest and most
_REACH = 2.0  # neighbourhood radii that a level has at least
_LEAST_ROWS, _LEAST_SHARE = 3, 0.005  # of a node
_QUANTILE = 0.9
_OF_A_SEGMENT = 1.0 - np.sqrt(1.0 - _QUANTILE)  # that quantile of the distance between two points of a unit segment
_WIDTHS_OF_NOISE = 4.0  # standard deviations from side to side
_FILLED = 4.0  # nodes among which the rows of a curve are spread at least
_WHOLE = 0.8  # of the rows
_CLOSE = 2.0  # gaps of chance: ends within these may be those of a ring
_SHORT = 1.5  # widths, or levels: a shorter end is a bulge

Adjacency = dict[int, set[int]]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """What a shape looks like from far away."""

    width: float  # relative to the length of all its parts
    n_ends: int
    n_loops: int
    share: float  # of the rows that it has: others are few in their levels
    n_filled: float  # nodes among which rows are spread: 1 / Σ share²
    n_joined: int  # pairs of ends between which the gap is no wider than chance makes it
    n_close: int  # pairs between which it is, but not twice as wide

    @property
    def thin(self) -> bool:
        """Whether it is a curve, or several that meet, and no heap with a few rows far from it."""
        return self.width < THIN and self.n_filled >= _FILLED and self.share >= _WHOLE


def skeleton_of(cloud: Cloud) -> Skeleton:
    """Of the largest connected component of the neighbour graph."""
    rows = cloud.main
    graph = csr_array(cloud.graph[rows][:, rows])
    level, height = _levels(graph, cloud)
    node, edges = _nodes(graph, level)
    sizes = np.bincount(node)
    large = sizes >= max(_LEAST_ROWS, _LEAST_SHARE * len(rows))
    widths = _widths(node, cloud.distances[np.ix_(rows, rows)], height)
    width = max(float(np.median(widths[node])), _WIDTHS_OF_NOISE * cloud.noise)
    joined: Adjacency = {int(one): set() for one in np.flatnonzero(large)}
    for one, other in edges:
        if large[one] and large[other]:
            joined[one].add(other)
            joined[other].add(one)
    length = height * len(joined)
    joined = _largest(joined, sizes)
    share = float(sizes[list(joined)].sum() / len(rows))
    _prune(joined, _SHORT * max(width / height, 1.0))
    n_joined, n_close = _join_ends(joined, node, rows, cloud)
    n_edges, n_ends = sum(map(len, joined.values())) // 2, sum(len(others) == 1 for others in joined.values())
    n_filled = float(len(rows) ** 2 / np.square(sizes.astype(np.float64)).sum())
    return Skeleton(width / length, n_ends, n_edges - len(joined) + 1, share, n_filled, n_joined, n_close)


def _levels(graph: csr_array, cloud: Cloud) -> tuple[Integers, float]:
    """The interval of each row, and the length of one."""
    start = int(np.argmax(dijkstra(graph, indices=0)))
    across = dijkstra(graph, indices=int(np.argmax(dijkstra(graph, indices=start))))
    longest = float(across.max())
    _, reach = cloud.lists(cloud.n_edges)
    count = int(np.clip(longest / (_REACH * float(np.median(reach[:, -1]))), *_LEVELS))
    return np.minimum((across / longest * count).astype(np.intp), count - 1), longest / count


def _nodes(graph: csr_array, level: Integers) -> tuple[Integers, set[tuple[int, int]]]:
    """The node of each row, and pairs of nodes of successive levels that have neighbours in each other."""
    edges = graph.tocoo()
    i, j = edges.coords
    inside = level[i] == level[j]
    shape = graph.shape
    _, node = connected_components(csr_array((np.ones(inside.sum()), (i[inside], j[inside])), shape=shape), False)
    steps = level[j] - level[i] == 1
    return node, {(int(a), int(b)) for a, b in zip(node[i[steps]], node[j[steps]], strict=True)}


def _widths(node: Integers, distances: Floats, height: float) -> Floats:
    """How wide each node is across the direction of the curve."""
    order = np.argsort(node, kind="stable")
    found = np.zeros(int(node.max()) + 1)
    for members in np.split(order, np.cumsum(np.bincount(node))[:-1]):
        if len(members) > _LEAST_ROWS:
            pairs = distances[np.ix_(members, members)][np.triu_indices(len(members), 1)]
            extent = float(np.quantile(pairs, _QUANTILE)) / _OF_A_SEGMENT
            found[node[members[0]]] = np.sqrt(max(extent**2 - height**2, 0.0))
    return found


def _prune(joined: Adjacency, short: float) -> None:
    """Take away ends that have fewer nodes than this."""
    while True:
        bulge = next((path for end in joined if (path := _path(joined, end)) and len(path) < short), None)
        if bulge is None:
            return
        for one in bulge:
            for other in joined.pop(one):
                if other in joined:
                    joined[other].discard(one)


def _join_ends(joined: Adjacency, node: Integers, rows: Integers, cloud: Cloud) -> tuple[int, int]:
    """Join ends that are no farther apart than chance makes them: how many pairs are, and within twice as much."""
    _, reach = cloud.lists(cloud.n_edges)
    chance = widest_by_chance(len(cloud), cloud.n_edges, max(cloud.dimension, 1.0))
    n_joined = n_close = 0
    for one, other in combinations([end for end, others in joined.items() if len(others) == 1], 2):
        here, there = rows[node == one], rows[node == other]
        gaps = cloud.distances[np.ix_(here, there)]
        i, j = np.unravel_index(np.argmin(gaps), gaps.shape)
        times = float(gaps[i, j] / (chance * max(reach[here[i], -1], reach[there[j], -1])))
        if other in joined[one] or times > _CLOSE:
            continue
        if times > 1.0:
            n_close += 1
            continue
        joined[one].add(other)
        joined[other].add(one)
        n_joined += 1
    return n_joined, n_close


def _path(joined: Adjacency, end: int) -> list[int]:
    """From an end to the node before a fork; empty where it is no end, or there is no fork."""
    if len(joined[end]) != 1:
        return []
    path, here = [end], next(iter(joined[end]))
    while len(joined[here]) == 2:
        path.append(here)
        here = next(other for other in joined[here] if other != path[-2])
    return path if len(joined[here]) > 2 else []


def _largest(joined: Adjacency, sizes: Integers) -> Adjacency:
    """The connected part with the most rows."""
    number = {one: place for place, one in enumerate(joined)}
    rows = [number[one] for one, others in joined.items() for _ in others]
    columns = [number[other] for others in joined.values() for other in others]
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(joined), len(joined)))
    _, part = connected_components(graph, directed=False)
    most = int(np.argmax(np.bincount(part, weights=sizes[list(joined)])))
    return {one: others for one, others in joined.items() if part[number[one]] == most}

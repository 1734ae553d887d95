"""Loops that cannot be drawn together: persistent homology in dimension 1, with coefficients in Z/2.

    landmarks    spread evenly (farthest-point sampling) in the geodesic metric; every row is within ε of one
    fine         cycles of the graph whose edges join landmarks within 2 ε
    coarse       triangles of landmarks within 3.5 ε of each other

A loop counts where a fine cycle is no sum of coarse triangles. Gaps between landmarks are filled by then; a loop is
not, if it is longer than three coarse edges. Edelsbrunner, Letscher, Zomorodian, FOCS 2000.

Of the two loops of a torus with radii R and r, 2πr and 2π(R − r) long around its hole, the longer one has at least
√(A/2), A = 4π²Rr its area. So where three coarse edges are longer than that, a hole may be there without being seen;
what a shorter coarse length of 3 ε leaves is a hint of one, no proof: gaps between landmarks may leave the same.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from gramfold.types import Floats, Integers

_LANDMARKS = 150
_ROWS_PER_LANDMARK = 8  # among fewer, gaps between the rows themselves would count as holes
_FINE, _COARSE, _SHORTER = 2.0, 3.5, 3.0  # covering radii
_TRIANGLE = 3.0  # edges
_OF_A_TORUS = 0.5  # squared length of the longer loop over the area, at least


@dataclass(frozen=True, eq=False)
class Loops:
    """The loops of a connected graph that nothing fills."""

    count: int
    hinted: int  # with shorter triangles, where those of a torus may be too short to count, else `count`
    seen: bool  # whether those of a torus would be long enough


def loops(lengths: csr_array, area: float) -> Loops:
    """Of a graph with these edge lengths on a surface of this area."""
    landmarks, walks = spread(lengths, min(_LANDMARKS, lengths.shape[0] // _ROWS_PER_LANDMARK))
    radius, between = float(walks.min(axis=0).max()), walks[:, landmarks]
    count = persistent(between, _FINE * radius, _COARSE * radius)
    seen = (_TRIANGLE * _COARSE * radius) ** 2 <= _OF_A_TORUS * area
    hinted = count if seen or count else persistent(between, _FINE * radius, _SHORTER * radius)
    return Loops(count, hinted, seen)


def spread(lengths: csr_array, count: int) -> tuple[Integers, Floats]:
    """Landmarks by farthest-point sampling, and the walks (count, n) from each of them."""
    n = lengths.shape[0]
    chosen, walks = [0], [dijkstra(lengths, indices=0)]
    nearest = walks[0].copy()
    while len(chosen) < min(count, n):
        chosen.append(int(np.argmax(nearest)))
        walks.append(dijkstra(lengths, indices=chosen[-1]))
        np.minimum(nearest, walks[-1], out=nearest)
    return np.array(chosen), np.array(walks)


def persistent(distances: Floats, fine: float, coarse: float) -> int:
    """How many independent cycles of edges up to `fine` are no sum of triangles of edges up to `coarse`.

    Sets of edges are whole numbers, a bit for each edge: their sum is an exclusive or.
    """
    n = len(distances)
    i, j = np.triu_indices(n, 1)
    order = np.argsort(distances[i, j], kind="stable")
    order = order[distances[i, j][order] <= coarse]
    i, j = i[order], j[order]
    number = {(int(a), int(b)): e for e, (a, b) in enumerate(zip(i, j, strict=True))}
    cycles = _cycles(n, [(int(a), int(b)) for a, b in zip(i, j, strict=True) if distances[a, b] <= fine])
    filled = _Span()
    room = len(number) - n + _parts(n, number)  # no more cycles than these can be independent
    for triangle in _triangles(n, number):
        filled.add(triangle)
        if len(filled.pivots) == room:
            return 0
    return sum(filled.add(cycle) for cycle in cycles)


class _Span:
    """Sums of some sets of edges."""

    def __init__(self) -> None:
        self.pivots: dict[int, int] = {}  # by their last edge

    def add(self, edges: int) -> bool:
        """Whether the set is no sum of those that were added before."""
        while edges:
            last = edges.bit_length()
            known = self.pivots.get(last)
            if known is None:
                self.pivots[last] = edges
                return True
            edges ^= known
        return False


def _cycles(n: int, edges: list[tuple[int, int]]) -> list[int]:
    """A basis of the cycles of a graph: each edge outside of a spanning forest closes one."""
    root = list(range(n))
    to_root = [0] * n  # the edges of the forest from the root to each vertex
    members = [[v] for v in range(n)]
    closing = []
    for number, (a, b) in enumerate(edges):
        bit = 1 << number
        if root[a] == root[b]:
            closing.append(to_root[a] ^ to_root[b] ^ bit)
            continue
        kept, moved = sorted((root[a], root[b]), key=lambda one: -len(members[one]))
        shift = to_root[a] ^ to_root[b] ^ bit
        for v in members[moved]:
            root[v] = kept
            to_root[v] ^= shift
        members[kept] += members[moved]
    return closing


def _parts(n: int, edges: dict[tuple[int, int], int]) -> int:
    return n - (len(edges) - len(_cycles(n, list(edges))))


def _triangles(n: int, number: dict[tuple[int, int], int]) -> list[int]:
    """All triangles, in the order of their longest edges."""
    found: list[tuple[int, int]] = []
    later: list[set[int]] = [set() for _ in range(n)]
    for a, b in number:
        later[a].add(b)
    for (a, b), first in number.items():
        others = [(number[a, c], number[b, c]) for c in later[a] & later[b]]
        found += [(max(first, one, other), 1 << first | 1 << one | 1 << other) for one, other in others]
    return [edges for _, edges in sorted(found)]

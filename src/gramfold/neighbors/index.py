"""What every search structure can do, and the part that all structures over vectors share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from gramfold.neighbors.metrics import Metric
from gramfold.runtime.costs import COSTS, SearchCosts
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import Floats, Integers, Neighbors, Plain

# Rounding allowed when "within r" meets a distance computed in another order.
ROUNDING = 1e-12
# Those who would choose a new row are searched with a reach of its own that finds few others, and nobody at a tie.
_NARROW = 0.5
_FAR_LOOKS = 1_000_000  # neighbours of asking vertices that are looked at before a search of its own begins


Step = tuple[int, int, float]  # from vertex, to vertex, distance


@dataclass
class Outlook:
    """What each vertex has seen outside of its piece so far."""

    vertex: Integers  # (n,) the nearest vertex there; -1 where none was seen
    distance: Floats  # (n,) how far it is, or where none was seen how far was looked: nobody there is nearer
    small: Integers  # (m,) vertices that were not in piece 0 at first
    many: bool  # whether there are as many pieces as vertices at first
    main: Neighbors | None = None  # their nearest in what was piece 0 at first, once somebody has asked

    @classmethod
    def of(cls, piece: Integers) -> Self:
        """Nothing was seen."""
        n = len(piece)
        return cls(np.full(n, -1), np.zeros(n), np.flatnonzero(piece > 0), many=int(piece.max()) == n - 1)

    def asking(self, piece: Integers) -> Integers:
        """Vertices that may have a shorter step out of their piece than those known; piece 0 does not ask."""
        known = self.vertex >= 0
        shortest = np.full(int(piece.max()) + 1, np.inf)
        np.minimum.at(shortest, piece[known], self.distance[known])
        return np.flatnonzero(~known & (piece > 0) & (self.distance < shortest[piece]))


@dataclass(frozen=True, eq=False)
class Index(Plain, ABC):
    """Vertices that can be searched. Its fields are data; a search structure is built when first asked for."""

    recall: float | None = field(default=None, kw_only=True)  # measured where the search is approximate
    given: ClassVar[bool] = False  # whether the edges were given, so that no neighbourhood radius is known
    gaps_unknown: ClassVar[bool] = False  # whether distances beyond the given edges are not known
    weighted: ClassVar[bool] = False  # whether edges were given with weights w, and their lengths are 1/w
    euclidean: ClassVar[bool] = True  # whether the Gram matrices below are of rows, and so positive semidefinite

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of vertices."""

    @abstractmethod
    def own(self, k: int | None, radius: float | None, stages: Stages = SILENT) -> Neighbors:
        """Neighbours of each vertex among the others: its k nearest, or all within the radius."""

    @abstractmethod
    def nearest(self, queries: Floats, k: int) -> Neighbors:
        """The k nearest vertices of each new row."""

    @abstractmethod
    def within(self, queries: Floats, reach: Floats, reaches: Floats) -> Neighbors:
        """All vertices j with d(x, j) ≤ max(reach of x, reaches[j]): the rule of the union graph."""

    def joined(self, queries: Floats, k: int, lists: Neighbors) -> Neighbors:
        """The vertices that new rows would share an edge with in the union graph of these lists of k neighbours.

        They are the k nearest, and all that would take the row for one of their own k. A row that comes last is not
        taken at a tie.
        """
        own, reaches = self.nearest(queries, k), nearer_than(lists.farthest)
        choosers = self.within(queries, _NARROW * own.farthest, reaches)
        return united(own, choosers.keep(choosers.distances <= reaches[choosers.indices]))

    @abstractmethod
    def distances_from(self, vertex: int) -> Floats:
        """Distances of all vertices from one of them, (size,)."""

    @abstractmethod
    def distances_between(self, first: Integers, second: Integers) -> Floats:
        """The distance of each of these pairs of vertices."""

    @abstractmethod
    def gap(self, group: Integers, others: Integers) -> Step:
        """The shortest step (i, j, distance) from a group of vertices to the others."""

    def gaps(self, piece: Integers, outlook: Outlook | None = None) -> list[Step]:
        """The shortest step out of each piece but number 0, from the piece of each vertex.

        `outlook` keeps what was seen for a later call, in which pieces have grown together and 0 holds what it held.
        """
        return [self._way_out(piece, number) for number in range(1, int(piece.max()) + 1)]

    def _way_out(self, piece: Integers, number: int) -> Step:
        inside = piece == number
        return self.gap(np.flatnonzero(inside), np.flatnonzero(~inside))

    @abstractmethod
    def vertex_grams(self, vertices: Integers) -> Callable[[Integers, Integers], Floats]:
        """`grams(r, j)`: inner products (b, k, k) of the differences x_j − x_r of vertices r, lists j (b, k)."""

    @abstractmethod
    def query_grams(self, queries: Floats) -> Callable[[Integers, Integers], Floats]:
        """The same around new rows: `grams(r, j)` for the r-th queries."""


@dataclass(frozen=True, eq=False)
class VectorIndex(Index):
    """Search among rows of numbers. A subclass finds candidates; distances come from differences."""

    points: Floats  # (n, d) row after row in memory
    metric: Metric
    n_jobs: int | None
    costs: SearchCosts = field(default=COSTS.search, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", np.ascontiguousarray(self.points))

    @property
    def size(self) -> int:
        return len(self.points)

    @cached_property
    def rows(self) -> Floats:
        """The points as the search sees them: for most metrics the very same array."""
        return self.metric.prepare(self.points)

    @abstractmethod
    def _nearest(self, rows: Floats, k: int, stages: Stages) -> tuple[Integers, Floats]:
        """Indices and distances (m, k) of the k nearest vertices, nearest first, lower index at a tie."""

    @abstractmethod
    def _within(self, rows: Floats, reach: Floats, reaches: Floats | None) -> tuple[Integers, Integers, Floats]:
        """Rows, vertices and distances of at least the pairs with d ≤ max(reach, reaches)."""

    def own(self, k: int | None, radius: float | None, stages: Stages = SILENT) -> Neighbors:
        if radius is not None:
            pairs = self._within(self.rows, np.full(self.size, radius), None)
            return self._cut(*pairs, np.full(self.size, radius), None, exclude_self=True)
        assert k is not None
        indices, distances = self._nearest(self.rows, k + 1, stages)
        indices, distances = without(np.arange(self.size), indices, distances)
        return Neighbors.from_lists(indices, distances, self.size)

    def nearest(self, queries: Floats, k: int) -> Neighbors:
        indices, distances = self._nearest(self.metric.prepare(queries), k, SILENT)
        return Neighbors.from_lists(indices, distances, self.size)

    def within(self, queries: Floats, reach: Floats, reaches: Floats) -> Neighbors:
        pairs = self._within(self.metric.prepare(queries), reach, reaches)
        return self._cut(*pairs, reach, reaches)

    def _cut(
        self,
        i: Integers,
        j: Integers,
        distances: Floats,
        reach: Floats,
        reaches: Floats | None,
        *,
        exclude_self: bool = False,
    ) -> Neighbors:
        limit = reach[i] if reaches is None else np.maximum(reach[i], reaches[j])
        keep = distances <= limit * (1.0 + ROUNDING)
        if exclude_self:
            keep &= i != j
        return Neighbors.from_pairs(i[keep], j[keep], distances[keep], (len(reach), self.size))

    def gap(self, group: Integers, others: Integers) -> Step:
        found = self._nearest_of(group, others)
        best = int(np.argmin(found.distances))
        return int(group[best]), int(found.indices[best]), float(found.distances[best])

    def _of_others(self, points: Floats) -> "VectorIndex":
        return replace(self, points=points, recall=None)

    def gaps(self, piece: Integers, outlook: Outlook | None = None) -> list[Step]:
        seen = outlook or Outlook.of(piece)
        seen.vertex[(seen.vertex >= 0) & (piece[seen.vertex] == piece)] = -1  # the pieces have grown together
        fresh = np.flatnonzero((piece > 0) & (seen.distance == 0))
        look = self.costs.first_look
        if fresh.size and self.size > look:
            self._look(fresh, look, piece, seen)
        asking = seen.asking(piece)
        # where pieces are many, those that still ask are few in each: they look further, which needs no new search index
        while seen.many and asking.size and (look := 4 * look) < self.size and asking.size * look < _FAR_LOOKS:
            self._look(asking, look, piece, seen)
            asking = seen.asking(piece)
        if asking.size:
            self._search_outside(piece, asking, seen)
        starts = np.flatnonzero((piece > 0) & (seen.vertex >= 0))
        first = starts[_first_of_each(piece[starts], seen.distance[starts])]
        return [(int(i), int(seen.vertex[i]), float(seen.distance[i])) for i in first]

    def _look(self, vertices: Integers, count: int, piece: Integers, seen: Outlook) -> None:
        """See the nearest vertex outside of the piece of each of these, if it is among so many nearest."""
        found = self.nearest(self.points[vertices], count)
        out = found.keep(piece[found.indices] != piece[vertices[found.rows]])
        leads = out.counts > 0
        seen.vertex[vertices], seen.distance[vertices] = out.nearest, found.farthest
        seen.distance[vertices[leads]] = out.distances[out.indptr[:-1][leads]]

    def _search_outside(self, piece: Integers, asking: Integers, seen: Outlook) -> None:
        """Deep inside of a large piece nobody sees the others: search among them alone, in the main piece but once."""
        small = seen.small
        if seen.main is None:
            outside = np.ones(self.size, dtype=bool)
            outside[small] = False
            seen.main = self._nearest_of(small, np.flatnonzero(outside))
        place = np.searchsorted(small, asking)
        seen.vertex[asking], seen.distance[asking] = seen.main.indices[place], seen.main.distances[place]
        for bit in range(int(piece.max()).bit_length()):  # any two pieces differ in some bit of their numbers
            side = (piece >> bit) & 1
            for own in (0, 1):
                group, others = asking[side[asking] == own], small[side[small] != own]
                if group.size and others.size:
                    found = self._nearest_of(group, others)
                    nearer = found.distances < seen.distance[group]
                    seen.vertex[group[nearer]] = found.indices[nearer]
                    seen.distance[group[nearer]] = found.distances[nearer]

    def _nearest_of(self, group: Integers, others: Integers) -> Neighbors:
        """The nearest of the others to each of the group."""
        found = self._of_others(self.points[others]).nearest(self.points[group], 1)
        return found.renumber(others, self.size)

    def distances_from(self, vertex: int) -> Floats:
        return np.asarray(self.metric.block(self.points[[vertex]], self.points)[0])

    def distances_between(self, first: Integers, second: Integers) -> Floats:
        return self.metric.pairs(self.rows, first, self.rows, second, self.n_jobs)

    def vertex_grams(self, vertices: Integers) -> Callable[[Integers, Integers], Floats]:
        return lambda r, j: _difference_grams(self.points[vertices[r]], self.points[vertices[j]])

    def query_grams(self, queries: Floats) -> Callable[[Integers, Integers], Floats]:
        return lambda r, j: _difference_grams(queries[r], self.points[j])


def nearer_than(distances: Floats) -> Floats:
    """The largest distances that are not equal to these within rounding."""
    return distances * (1.0 - 4.0 * ROUNDING)


def united(first: Neighbors, second: Neighbors) -> Neighbors:
    """All pairs of two sets of lists over the same vertices."""
    return Neighbors.from_pairs(
        np.concatenate([first.rows, second.rows]),
        np.concatenate([first.indices, second.indices]),
        np.concatenate([first.distances, second.distances]),
        (len(first), first.n_vertices),
    )


def _first_of_each(group: Integers, distances: Floats) -> Integers:
    """The place of the smallest distance in each group, the first at a tie."""
    order = np.lexsort((distances, group))
    return np.asarray(order[np.unique(group[order], return_index=True)[1]])


def sort_lists(indices: Integers, distances: Floats) -> tuple[Integers, Floats]:
    """Each row nearest first, the lower index at a tie."""
    order = np.argsort(indices, axis=1)
    indices, distances = np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)


def without(own: Integers, indices: Integers, distances: Floats) -> tuple[Integers, Floats]:
    """Lists one shorter: the row itself taken out, or the last entry where it was not found."""
    m, k = indices.shape
    drop = indices == own[:, None]
    drop[~drop.any(axis=1), -1] = True
    return indices[~drop].reshape(m, k - 1), distances[~drop].reshape(m, k - 1)


def _difference_grams(centers: Floats, lists: Floats) -> Floats:
    differences = lists.astype(np.float64) - centers[:, None, :]  # (b, k, d)
    return np.asarray(differences @ differences.transpose(0, 2, 1))

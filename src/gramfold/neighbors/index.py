"""Interface of the search structures, and the base class of those over vectors."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.sparse_rows import require_dense_queries
from gramfold.runtime.costs import COSTS, SearchCosts
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import ROWS, Floats, Integers, Neighbors, Plain

# Rounding allowed when a radius is compared with a distance computed in another order.
ROUNDING = 1e-12
# Share of a new row's radius that is used in a search for vertices that would take it as a neighbour: finds few others.
_NARROW = 0.5
_FAR_LOOKS = 1_000_000  # most neighbours of all vertices together that are examined before a separate search begins


Step = tuple[int, int, float]  # from vertex, to vertex, distance


@dataclass
class Outlook:
    """Nearest vertex outside of its connected component, for each vertex, as far as it is known."""

    vertex: Integers  # (n,) the nearest vertex outside; -1 where it is not known
    distance: Floats  # (n,) its distance or, where it is not known, a lower bound
    small: Integers  # (m,) vertices that were not in component 0 at first
    many: bool  # whether there were as many components as vertices at first
    main: Neighbors | None = None  # their nearest in what was component 0 at first, once searched

    @classmethod
    def of(cls, piece: Integers) -> Self:
        """Nothing is known."""
        n = len(piece)
        return cls(np.full(n, -1), np.zeros(n), np.flatnonzero(piece > 0), many=int(piece.max()) == n - 1)

    def asking(self, piece: Integers) -> Integers:
        """Vertices that may have a shorter edge out of their component than those known; none of component 0."""
        known = self.vertex >= 0
        shortest = np.full(int(piece.max()) + 1, np.inf)
        np.minimum.at(shortest, piece[known], self.distance[known])
        return np.flatnonzero(~known & (piece > 0) & (self.distance < shortest[piece]))


@dataclass(frozen=True, eq=False)
class Index(Plain, ABC):
    """Vertices that can be searched. Fields are data; the search structure is built on first use."""

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
        """All vertices j with d(x, j) ≤ max(reach of x, reaches[j]), which are radii: the rule of the union graph."""

    def joined(self, queries: Floats, k: int, lists: Neighbors) -> Neighbors:
        """The vertices that new rows would share an edge with in the union graph of these lists of k neighbours.

        They are the k nearest, and all vertices that would have the new row among their own k nearest. At a tie a new
        row is not among them.
        """
        own, reaches = self.nearest(queries, k), nearer_than(lists.farthest)
        choosers = self.within(queries, _NARROW * own.farthest, reaches)
        return united(own, choosers.keep(choosers.distances <= reaches[choosers.indices]))

    def lists_for_new(self, lists: Neighbors) -> Neighbors:
        """What `joined` reads of the lists."""
        return lists.last

    def compacted(self, *, grams: bool) -> Self:
        """The same for new rows alone; `grams` says whether local Gram matrices around them are asked for."""
        return self

    @abstractmethod
    def distances_from(self, vertex: int) -> Floats:
        """Distances of all vertices from one of them, (size,)."""

    @abstractmethod
    def distances_between(self, first: Integers, second: Integers) -> Floats:
        """The distance of each of these pairs of vertices."""

    @abstractmethod
    def gap(self, group: Integers, others: Integers) -> Step:
        """The shortest edge (i, j, distance) from a group of vertices to the others."""

    def gaps(self, piece: Integers, outlook: Outlook | None = None) -> list[Step]:
        """The shortest edge from each component but number 0 to another; `piece` is the component of each vertex.

        `outlook` keeps results for a later call, in which components were merged and 0 still holds what it held.
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

    points: Floats = field(metadata=ROWS)  # (n, d) row after row in memory
    metric: Metric
    n_jobs: int | None
    costs: SearchCosts = field(default=COSTS.search, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", np.ascontiguousarray(self.points))

    @property
    def size(self) -> int:
        return len(self.points)

    @cached_property
    def rows(self) -> Any:
        """The points as the search uses them: for most metrics the same array."""
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

    def _prepared(self, queries: Any) -> Any:
        """New rows as the search uses them."""
        require_dense_queries(queries)
        return self.metric.prepare(queries)

    def nearest(self, queries: Floats, k: int) -> Neighbors:
        indices, distances = self._nearest(self._prepared(queries), k, SILENT)
        return Neighbors.from_lists(indices, distances, self.size)

    def within(self, queries: Floats, reach: Floats, reaches: Floats) -> Neighbors:
        pairs = self._within(self._prepared(queries), reach, reaches)
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
        seen.vertex[(seen.vertex >= 0) & (piece[seen.vertex] == piece)] = -1  # the components were merged
        fresh = np.flatnonzero((piece > 0) & (seen.distance == 0))
        look = self.costs.first_look
        if fresh.size and self.size > look:
            self._look(fresh, look, piece, seen)
        asking = seen.asking(piece)
        # where components are many, few vertices are left in each: more neighbours of these need no new search index
        while seen.many and asking.size and (look := 4 * look) < self.size and asking.size * look < _FAR_LOOKS:
            self._look(asking, look, piece, seen)
            asking = seen.asking(piece)
        if asking.size:
            self._search_outside(piece, asking, seen)
        starts = np.flatnonzero((piece > 0) & (seen.vertex >= 0))
        first = starts[_first_of_each(piece[starts], seen.distance[starts])]
        return [(int(i), int(seen.vertex[i]), float(seen.distance[i])) for i in first]

    def _look(self, vertices: Integers, count: int, piece: Integers, seen: Outlook) -> None:
        """Find the nearest vertex outside of the component of each of these, if it is among the `count` nearest."""
        found = self.nearest(self.points[vertices], count)
        out = found.keep(piece[found.indices] != piece[vertices[found.rows]])
        leads = out.counts > 0
        seen.vertex[vertices], seen.distance[vertices] = out.nearest, found.farthest
        seen.distance[vertices[leads]] = out.distances[out.indptr[:-1][leads]]

    def _search_outside(self, piece: Integers, asking: Integers, seen: Outlook) -> None:
        """Search among the vertices of other components only, for vertices deep inside their own; in 0 only once."""
        small = seen.small
        if seen.main is None:
            outside = np.ones(self.size, dtype=bool)
            outside[small] = False
            seen.main = self._nearest_of(small, np.flatnonzero(outside))
        place = np.searchsorted(small, asking)
        seen.vertex[asking], seen.distance[asking] = seen.main.indices[place], seen.main.distances[place]
        for bit in range(int(piece.max()).bit_length()):  # any two components differ in some bit of their numbers
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
    """Index of the smallest distance in each group, the first at a tie."""
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

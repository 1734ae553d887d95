"""Exact neighbours on a cluster: rows are cut into cells, and a cell asks only those that may hold a neighbour of its.

    cells    halves along the column of largest range, until every thread has a few
    ball     of a cell: a centre c and a radius r. A row x whose k-th neighbour so far is at d asks the cell only if
             |x − c| − r ≤ d, since none of its rows is nearer to x than that
    own      each cell by itself                    -> k nearest in the cell, and which other cells its rows ask
    merged   with each of these, the nearest first  -> k nearest of all

A task holds two cells. These are made of partitions on the workers and stay there; lists of neighbours come back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from gramfold.distributed.dask_rows import DaskRows
from gramfold.distributed.running import computed, key_of, on_worker, persisted
from gramfold.graph.neighbor_graph import Asking, found_here
from gramfold.neighbors.exact import BlockedIndex, TreeIndex
from gramfold.neighbors.index import sort_lists
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.search import exact_index
from gramfold.neighbors.units import Unit
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Integers, Neighbors, Plain

_LEAST_ROWS = 20_000  # fewer are searched here before tasks are under way
_CELLS_PER_THREAD = 4
_LEAST_CELL = 1_000  # rows
_MOST_PIECES = 20_000  # of cells: one for each partition that has some of its rows
_SLACK = 1e-9  # of a length, for its rounding


@dataclass(frozen=True, eq=False)
class CellSearch:
    """Finds the neighbours of rows that the workers hold."""

    held: DaskRows  # the rows of the fit, in their order
    least: int = _LEAST_ROWS

    def __call__(self, asking: Asking, stages: Stages) -> Neighbors:
        """As their own index would; it is asked itself where it is approximate, by radius, or for few rows."""
        index, k = asking.index, asking.n_neighbors
        exact = isinstance(index, TreeIndex | BlockedIndex) and asking.radius is None
        count = self._count(index.size, k) if exact and index.size >= self.least else 1
        if count == 1:
            return found_here(asking, stages)
        assert isinstance(index, TreeIndex | BlockedIndex)
        cells = cut(index.rows, count)
        search = Search(k, asking.unit, index.metric, Balls.of(index.rows, cells, index.metric))
        found = self._found(self._made(cells, asking, search), search)
        indices, distances = np.empty((index.size, k), dtype=np.intp), np.empty((index.size, k))
        for vertices, lists in zip(cells, found, strict=True):
            indices[vertices], distances[vertices] = lists.indices, lists.distances
        return Neighbors.from_lists(indices, distances, index.size)

    def _count(self, n: int, k: int) -> int:
        """How many cells: a power of two."""
        wanted = _CELLS_PER_THREAD * int(sum(self.held.client.nthreads().values()))
        most = min(n // max(_LEAST_CELL, 4 * k), _MOST_PIECES // len(self.held), wanted)
        return 1 << max(0, most.bit_length() - 1)

    def _made(self, cells: Sequence[Integers], asking: Asking, search: "Search") -> list[Any]:
        """The cells, as tasks."""
        cell = np.empty(asking.index.size, dtype=np.intp)
        for number, vertices in enumerate(cells):
            cell[vertices] = number
        # a row that is a copy of an earlier one is no vertex
        vertex = np.full(len(asking.copies.vertex), -1)
        vertex[asking.copies.first] = np.arange(len(cell))
        vertices_of = np.split(vertex, np.cumsum(self.held.sizes)[:-1])
        own = [(vertices, np.where(vertices >= 0, cell[vertices], -1)) for vertices in vertices_of]
        split = self.held.tasks("cut", _pieces, search, own=own)
        token = uuid4().hex[:16]
        return [
            task(
                "cell",
                token,
                number,
                _joined,
                *(
                    task("piece", token, f"{i}-{number}", _piece, split[i], number)
                    for i, (_, homes) in enumerate(own)
                    if (homes == number).any()
                ),
            )
            for number in range(len(cells))
        ]

    def _found(self, made: list[Any], search: "Search") -> list["Lists"]:
        from dask import delayed

        client, stages, token = self.held.client, self.held.stages, uuid4().hex[:16]
        sent = delayed(search, name=key_of("search", token, 0), pure=False, traverse=False)
        with (
            persisted(made, client) as cells,
            persisted(
                [task("own-neighbors", token, i, _own, sent, cell, i) for i, cell in enumerate(cells)], client
            ) as own,
        ):
            asked = computed(
                [task("asked", token, i, _asked, one) for i, one in enumerate(own)], "own neighbors", client, stages
            )
            lists = list(own)
            for i, others in enumerate(asked):
                for j in others:
                    lists[i] = task("neighbors", token, f"{i}-{j}", _merged, sent, lists[i], cells[i], cells[j], j)
            return computed(lists, "neighbors", client, stages)


def task(name: str, token: str, number: int | str, work: Callable[..., Any], *arguments: Any) -> Any:
    """Work for a worker, of which nothing runs yet; tasks among the arguments come first."""
    from dask import delayed

    run = delayed(on_worker, pure=False, traverse=False)
    return run(work, *arguments, dask_key_name=key_of(name, token, number))


# --- cells


def cut(rows: Floats, count: int) -> list[Integers]:
    """Row numbers of `count` cells, a power of two, ascending in each."""
    cells: list[Integers] = [np.arange(len(rows))]
    while len(cells) < count:
        cells = [half for cell in cells for half in _halves(rows, cell)]
    return [np.sort(cell) for cell in cells]


def _halves(rows: Floats, cell: Integers) -> tuple[Integers, Integers]:
    inside, middle = rows[cell], len(cell) // 2
    widest = int(np.argmax(np.ptp(inside, axis=0)))
    order = np.argpartition(inside[:, widest], middle)
    return cell[order[:middle]], cell[order[middle:]]


@dataclass(frozen=True, eq=False)
class Balls(Plain):
    """One about the rows of each cell, in the lengths by which these are searched."""

    centers: Floats  # (c, d)
    radii: Floats  # (c,) infinite for a metric whose triangle inequality is not known

    @classmethod
    def of(cls, rows: Floats, cells: Sequence[Integers], metric: Metric) -> "Balls":
        """About cells of prepared rows."""
        centers = np.stack([rows[cell].mean(axis=0, dtype=np.float64) for cell in cells])
        if metric.family not in {"euclidean", "minkowski"}:
            return cls(centers, np.full(len(cells), np.inf))
        about = zip(cells, centers, strict=True)
        return cls(centers, np.array([_lengths(rows[cell], one[None], metric).max() for cell, one in about]))

    def away(self, rows: Floats, metric: Metric, some: Any = slice(None)) -> Floats:
        """How far these prepared rows are at least from the rows of each ball (or some), (m, c); at most 0 inside."""
        radii = self.radii[some]
        if not np.isfinite(radii).all():
            return np.full((len(rows), len(radii)), -np.inf)
        found = _lengths(rows, self.centers[some], metric)
        return np.asarray(found * (1 - _SLACK) - radii * (1 + _SLACK))


def _lengths(rows: Floats, centers: Floats, metric: Metric) -> Floats:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(rows, centers) if metric.family == "euclidean" else metric.block(rows, centers))


# --- what workers do


@dataclass(frozen=True, eq=False)
class Search(Plain):
    """What every task knows."""

    k: int
    unit: Unit
    metric: Metric
    balls: Balls

    def near(self, rows: Floats, farthest: Floats, some: Any = slice(None)) -> np.ndarray:
        """Which balls (or some) may hold a row as near as these distances to prepared rows, (m, c)."""
        limit = np.asarray(self.metric.search_length(farthest))[:, None]
        near: np.ndarray = self.balls.away(rows, self.metric, some) <= limit * (1 + _SLACK)
        return near


@dataclass(frozen=True, eq=False)
class Cell(Plain):
    """Some vertices and their rows."""

    vertices: Integers  # (m,) ascending
    points: Floats  # (m, d) in the unit


@dataclass(frozen=True, eq=False)
class Lists(Plain):
    """The nearest vertices that those of a cell have found so far."""

    indices: Integers  # (m, k)
    distances: Floats  # (m, k)
    asked: Integers  # cells that may hold nearer ones, the nearest first


def _pieces(rows: Floats, search: Search, own: tuple[Integers, Integers]) -> dict[int, Cell]:
    """Of a partition, the part in each cell."""
    vertices, homes = own
    points = search.unit.inward(rows)
    return {
        int(number): Cell(vertices[homes == number], points[homes == number]) for number in np.unique(homes[homes >= 0])
    }


def _piece(pieces: dict[int, Cell], number: int) -> Cell:
    return pieces[number]


def _joined(*pieces: Cell) -> Cell:
    return Cell(np.concatenate([one.vertices for one in pieces]), np.concatenate([one.points for one in pieces]))


def _own(search: Search, cell: Cell, number: int) -> Lists:
    index = exact_index(cell.points, search.metric, 1)
    found = index.own(search.k, None)
    indices, distances = cell.vertices[found.indices].reshape(-1, search.k), found.distances.reshape(-1, search.k)
    asked = np.flatnonzero(search.near(index.rows, distances[:, -1]).any(axis=0))
    asked = asked[asked != number]
    away = np.linalg.norm(search.balls.centers[asked] - search.balls.centers[number], axis=1)
    return Lists(indices, distances, asked[np.argsort(away, kind="stable")])


def _asked(lists: Lists) -> Integers:
    return lists.asked


def _merged(search: Search, lists: Lists, cell: Cell, other: Cell, number: int) -> Lists:
    """The lists of a cell, with what another one has nearer."""
    rows = search.metric.prepare(cell.points)
    asking = np.flatnonzero(search.near(rows, lists.distances[:, -1], [number])[:, 0])
    if not asking.size:
        return lists
    k = min(search.k, len(other.vertices))
    found = exact_index(other.points, search.metric, 1).nearest(cell.points[asking], k)
    nearer = sort_lists(
        np.hstack([lists.indices[asking], other.vertices[found.indices].reshape(-1, k)]),
        np.hstack([lists.distances[asking], found.distances.reshape(-1, k)]),
    )
    indices, distances = lists.indices.copy(), lists.distances.copy()
    indices[asking], distances[asking] = (lists_of[:, : search.k] for lists_of in nearer)
    return Lists(indices, distances, lists.asked)

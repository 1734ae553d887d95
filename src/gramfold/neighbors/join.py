"""Candidates for the nearest neighbours, from products of rows in float32, with a bound on the error.

    |x − y|² = |x|² + |y|² − 2 x·y

Rows are centred, divided by their largest entry and divided into tiles. Where a few leading columns bound products well
(see `leading`) the tiles are leaves of a tree, near tiles are compared first, and products are computed only for pairs
whose bound is below the distance of the last candidate of either row so far. Tiles of one table are compared in rounds:
tile i with tile i xor 1, then with i xor 2, and so on. So each pair of tiles is compared once, threads never write to
the same lists, and the order does not depend on the number of threads.

The error. Let u = eps/2 of float32 and l = |x| + the largest |y|. A sum of d products, in whatever order, is within
g·|x||y| ≤ g·l²/4 of the truth, g = d·u/(1 − d·u); so is a bound, which has fewer columns. Entries rounded to float32
change |x − y|² by at most 2u·l² (and u²·l²); norms and both additions by 4u·l². So no row that is left out is nearer
than the computed distance of the last candidate by more than (g/2 + 8u)·l², in which 2u cover the smaller terms.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gramfold.neighbors.leading import Axes, Halves, Plan, cheapest_plan, equal_parts, halve, plan_without_bounds
from gramfold.runtime.costs import COSTS, SearchCosts
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import Floats, Integers

_ROWS_PER_BLOCK = 1_000
_SAMPLE = 4_000  # rows that the plan is chosen from
_GLANCE = 32  # every 32nd row of a tile is used to estimate the share of pairs left
USUAL = 10  # number of neighbours that a radius search is planned for
_CROWDED = 0.05  # error of a squared distance relative to the squared radius, above which float32 is too coarse
_FAR = 1e15  # times the largest entry: all rows are within, and squares do not overflow
_EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Seeming:
    """The rows that seem nearest to each query, in no particular order at ties."""

    indices: Integers  # (n, k)
    farthest: Floats  # (n,) computed squared distance of the last: that of all rows left out is no smaller
    error: Floats  # (n,) bound on the error of a computed squared distance of the row


@dataclass(frozen=True)
class Within:
    """Pairs of a query and a row that seem to be within the radius."""

    asking: Integers  # (p,)
    rows: Integers  # (p,)
    crowded: Integers  # queries that were left out: float32 is too coarse for their radius


def seeming_neighbors(
    rows: Floats,
    k: int,
    axes: Axes | None,
    n_jobs: int | None = None,
    stages: Stages = SILENT,
    costs: SearchCosts = COSTS.search,
) -> Seeming:
    """The k rows that seem nearest to each row, including itself; rows are finite, of any size, and k ≤ n.

    With `axes`, whichever they are, products are computed only for pairs within their bounds.
    """
    frame = _Frame.around(rows)
    with one_blas_thread():  # the pool's threads are enough
        table = _Table.of(frame.shrink(rows, n_jobs), axes, costs.rows_per_tile, n_jobs)
        crowd, tiles, lists = table.crowd, table.tiles, _Lists.empty(len(rows), k)
        rounds = _rounds(len(tiles))
        for pairs in stages.bar(rounds, len(rounds), "search"):

            def work(part: slice, pairs: list[tuple[int, int]] = pairs) -> None:
                for i, j in pairs[part]:
                    _meet(crowd, tiles[i], crowd, tiles[j], lists, costs.dense, both=i != j)

            run_blocks(work, blocks(len(pairs), 1), n_jobs)
    return _seeming(lists, crowd, table, frame)


def seeming_nearest(
    asking: Floats,
    rows: Floats,
    k: int,
    axes: Axes | None,
    n_jobs: int | None = None,
    stages: Stages = SILENT,
    costs: SearchCosts = COSTS.search,
) -> Seeming:
    """The k rows that seem nearest to each query."""
    frame = _Frame.around(rows).also(asking)
    with one_blas_thread():
        table = _Table.of(frame.shrink(rows, n_jobs), axes, costs.rows_per_tile, n_jobs)
        crowd, home = table.welcome(frame.shrink(asking, n_jobs), n_jobs)
        lists = _Lists.empty(len(asking), k)

        def work(part: slice) -> None:
            first = home[(part.start + part.stop) // 2]
            for step in range(len(table.tiles)):
                _meet(crowd, part, table.crowd, table.tiles[first ^ step], lists, costs.dense, both=False)

        run_blocks(work, blocks(len(asking), costs.asking_per_tile), n_jobs, stages=stages, what="search")
    return _seeming(lists, crowd, table, frame)


def seeming_within(
    asking: Floats,
    rows: Floats,
    reach: Floats,
    reaches: Floats,
    axes: Axes | None,
    n_jobs: int | None = None,
    costs: SearchCosts = COSTS.search,
) -> Within:
    """All pairs with |x − y| ≤ max(reach of x, reaches of y), which are radii, and some that are hardly farther."""
    frame = _Frame.around(rows).also(asking)
    with one_blas_thread():
        table = _Table.of(frame.shrink(rows, n_jobs), axes, costs.rows_per_tile, n_jobs)
        crowd, _ = table.welcome(frame.shrink(asking, n_jobs), n_jobs)
        error = _error(crowd, table)
        own, theirs = (
            np.square(np.minimum(length[side.order] / frame.scale, _FAR)) * (1 + 16 * _EPS)
            for length, side in ((reach, crowd), (reaches, table.crowd))
        )
        crowded = error > _CROWDED * own
        # so that computed distances are lower bounds, or infinite for crowded queries
        nearer = np.where(crowded, np.inf, crowd.norms - error)
        crowd = replace(crowd, norms=nearer.astype(np.float32))
        own, theirs = own.astype(np.float32), theirs.astype(np.float32)

        def work(part: slice) -> tuple[Integers, Integers]:
            found = []
            for tile in table.tiles:
                i, j = _see(crowd, part, table.crowd, tile, own[part], theirs[tile], costs.dense)
                found.append((crowd.order[i + part.start], table.crowd.order[j + tile.start]))
            i, j = (np.concatenate(side) for side in zip(*found, strict=True))
            return i, j

        met = run_blocks(work, blocks(len(asking), costs.asking_per_tile), n_jobs)
    i, j = (np.concatenate(side) for side in zip(*met, strict=True))
    return Within(i, j, np.sort(crowd.order[crowded]))


def plan(asking: Floats, rows: Floats, k: int, costs: SearchCosts = COSTS.search) -> Plan:
    """Choose the cheapest way to find the k nearest, from a sample."""
    n, d = rows.shape
    if float(len(asking)) * n * d < costs.least_work:
        return plan_without_bounds(d, costs)
    step = -(-n // _SAMPLE)
    rows, asking = rows[::step], asking[:: -(-len(asking) // _SAMPLE)]
    frame = _Frame.around(rows).also(asking)
    rank = min(len(rows), 1 + round(k / step))
    return cheapest_plan(frame.shrink(asking, 1).rows, frame.shrink(rows, 1).rows, rank, costs)


@dataclass(frozen=True)
class _Frame:
    """Centre and scale in which products have the smallest rounding error."""

    center: Floats  # (d,)
    scale: float

    @classmethod
    def around(cls, rows: Floats) -> Self:
        center = rows.mean(axis=0, dtype=np.float64)
        return cls(center, 0.0).also(rows)

    def also(self, rows: Floats) -> Self:
        largest = max(np.abs(rows.max(axis=0) - self.center).max(), np.abs(rows.min(axis=0) - self.center).max())
        return type(self)(self.center, max(self.scale, float(largest)) or 1.0)

    def shrink(self, rows: Floats, n_jobs: int | None) -> "_Crowd":
        crowd = _Crowd(np.arange(len(rows)), np.empty(rows.shape, np.float32), np.empty(len(rows), np.float32), None)

        def work(part: slice) -> None:
            small = crowd.rows[part]
            small[:] = (rows[part] - self.center) / self.scale
            crowd.norms[part] = np.einsum("ij,ij->i", small, small, dtype=np.float64)

        run_blocks(work, blocks(len(rows), _ROWS_PER_BLOCK), n_jobs)
        return crowd


@dataclass(frozen=True)
class _Crowd:
    """Scaled rows in the order in which they are compared."""

    order: Integers  # (n,) their row indices
    rows: Floats  # (n, d) float32
    norms: Floats  # (n,) their squared lengths, float32
    lead: Floats | None  # (n, m + 1) float32, whose products bound those of the rows from above

    def ordered(self, order: Integers, lead: Floats) -> Self:
        return type(self)(order, self.rows[order], self.norms[order], lead[order])


@dataclass(frozen=True)
class _Table:
    """The rows that are searched."""

    crowd: _Crowd
    tiles: list[slice]  # a power of two of them
    axes: Axes | None
    tree: Halves | None

    @classmethod
    def of(cls, crowd: _Crowd, axes: Axes | None, rows_per_tile: int, n_jobs: int | None) -> Self:
        if axes is None:
            return cls(crowd, equal_parts(len(crowd.rows), rows_per_tile), None, None)
        lead = axes.lead(crowd.rows, n_jobs)
        tree = halve(lead, rows_per_tile)
        return cls(crowd.ordered(tree.order, lead), tree.leaves, axes, tree)

    def welcome(self, crowd: _Crowd, n_jobs: int | None) -> tuple[_Crowd, Integers]:
        """Queries in order, and the tile of each of them."""
        if self.axes is None or self.tree is None:
            return crowd, np.zeros(len(crowd.rows), dtype=np.intp)
        lead = self.axes.lead(crowd.rows, n_jobs)
        home = self.tree.leaf(lead)
        order = np.argsort(home, kind="stable")
        return crowd.ordered(order, lead), home[order]


@dataclass(frozen=True)
class _Lists:
    """Candidates so far, ascending."""

    indices: Integers  # (n, k)
    squares: Floats  # (n, k) float32

    @classmethod
    def empty(cls, n: int, k: int) -> Self:
        return cls(np.empty((n, k), dtype=np.int32), np.full((n, k), np.inf, dtype=np.float32))

    @property
    def reach(self) -> Floats:
        return self.squares[:, -1]


def _rounds(count: int) -> list[list[tuple[int, int]]]:
    """Pair each tile with itself, then with each other once, none twice in a round; the count is a power of two."""
    return [[(i, i ^ step) for i in range(count) if i <= i ^ step] for step in range(count)]


def _meet(asking: _Crowd, i: slice, rows: _Crowd, j: slice, lists: _Lists, dense: float, *, both: bool) -> None:
    """Compare a tile of queries with a tile of rows, which are queries too if `both`."""
    from gramfold.neighbors.distance_kernels import meet

    left, right, left_norms, right_norms = asking.rows[i], rows.rows[j], asking.norms[i], rows.norms[j]
    certain = True
    if asking.lead is not None and rows.lead is not None:
        products = asking.lead[i] @ rows.lead[j].T
        bound = left_norms[::_GLANCE, None] + right_norms - 2 * products[::_GLANCE]
        reach = lists.reach[i][::_GLANCE, None]
        certain = bool(np.mean(bound < (np.maximum(reach, lists.reach[j]) if both else reach)) > dense)
    if certain:
        products = left @ right.T
    meet(products, certain, left, right, left_norms, right_norms, i.start, j.start, both, lists.indices, lists.squares)


def _see(
    asking: _Crowd, i: slice, rows: _Crowd, j: slice, own: Floats, theirs: Floats, dense: float
) -> tuple[Integers, Integers]:
    """Positions in two tiles whose squared distance seems to be within either radius."""
    from gramfold.neighbors.distance_kernels import pair_products

    left, right, left_norms, right_norms = asking.rows[i], rows.rows[j], asking.norms[i], rows.norms[j]
    if asking.lead is not None and rows.lead is not None:
        bounds = asking.lead[i] @ rows.lead[j].T
        r, c = _within(bounds, left_norms, right_norms, own, theirs)
        if len(r) <= dense * bounds.size:
            products = np.empty(len(r), dtype=np.float32)
            pair_products(left, r, right, c, products)
            keep = left_norms[r] + right_norms[c] - 2 * products <= np.maximum(own[r], theirs[c])
            return r[keep], c[keep]
    return _within(left @ right.T, left_norms, right_norms, own, theirs)


def _within(
    products: Floats, left_norms: Floats, right_norms: Floats, own: Floats, theirs: Floats
) -> tuple[Integers, Integers]:
    from gramfold.neighbors.distance_kernels import see

    count, room = np.zeros(1, dtype=np.intp), products.size // 32
    while True:
        r, c = np.empty((2, room), dtype=np.intp)
        see(products, left_norms, right_norms, own, theirs, r, c, count)
        if count[0] <= room:
            return r[: count[0]], c[: count[0]]
        room = int(count[0])


def _error(asking: _Crowd, table: _Table) -> Floats:
    longest = np.sqrt(asking.norms.astype(np.float64)) + np.sqrt(float(table.crowd.norms.max()))
    sums = asking.rows.shape[1] * 0.5 * _EPS
    return np.asarray((0.5 * sums / max(1.0 - sums, _EPS) + 4 * _EPS) * longest**2)


def _seeming(lists: _Lists, asking: _Crowd, table: _Table, frame: _Frame) -> Seeming:
    """Lists in the original order of the rows, and squares in their original scale."""
    indices, farthest, error = np.empty_like(lists.indices), *np.empty((2, len(asking.order)))
    indices[asking.order], farthest[asking.order] = table.crowd.order[lists.indices], lists.reach
    error[asking.order] = _error(asking, table)
    return Seeming(indices, farthest * frame.scale**2, error * frame.scale**2)

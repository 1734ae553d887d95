"""Who seems nearest to whom, from products of rows in float32, and how far that may be from the truth.

    |x − y|² = |x|² + |y|² − 2 x·y

Rows are centred, divided by their largest entry and put in tiles. Where a few leading columns bound products well (see
`leading`) the tiles are leaves of a tree, near ones meet first, and only pairs whose bound is within reach of either
(nearer than the last of those who seem nearest so far) are looked at further. Rows of one table meet in rounds, tile i
and tile i xor 1, then i xor 2, and so on: everybody meets everybody once, threads never write to the same lists, and
lists grow in one order whatever the threads.

The error. Let u = eps/2 of float32 and l = |x| + the largest |y|. A sum of d products, in whatever order, is within
g·|x||y| ≤ g·l²/4 of the truth, g = d·u/(1 − d·u); so is a bound, which has fewer columns. Entries rounded to float32
change |x − y|² by at most 2u·l² (and u²·l²); norms and both additions by 4u·l². So nobody who is left out is nearer
than the last seems by more than (g/2 + 8u)·l², in which 2u are for what is smaller still.
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
_SAMPLE = 4_000  # rows that decide on the plan
_GLANCE = 32  # every so many rows of a tile show how many pairs are left
USUAL = 10  # neighbours within reach, to plan with
_CROWDED = 0.05  # error of a squared distance beside the squared reach, above which float32 does not see enough
_FAR = 1e15  # times the largest entry: everybody is within, and squares do not overflow
_EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Seeming:
    """The rows that seem nearest to each of those who ask, in no certain order at ties."""

    indices: Integers  # (n, k)
    farthest: Floats  # (n,) squared distance of the last as it seems: all who are left out seem at least as far
    error: Floats  # (n,) how far a squared distance of the row may be from what it seems


@dataclass(frozen=True)
class Within:
    """Pairs that seem to be within reach, each with one who asks."""

    asking: Integers  # (p,)
    rows: Integers  # (p,)
    crowded: Integers  # those who ask and were left out: they do not see as sharply as they reach


def seeming_neighbors(
    rows: Floats,
    k: int,
    axes: Axes | None,
    n_jobs: int | None = None,
    stages: Stages = SILENT,
    costs: SearchCosts = COSTS.search,
) -> Seeming:
    """The k rows that seem nearest to each, itself among them; rows are finite, of any size, and k ≤ n.

    With `axes`, whichever they are, only pairs within their bounds are looked at.
    """
    frame = _Frame.around(rows)
    with one_blas_thread():  # the pool's threads are enough
        table = _Table.of(frame.shrink(rows, n_jobs), axes, costs.rows_per_tile, n_jobs)
        crowd, tiles, lists = table.crowd, table.tiles, _Lists.empty(len(rows), k)
        rounds = _rounds(len(tiles))
        for pairs in stages.bar(rounds, len(rounds), "neighbors"):

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
    """The k rows that seem nearest to each of those who ask."""
    frame = _Frame.around(rows).also(asking)
    with one_blas_thread():
        table = _Table.of(frame.shrink(rows, n_jobs), axes, costs.rows_per_tile, n_jobs)
        crowd, home = table.welcome(frame.shrink(asking, n_jobs), n_jobs)
        lists = _Lists.empty(len(asking), k)

        def work(part: slice) -> None:
            first = home[(part.start + part.stop) // 2]
            for step in range(len(table.tiles)):
                _meet(crowd, part, table.crowd, table.tiles[first ^ step], lists, costs.dense, both=False)

        run_blocks(work, blocks(len(asking), costs.asking_per_tile), n_jobs, stages=stages, what="neighbors")
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
    """All pairs with |x − y| ≤ max(reach of x, reaches of y), and some that are hardly farther."""
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
        nearer = np.where(crowded, np.inf, crowd.norms - error)  # everybody seems as near as it may be, or nobody does
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
    """How the k nearest are found soonest, from a sample."""
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
    """Where products round least, relative to the length of the rows as they do."""

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
    """Shrunk rows in the order in which they meet others."""

    order: Integers  # (n,) who they are
    rows: Floats  # (n, d) float32
    norms: Floats  # (n,) their squared lengths, float32
    lead: Floats | None  # (n, m + 1) float32, whose products are not less than those of the rows

    def ordered(self, order: Integers, lead: Floats) -> Self:
        return type(self)(order, self.rows[order], self.norms[order], lead[order])


@dataclass(frozen=True)
class _Table:
    """All rows that are searched."""

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
        """New rows put in order, and the tile in whose place each of them is."""
        if self.axes is None or self.tree is None:
            return crowd, np.zeros(len(crowd.rows), dtype=np.intp)
        lead = self.axes.lead(crowd.rows, n_jobs)
        home = self.tree.leaf(lead)
        order = np.argsort(home, kind="stable")
        return crowd.ordered(order, lead), home[order]


@dataclass(frozen=True)
class _Lists:
    """Whoever seems nearest so far, ascending."""

    indices: Integers  # (n, k)
    squares: Floats  # (n, k) float32

    @classmethod
    def empty(cls, n: int, k: int) -> Self:
        return cls(np.empty((n, k), dtype=np.int32), np.full((n, k), np.inf, dtype=np.float32))

    @property
    def reach(self) -> Floats:
        return self.squares[:, -1]


def _rounds(count: int) -> list[list[tuple[int, int]]]:
    """Each with itself, then each with each other once, nobody twice in a round; the count is a power of two."""
    return [[(i, i ^ step) for i in range(count) if i <= i ^ step] for step in range(count)]


def _meet(asking: _Crowd, i: slice, rows: _Crowd, j: slice, lists: _Lists, dense: float, *, both: bool) -> None:
    """A tile of those who ask meets a tile of rows, who ask too if `both`."""
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
    """Places in two tiles whose squared distance seems to be within either reach."""
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
    """Lists in the order in which rows were given, and squares in their measure."""
    indices, farthest, error = np.empty_like(lists.indices), *np.empty((2, len(asking.order)))
    indices[asking.order], farthest[asking.order] = table.crowd.order[lists.indices], lists.reach
    error[asking.order] = _error(asking, table)
    return Seeming(indices, farthest * frame.scale**2, error * frame.scale**2)

"""Bounds on distances from a few leading columns, and an order in which near rows are next to each other.

Let P project on m orthonormal axes and r(x) = |x − PᵀPx| be the length of the remainder. The product of the remainders
of two rows is at most r(x) r(y) (Cauchy and Schwarz), so that

    x·y ≤ Px·Py + r(x) r(y),        |x − y|² ≥ |x|² + |y|² − 2 (Px·Py + r(x) r(y)) = |Px − Py|² + (r(x) − r(y))²

for any axes, and closely so for the principal ones: a product of m + 1 columns bounds that of d. Whether this saves
work depends on the data (images: one pair in a hundred is left; noise: all), so it is tried on a few rows first.
"""

from dataclasses import dataclass

import numpy as np

from gramfold.runtime.costs import COSTS, SearchCosts
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Integers

_CHOICES = (16, 32, 48, 64, 96, 128)  # of m
_SWEEPS = 3  # of the power method: axes need not be exact to bound
_ASKED = 32  # rows from which the share of pairs left is estimated
_ROWS_PER_BLOCK = 1_000


@dataclass(frozen=True)
class Axes:
    """Orthonormal axes."""

    directions: Floats  # (d, m)

    def lead(self, rows: Floats, n_jobs: int | None) -> Floats:
        """Px and r(x) of each row, (n, m + 1) in float32.

        r is rounded upwards, since sums and axes are rounded too: only then is the bound certain.
        """
        n, d = rows.shape
        m = self.directions.shape[1]
        lead = np.empty((n, m + 1), dtype=np.float32)
        rounding = 8.0 * (d + m) * float(np.finfo(np.float64).eps)

        def work(part: slice) -> None:
            wide = rows[part].astype(np.float64)
            places = wide @ self.directions
            squares = np.einsum("ij,ij->i", wide, wide)
            left = squares - np.einsum("ij,ij->i", places, places)
            lead[part, :m] = places
            lead[part, m] = np.sqrt(np.maximum(left, 0.0) + rounding * squares)

        run_blocks(work, blocks(n, _ROWS_PER_BLOCK), n_jobs)
        return lead


@dataclass(frozen=True)
class Plan:
    """Plan of a search: bounds from these axes or, if None, products of all columns; and the cost of a pair."""

    axes: Axes | None
    cost: float  # in multiplications inside of a product of matrices


def plan_without_bounds(d: int, costs: SearchCosts = COSTS.search) -> Plan:
    """Plan that computes all products of d columns."""
    return Plan(None, d + costs.look)


def cheapest_plan(asking: Floats, rows: Floats, rank: int, costs: SearchCosts = COSTS.search) -> Plan:
    """Choose the cheapest plan from a sample of rows, `rank` of which are neighbours of a query."""
    d = rows.shape[1]
    best = plan_without_bounds(d, costs)
    choices = [m for m in _CHOICES if 2 * m <= d]
    if not choices:
        return best
    asking = asking[:: -(-len(asking) // _ASKED)]
    norms = np.einsum("ij,ij->i", rows, rows)
    reach = np.partition(norms - 2.0 * (asking @ rows.T), rank - 1, axis=1)[:, rank - 1 : rank]  # of |x − y|² − |x|²
    directions = _principal_axes(rows, choices[-1])
    for m in choices:
        axes = Axes(np.ascontiguousarray(directions[:, :m]))
        bound = axes.lead(asking, n_jobs=1) @ axes.lead(rows, n_jobs=1).T
        left = float(np.mean(norms - 2.0 * bound < reach))
        cost = m + costs.look + costs.loose * left * (costs.alone + costs.alone_column * d)
        if cost < best.cost:
            best = Plan(axes, cost)
    return best


def _principal_axes(rows: Floats, m: int) -> Floats:
    """Approximate m principal axes of centred rows, largest variance first, (d, m)."""
    axes = np.random.default_rng(0).standard_normal((rows.shape[1], m))
    for _ in range(_SWEEPS):
        axes = np.linalg.qr(rows.T @ (rows @ axes.astype(np.float32)))[0]
    places = rows @ axes
    turn = np.linalg.eigh((places.T @ places).astype(np.float64))[1][:, ::-1]
    return np.asarray(np.linalg.qr(axes.astype(np.float64) @ turn)[0])


@dataclass(frozen=True)
class Halves:
    """A balanced tree of cuts at medians, each across the widest column."""

    order: Integers  # (n,) rows leaf by leaf
    leaves: list[slice]  # of the order; their number is a power of two
    columns: Integers  # (leaves − 1,) of the cuts, level by level from the root
    cuts: Floats

    def leaf(self, rows: Floats) -> Integers:
        """The leaf of each row, (n,)."""
        node = np.zeros(len(rows), dtype=np.intp)
        while node[0] < len(self.columns):  # all leaves are at the same depth
            node = 2 * node + 1 + (rows[np.arange(len(rows)), self.columns[node]] > self.cuts[node])
        return node - len(self.columns)


def equal_parts(n: int, largest: int) -> list[slice]:
    """A power of two of slices that cover range(n), of at most `largest` (2 or more) each."""
    count = 1
    while -(-n // count) > largest:
        count *= 2
    return [slice(n * part // count, n * (part + 1) // count) for part in range(count)]


def halve(rows: Floats, largest: int) -> Halves:
    """Cut the rows in halves until no leaf has more than `largest`."""
    n = len(rows)
    order, columns, cuts = np.arange(n), [], []
    parts = equal_parts(n, largest)
    step = len(parts)
    while step > 1:
        for first in range(0, len(parts), step):
            start, middle = parts[first].start, parts[first + step // 2].start
            inside = order[start : parts[first + step - 1].stop]
            column = int(rows[inside].var(axis=0).argmax())
            inside[:] = inside[np.argpartition(rows[inside, column], middle - start)]
            columns.append(column)
            cuts.append(rows[order[start:middle], column].max())
        step //= 2
    return Halves(order, parts, np.array(columns, dtype=np.intp), np.array(cuts, dtype=rows.dtype))

"""What a map does to the neighbours of some rows.

    far        beyond the nearest third of all rows, and beyond the nearest 2k
    stranger   one of the k nearest on the map that is far in the data; or a row of another group: one that no chain of
               neighbours leads to, three times as far as the k-th neighbour, though perhaps among the nearest third
    lost       one of the k nearest in the data that is far on the map
    strain     √ mean of  min(|s m/d − 1|, 1)²  over the k nearest in the data that are not lost, at distance d there
               and m on the map; s is the median of d/m over all of them, the best common scale
    crowded    a row that shares its place with one that differs from it in the data: nearer than can be drawn, and ten
               times nearer, in sizes of map and data, than in the data (rows along a curve are near in both)

A row that has no place of its own has no neighbours on the map either: nothing else is told of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, lgamma, log, pi

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.tables import Rows, Table
from gramfold.neighbors.index import ROUNDING
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Integers

FAR = 1 / 3  # of all rows: the others are far …
_BEYOND = 2  # … if they are beyond so many times the neighbours too: of few rows the next ones are no strangers
_APART = 3.0  # neighbourhood radii: a gap between groups, where no neighbour connects them
SAME = 5e-4  # of the size of a map, or of data: nearer rows have the same place
_SHRUNK = 0.1  # of a distance in the data, in sizes of map and data
_CROWDED_BY_CHANCE = 0.05  # share of evenly spread rows that would have the same place as another
_INNER = (0.01, 0.99)
_REFERENCES = 300  # rows whose distances from a row say which are far, where all rows are too many
_ENTRIES_PER_BLOCK = 2_000_000
_DRAWN = 20_000  # pairs at least that say what chance does to lengths


@dataclass(frozen=True, eq=False)
class Near:
    """The k nearest of some rows on one side, and the distance beyond which others are far."""

    indices: Integers  # (m, k)
    distances: Floats  # (m, k)
    far: Floats  # (m,) the distance beyond which rows are far

    @classmethod
    def exactly(cls, table: Table, rows: Integers, k: int, n_jobs: int | None) -> "Near":
        """From the distances of these rows from all."""
        n = len(table)
        nearest, lengths, limit = np.empty((len(rows), k), dtype=np.intp), np.empty((len(rows), k)), np.empty(len(rows))
        far = far_rank(n, k)

        def work(part: slice) -> None:
            away = table.distances(rows[part])
            here = np.arange(len(away))
            away[here, rows[part]] = -1.0  # itself is the first, also among copies
            order = np.argpartition(away, [k, far], axis=1)
            limit[part], found = away[here, order[:, far]], order[:, : k + 1]
            order = np.lexsort((found, away[here[:, None], found]), axis=1)
            found = np.take_along_axis(found, order, axis=1)
            tied = np.flatnonzero((away <= away[here, found[:, -1]][:, None]).sum(axis=1) > k + 1)
            found[tied] = np.argsort(away[tied], axis=1, kind="stable")[:, : k + 1]  # the lower numbers
            nearest[part] = found[:, 1:]
            lengths[part] = away[here[:, None], nearest[part]]

        run_blocks(work, blocks(len(rows), max(1, _ENTRIES_PER_BLOCK // n)), n_jobs)
        return cls(nearest, lengths, limit * (1.0 + ROUNDING))


def far_rank(n: int, k: int) -> int:
    """The rank beyond which rows are far."""
    return min(max(int(FAR * n), _BEYOND * k), n - 1)


@dataclass(frozen=True, eq=False)
class Counts:
    """What a map does to the neighbours of m rows; NaN in the first three for rows without a place of their own."""

    glued: Floats  # (m,) share of strangers
    torn: Floats  # (m,) share of lost neighbours
    strain: Floats  # (m,) squared
    crowded: Floats  # (m,) 1 or 0

    @classmethod
    def of(
        cls,
        rows: Integers,
        in_data: Near,
        on_map: Near,
        data: Table,
        places: "Places",
        *,
        groups: Integers | None,
        flat: bool,
    ) -> "Counts":
        """Those of these rows, by their nearest on both sides; `groups` are numbers (n,) of connected components."""
        k = in_data.indices.shape[1]
        owners = np.repeat(rows, k)
        of_neighbors = data.between(owners, on_map.indices.ravel()).reshape(-1, k)
        lengths = places.table.between(owners, in_data.indices.ravel()).reshape(-1, k)
        together = (on_map.distances <= places.same) & (of_neighbors > SAME * in_data.far[:, None])
        together &= on_map.distances * in_data.far.max() <= _SHRUNK * of_neighbors * places.size
        crowded = np.asarray(together.any(axis=1) | flat)
        own = ~np.asarray((together & (on_map.distances <= places.exactly)).any(axis=1) | flat)
        lost = lengths > on_map.far[:, None]
        strange = of_neighbors > in_data.far[:, None]
        if groups is not None:
            radii = in_data.distances[:, -1]
            gap = _APART * np.maximum(radii, np.median(radii))
            strange |= (groups[rows][:, None] != groups[on_map.indices]) & (of_neighbors > gap[:, None])
        glued = np.where(own, strange.mean(axis=1), np.nan)
        torn = np.where(own, lost.mean(axis=1), np.nan)
        kept = ~lost & own[:, None]
        return cls(glued, torn, squared_strain(in_data.distances, lengths, kept), crowded.astype(np.float64))


@dataclass(frozen=True, eq=False)
class Places:
    """A map, and what is one place on it."""

    table: Rows
    size: float  # its width, but for a few rows at the ends of an axis
    same: float  # distance within which rows cannot be told apart on a picture of the map …
    exactly: float  # … and within which they have the same coordinates

    @classmethod
    def of(cls, table: Rows) -> "Places":
        """A map of these coordinates."""
        n, p = table.rows.shape
        low, high = np.quantile(table.rows, _INNER, axis=0)
        # of many rows some are as near as that by chance
        chance = (_CROWDED_BY_CHANCE / (n * ball(p))) ** (1.0 / p)
        size = float((high - low).max())
        return cls(table, size, min(SAME, chance) * size, ROUNDING * size)

    @property
    def spreads(self) -> Floats:
        """Standard deviations along the principal axes, ascending."""
        centered = self.table.rows - self.table.rows.mean(axis=0)
        return np.sqrt(np.maximum(np.linalg.eigvalsh(centered.T @ centered / len(centered)), 0.0))


def squared_strain(lengths: Floats, on_map: Floats, kept: np.ndarray) -> Floats:
    """Mean square of the relative changes of the lengths kept, of each row; NaN where none is."""
    kept = kept & (lengths > 0)
    if not kept.any():
        return np.full(len(lengths), np.nan)
    change = on_map / np.where(kept, lengths / lengths.max(), 1.0)  # in a unit in which nothing overflows
    middle = float(np.median(change[kept])) or 1.0
    squares = np.where(kept, np.minimum(np.abs(change / middle - 1.0), 1.0) ** 2, 0.0)
    counts = kept.sum(axis=1)
    return np.where(counts > 0, squares.sum(axis=1) / np.maximum(counts, 1), np.nan)


def connected(indices: Integers) -> Integers:
    """Numbers (n,) of the connected components of the graph in which each row has these neighbours (n, k)."""
    n, k = indices.shape
    edges = csr_array((np.ones(n * k, dtype=np.int8), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return np.asarray(connected_components(edges, directed=False)[1])


def strain_by_chance(judged: Judged, lengths: Floats) -> float:
    """The squared strain where lengths on the map have nothing to do with those (m, k) in the data."""
    random = judged.generator(31)
    lengths = np.tile(lengths, (-(-_DRAWN // lengths.size), 1))
    i, step = random.integers(0, judged.n, lengths.size), random.integers(1, judged.n, lengths.size)
    on_map = judged.map.between(i, (i + step) % judged.n).reshape(lengths.shape)
    known = squared_strain(lengths, on_map, np.ones(lengths.shape, dtype=bool))
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else 1.0


def all_rows(judged: Judged) -> tuple[Near, Near]:
    """The nearest of every row in the data and on the map; which are far is told by a few of them."""
    some = np.sort(judged.generator(32).choice(judged.n, min(judged.n, _REFERENCES), replace=False))
    sides = []
    for table, near in ((judged.data, judged.in_data), (judged.map, judged.on_map)):
        k, far = judged.n_neighbors, np.empty(judged.n)
        rank = far_rank(judged.n, k) * len(some) // judged.n
        away = np.concatenate([part.astype(np.float32) for part in _by_blocks(table, some)])  # (references, n)
        for part in blocks(judged.n, max(1, _ENTRIES_PER_BLOCK // len(some))):
            far[part] = np.partition(away[:, part], rank, axis=0)[rank]
        sides.append(Near(near.indices.reshape(-1, k), near.distances.reshape(-1, k), far))
    return sides[0], sides[1]


def _by_blocks(table: Table, rows: Integers) -> Iterator[Floats]:
    for part in blocks(len(rows), max(1, _ENTRIES_PER_BLOCK // len(table))):
        yield table.distances(rows[part])


def ball(p: int) -> float:
    """Volume of the unit ball in p dimensions."""
    return exp(p / 2 * log(pi) - lgamma(p / 2 + 1))

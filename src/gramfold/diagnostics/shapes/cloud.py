"""The rows whose shape is looked for: some distinct ones, their distances, and the flat noise around them taken away.

Rows that are far from all others are set aside: they have no shape, and would be the widest direction of all.

Of a table under Euclidean distances, directions of noise are left out. Singular values below ω(β) times their median
are those of noise (Gavish, Donoho, IEEE Transactions on Information Theory 60, 2014; β is columns over rows), if they
are as nearly equal as noise of one size makes them: within twice the width of the law of Marchenko and Pastur,
((1 + √β) / (1 − √β))². Where they are not, every direction is kept.

What is left of columns of few levels is a lattice, such as that of sums of answers from 1 to 5, whose points would be
groups. Rounding to a step of h took away an error that is spread evenly over h, of variance h²/12, if the density is
even over a step: as much is added again before directions are left out. A column whose h²/12 is above the variance of
the noise has levels that noise does not blur, which are no effect of rounding: it is kept as it is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from gramfold.diagnostics.intrinsic.nearby import Nearby
from gramfold.diagnostics.intrinsic.scales import Scales, scales_of
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.tables import Remembered, Rows
from gramfold.graph.build import symmetrize
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.types import Floats, Integers, Neighbors

MOST = 1_500  # rows that are looked at
FEWEST = 30  # distinct rows below which no shape is looked for
_DRAWN = 4 * MOST  # rows among which distinct ones are looked for
_WIDEST = 64  # neighbours of each row that are known
_LEAST_COLUMNS = 6  # below which directions of noise cannot be told from the others
_TWICE = 2.0  # the width that noise of one size has
_ALONE = 5  # neighbours, and how many times the usual distance from them, of a row that is set aside
_EDGES = 10  # neighbours of a row in the graph, ...
_SHARE = 8  # ... but at most one in so many rows
_FEW = 20  # one in so many rows or fewer are set aside
_CURVE = 1.5  # dimensions below which rows lie along a curve
_REPEATED = 2  # rows that have each value on the average, where values were rounded
_OF_ROUNDING = 12.0  # squared step over variance of a value that is spread evenly over it
_SCALES = (8, 32)  # neighbours between which the dimension is read


@dataclass(frozen=True, eq=False)
class Cloud:
    """Distinct rows, and what is known of them."""

    rows: Integers  # (m,) among those that are compared
    distances: Floats  # (m, m)
    table: Floats | None  # (m, d) columns, where distances are Euclidean in them
    noise: float  # standard deviation of the widest direction that was taken away
    n_directions: int  # that are left where others were taken away, else 0
    n_aside: int  # rows that are far from all others

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def near(self) -> Nearby:
        """The nearest rows of each."""
        return Nearby.of(self.distances, _ALONE, widest=_WIDEST, metric="precomputed")

    @cached_property
    def scales(self) -> Scales:
        """The dimension at several scales."""
        return scales_of(self.near)

    @cached_property
    def dimension(self) -> float:
        """The smallest over scales: noise makes it larger at small ones, curvature at large ones."""
        known = (self.scales.n_neighbors >= _SCALES[0]) & (self.scales.n_neighbors <= _SCALES[1])
        values = self.scales.corrected[known] if known.any() else self.scales.corrected[-1:]
        most = len(self) - 1 if self.table is None else min(len(self) - 1, self.table.shape[1])
        return float(min(values.min(), most))  # where distances are all alike, it is infinite

    @property
    def n_edges(self) -> int:
        """Neighbours of a row in the graph."""
        return int(np.clip(len(self) // _SHARE, _ALONE, _EDGES))

    def lists(self, k: int) -> tuple[Integers, Floats]:
        """The k nearest of each row and their distances, (m, k)."""
        return self.near.indices[:, :k], self.near.unit * self.near.distances[:, :k]

    @cached_property
    def graph(self) -> csr_array:
        """Lengths of the edges between neighbours, (m, m); and over gaps that are no wider than chance makes them."""
        lists = self.lists(self.n_edges)
        edges = symmetrize(Neighbors.from_lists(*lists, len(self)))
        ends = over_gaps(edges, self.distances, lists[1][:, -1], self.n_edges, max(self.dimension, 1.0))
        if not ends:
            return edges
        i, j = np.array(ends).T
        both = np.concatenate([i, j]), np.concatenate([j, i])
        return csr_array(edges + csr_array((self.distances[both], both), shape=edges.shape))

    @cached_property
    def main(self) -> Integers:
        """The rows of the largest connected component."""
        _, part = connected_components(self.graph, directed=False)
        return np.flatnonzero(part == np.argmax(np.bincount(part)))


def over_gaps(edges: csr_array, distances: Floats, reach: Floats, k: int, d: float) -> list[tuple[int, int]]:
    """The nearest rows of connected components between which there is no gap beyond chance."""
    n = len(distances)
    chance = widest_by_chance(n, k, d)
    found: list[tuple[int, int]] = []
    count, part = connected_components(edges, directed=False)
    for one in range(count if count > 1 else 0):
        inside, outside = np.flatnonzero(part == one), np.flatnonzero(part != one)
        gaps = distances[np.ix_(inside, outside)]
        i, j = np.unravel_index(np.argmin(gaps), gaps.shape)
        row, other = int(inside[i]), int(outside[j])
        if gaps[i, j] <= chance * max(reach[row], reach[other]) and (other, row) not in found:
            found.append((row, other))
    return found


def widest_by_chance(n: int, k: int, d: float) -> float:
    """The widest gap between rows that chance makes, in radii of the neighbourhoods at its two rims.

    A row at the rim has its k neighbours in half a ball of radius r. A gap of width b holds a ball of diameter b
    without a row, where 2ku rows are expected, u = (b/2r)^d. The radii of both rims are random too (r^d has a gamma law
    of shape k), so that such a ball is empty with a probability of (1 + u)^−2k; chance leaves one among n if that is
    1/n²:

        b = 2r (n^(1/k) − 1)^(1/d)

    Between parts of more dimensions than a curve has, many such balls beside each other are empty: there the rims have
    enough rows for r to be taken as known, and u = ln n / k.
    """
    u = n ** (1.0 / k) - 1.0 if d < _CURVE else np.log(n) / k
    return float(2.0 * u ** (1.0 / d))


def cloud_of(judged: Judged) -> Cloud | None:
    """Of the data of a map; None where there are too few distinct rows."""
    table = judged.data.table if isinstance(judged.data, Remembered) else judged.data
    random = judged.generator(41)
    drawn: Integers = np.arange(judged.n)
    if judged.n > _DRAWN:
        drawn = np.sort(random.choice(judged.n, _DRAWN, replace=False))
    euclidean = isinstance(table, Rows) and table.metric.family == "euclidean" and not issparse(table.rows)
    if isinstance(table, Rows):
        prepared = table.metric.prepare(table.rows[drawn])
        drawn = np.asarray(drawn[np.sort(collapse_rows(prepared).first)])
    if len(drawn) > MOST:
        drawn = np.sort(random.choice(drawn, MOST, replace=False))
    if len(drawn) < FEWEST:
        return None
    if euclidean and isinstance(table, Rows):
        return _of_columns(drawn, table.metric.prepare(table.rows[drawn]), judged.generator(43))
    distances = judged.data.distances(drawn, drawn)
    distances = np.maximum(distances, distances.T)
    distances /= float(distances.max()) or 1.0
    fresh = ~np.triu(distances == 0.0, 1).any(axis=0)  # distances may be 0 between rows that differ
    own: Integers = np.flatnonzero(fresh)
    kept, n_aside = _together(own, distances[np.ix_(own, own)])
    if len(kept) < FEWEST:
        return None
    return Cloud(drawn[kept], distances[np.ix_(kept, kept)], None, 0.0, 0, n_aside)


def _of_columns(drawn: Integers, table: Floats, random: np.random.Generator) -> Cloud | None:
    table = table - table.mean(axis=0)
    table = table / (float(np.abs(table).max()) or 1.0)
    kept, n_aside = _together(np.arange(len(drawn)), euclidean(table))
    if len(kept) < FEWEST:
        return None
    table = table[kept] - table[kept].mean(axis=0)
    table = table / (float(np.abs(table).max()) or 1.0)
    directions, noise = without_noise(table, random)
    distances = euclidean(table) if directions is None else cdist(directions, directions)
    n_directions = 0 if directions is None else directions.shape[1]
    return Cloud(drawn[kept], distances, table, noise, n_directions, n_aside)


def euclidean(table: Floats) -> Floats:
    """Distances between all rows: by products where columns are many, since the mean is 0."""
    if table.shape[1] <= _WIDEST:
        return np.asarray(cdist(table, table))
    squares = np.einsum("ij,ij->i", table, table)
    found = squares[:, None] + squares[None, :] - 2.0 * (table @ table.T)
    found = np.sqrt(np.maximum(found, 0.0))
    np.fill_diagonal(found, 0.0)
    return np.asarray(np.minimum(found, found.T))


def _together(rows: Integers, distances: Floats) -> tuple[Integers, int]:
    """The rows that have neighbours, and the number of the others."""
    if len(rows) <= 2 * _ALONE:
        return rows, 0
    reach = np.partition(distances, _ALONE, axis=1)[:, _ALONE]
    lone = reach > _ALONE * np.median(reach)
    # where many are far from each other this is how the data are
    return (rows[~lone], int(lone.sum())) if lone.sum() * _FEW <= len(rows) else (rows, 0)


def without_noise(table: Floats, random: np.random.Generator) -> tuple[Floats | None, float]:
    """Coordinates along the directions that are wider than noise, None where that is all, and the width of the rest."""
    n, d = table.shape
    if d < _LEAST_COLUMNS or d >= n:
        return None, 0.0
    values, axes = np.linalg.eigh(table.T @ table / n)
    spreads, axes = np.sqrt(np.maximum(values[::-1], 0.0)), axes[:, ::-1]
    beta = d / n
    omega = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43  # their approximation of ω(β)
    wide = int((spreads > omega * np.median(spreads)).sum())
    rest = spreads[wide:]
    equal = _TWICE * ((1 + np.sqrt(beta)) / (1 - np.sqrt(beta))) ** 2
    if not 0 < wide < d or rest[0] ** 2 > equal * rest[-1] ** 2:
        return None, 0.0
    noise = float(rest[0])
    steps = np.array([step_of(column) for column in table.T])
    blurred = np.where(np.square(steps) / _OF_ROUNDING <= noise**2, steps, 0.0)
    return (table + blurred * random.uniform(-0.5, 0.5, table.shape)) @ axes[:, :wide], noise


def step_of(column: Floats) -> float:
    """The usual step from a value to the next; 0 where most values occur once, so that they were not rounded."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) < 2 or len(values) * _REPEATED > len(column):
        return 0.0
    steps = np.diff(values)
    order = np.argsort(steps, kind="stable")
    below = np.cumsum(counts[:-1][order])
    return float(steps[order][np.searchsorted(below, 0.5 * below[-1])])

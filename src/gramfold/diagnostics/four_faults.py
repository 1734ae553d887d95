"""The four faults that a map can have.

    glued       strangers are neighbours on the map
    torn        neighbours are strangers on the map
    strained    lengths of edges between neighbours changed, beyond one common scale
    collapsed   rows share a place or lie in a crowd: an axis is taken by few rows (98% of the others lie within 15% of
                its range), rows that differ have one place, or the map is flat along an axis that the data have

No one of them says whether to believe a map: one that collapsed keeps most neighbours, and one cut in pieces has no
strangers. Each total has a threshold, made of what chance and what PCA give on the same rows:

    glued       as much as PCA (three standard errors above), at least a tenth and at most a third of chance
    torn        as much as PCA, but at least a quarter of what one straight cut through the middle of a square sheet of
                as many rows and dimensions tears (a cut through one 16 times as long as wide; a tenth of chance for
                maps of more than three dimensions), and at most a third of chance
    strained    as much as PCA, at least half of chance and at most chance
    collapsed   as much as PCA, at least half of the rows

By chance two thirds of the neighbours are strangers (fewer where neighbours are more than a sixth of the rows, since
those within twice as many are never strangers). Rows of another group are strangers however near it is: a connected
component of the neighbour graph, across a gap of three neighbourhood radii.

A straight cut through a unit cube of p dimensions with n rows parts a share  r p/(p + 1) E|cos θ|  of the edges to the
k nearest:  r = (k / n V_p)^(1/p)  is the distance of the k-th, r p/(p + 1) that of all k on average, and
E|cos θ| = Γ(p/2) / √π Γ((p + 1)/2)  its part across the cut.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp, lgamma, pi, sqrt
from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intervals import mean_interval
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.plain_places import plain_places
from gramfold.diagnostics.shared_neighbors import shared_shares
from gramfold.diagnostics.strangers import (
    FAR,
    SAME,
    Counts,
    Near,
    Places,
    all_rows,
    ball,
    connected,
    far_rank,
    strain_by_chance,
)
from gramfold.diagnostics.tables import Rows
from gramfold.embedding.degenerate import taken_axis
from gramfold.errors import InputError
from gramfold.neighbors.metrics import MetricName, make_metric
from gramfold.runtime.counting import some_rows
from gramfold.types import Floats, Integers

_LEAST, _MOST = 0.1, 1 / 3  # of chance
_SURE = 3.0  # standard errors
_HALF, _QUARTER = 0.5, 0.25
_SHEET = 3  # dimensions of a map that can be cut like one
_FLAT = 2  # dimensions of a map that is still one without its constant columns
_SEARCHED = (
    20_000  # rows up to which groups are looked for, which takes a neighbour search, where only a sample is judged
)
_NOTHING = 5e-7  # a share that is a rounding error
_ALIKE = 0.01  # shares that differ by less are the same in words
_NEARLY_ALL = 0.995  # a share that two digits would call all
_FEWEST = 20  # rows with a place of their own, below which neighbours are not judged


@dataclass(frozen=True, eq=False, repr=False)
class Fault:
    """How much of one fault a map has.

    Attributes
    ----------
    name : str
        "glued", "torn", "strained" or "collapsed".
    total : float
        Of the whole map: the share of strangers among neighbours, of lost neighbours, the root mean square of relative
        changes of length, the share of rows that share a place or lie in a crowd. NaN where so many rows share places
        that neighbours cannot be judged.
    interval : pair of float, or None
        In which the total of all rows lies with 95% confidence, where it was estimated from a sample.
    threshold : float
        Above which the fault is named.
    plain, chance : float
        The total of the map of PCA (classical scaling for other metrics), and that of a random map.
    per_point : ndarray of shape (n_rows,)
        The same for each row; NaN where it is not known.
    words : str
        What was found, in one sentence.
    """

    name: str
    total: float
    interval: tuple[float, float] | None
    threshold: float
    plain: float
    chance: float
    per_point: Floats
    words: str

    @property
    def named(self) -> bool:
        """Whether the map has this fault."""
        return bool(self.total > self.threshold)

    def __repr__(self) -> str:
        return f"Fault({self.name}: {self.total:.3g}, {'above' if self.named else 'below'} {self.threshold:.3g})"


@dataclass(frozen=True, eq=False, repr=False)
class Faults:
    """The four faults of a map. Iterating over it gives them in turn.

    Attributes
    ----------
    glued, torn, strained, collapsed : Fault
        Each with its total and its threshold.
    kept : Measure
        Share of the nearest rows in the data that are among as many nearest on the map.
    """

    glued: Fault
    torn: Fault
    strained: Fault
    collapsed: Fault
    kept: Measure

    def __iter__(self) -> Iterator[Fault]:
        return iter((self.glued, self.torn, self.strained, self.collapsed))

    @property
    def named(self) -> list[str]:
        """Names of those that are above their thresholds."""
        return [fault.name for fault in self if fault.named]

    def __repr__(self) -> str:
        return f"Faults({', '.join(self.named) or 'none above its threshold'})"


@described
def faults(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Faults:
    """Find what is wrong with a map: strangers brought together, neighbours torn apart, lengths changed, rows merged.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    faults : Faults
        `glued`, `torn`, `strained` and `collapsed`, each with its total, its threshold and a value for each row;
        `named` lists those above their thresholds.

    Notes
    -----
    Neighbours are those of the metric in all columns of X. A map into few dimensions of data that have many is
    strained by necessity, and says so.

    Examples
    --------
    A sheet of paper that was folded in the middle:

    >>> import numpy as np
    >>> from gramfold.diagnostics import faults
    >>> sheet = np.random.default_rng(0).random((500, 2))
    >>> folded = np.column_stack([np.abs(sheet[:, 0] - 0.5), sheet[:, 1]])
    >>> faults(sheet, folded)
    Faults(glued)
    >>> faults(sheet, sheet).named
    []
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    return faults_of(judged, every_row=True)


def faults_of(judged: Judged, *, every_row: bool) -> Faults:
    """The faults of a map; with values of rows that were not drawn only if these are wanted, which takes a search."""
    k, rows = judged.n_neighbors, judged.rows
    if 3 * k > judged.n:
        raise InputError(
            f"n_neighbors={k} is more than a third of the {judged.n} rows, so no neighbour can be a stranger: use "
            f"n_neighbors <= {judged.n // 3}, or more rows."
        )
    places = Places.of(_without_constants(judged.map))
    p = places.table.rows.shape[1]
    in_data = judged.once_of_data(_near_in_data)
    groups = judged.once_of_data(_groups) if every_row or judged.n <= _SEARCHED else None
    plain, usual = judged.once_of_data(_plain_map, p, groups is not None)
    on_map = Near.exactly(places.table, rows, k, judged.n_jobs)
    kept = shared_shares(in_data.indices, on_map.indices)
    flat = _flat(places, plain) and float(kept.mean()) < _HALF  # a curve that was unrolled is flat, and keeps them
    found = Counts.of(rows, in_data, on_map, judged.data, places, groups=groups, flat=flat)
    every = found
    if every_row and not judged.exact:
        every = Counts.of(np.arange(judged.n), *all_rows(judged), judged.data, places, groups=groups, flat=flat)
    told = _Told(judged, found, usual, every)
    beside = " or in another group" if groups is not None and groups.any() else ""
    return Faults(
        told.share("glued", f"strangers, beyond {told.nearest} in the data{beside}", "on the map", _LEAST),
        told.share("torn", f"beyond {told.nearest} on the map", "in the data", _cut(judged, p) / told.chance),
        told.strained(strain_by_chance(judged, in_data.distances)),
        told.collapsed(_taken(places), _taken(plain), flat),
        Measure(float(kept.mean()), mean_interval(kept, judged.n, (0.0, 1.0)), judged.per_point(kept)),
    )


def _without_constants(table: Rows) -> Rows:
    """A map without its constant columns: a flat one may be written with a third coordinate of 0."""
    varies = np.ptp(table.rows, axis=0) > 0
    return replace(table, rows=table.rows[:, varies]) if _FLAT <= varies.sum() < len(varies) else table


def _near_in_data(judged: Judged) -> Near:
    return Near.exactly(judged.data, judged.rows, judged.n_neighbors, judged.n_jobs)


def _groups(judged: Judged) -> Integers:
    """Connected components of the neighbour graph of the data."""
    if judged.exact:
        return connected(judged.once_of_data(_near_in_data).indices)
    return connected(judged.in_data.indices.reshape(judged.n, -1))


def _plain_map(judged: Judged, dimensions: int, grouped: bool) -> tuple[Places, Counts]:
    """The map of PCA, and what it does to the neighbours of the rows drawn."""
    usual = judged.once_of_data(plain_places, dimensions)
    plain = Places.of(Rows(usual, make_metric("euclidean", None, usual)))
    near = Near.exactly(plain.table, judged.rows, judged.n_neighbors, judged.n_jobs)
    in_data, groups = judged.once_of_data(_near_in_data), judged.once_of_data(_groups) if grouped else None
    return plain, Counts.of(judged.rows, in_data, near, judged.data, plain, groups=groups, flat=False)


@dataclass(frozen=True, eq=False)
class _Told:
    judged: Judged
    found: Counts  # of the sample
    usual: Counts  # of the sample, on the map of PCA
    every: Counts  # of all rows

    @property
    def chance(self) -> float:
        """Share of rows that are far."""
        return 1.0 - max(FAR, far_rank(self.judged.n, self.judged.n_neighbors) / self.judged.n)

    @property
    def nearest(self) -> str:
        """The rows that are not far, in words."""
        rank = far_rank(self.judged.n, self.judged.n_neighbors)
        return "the nearest third of all rows" if rank <= FAR * self.judged.n else f"the nearest {rank} rows"

    def share(self, name: str, what: str, side: str, least: float) -> Fault:
        values, usual = getattr(self.found, name), getattr(self.usual, name)
        total, plain = _mean(values), _mean(usual)
        limit = float(np.clip(_above(usual), min(least, _LEAST) * self.chance, _MOST * self.chance))
        words = (
            f"{percent(total)} of the {self.judged.n_neighbors} nearest rows {side} are {what} "
            f"(PCA: {percent(plain)}, chance: {percent(self.chance)})"
        )
        return self._fault(name, values, total, limit, plain, self.chance, getattr(self.every, name), words)

    def strained(self, chance: float) -> Fault:
        values, usual = self.found.strain, self.usual.strain
        total, plain = _root(_mean(values)), _root(_mean(usual))
        limit = _root(float(np.clip(_above(usual), _HALF**2 * chance, chance)))
        words = (
            f"distances between neighbours differ from those in the data by {percent(total)} (root mean square, after "
            f"the best common scale; PCA: {percent(plain)}, chance: {percent(_root(chance))})"
        )
        return self._fault("strained", values, total, limit, plain, _root(chance), np.sqrt(self.every.strain), words)

    def collapsed(self, taken: "_Taken", plainly: "_Taken", flat: bool) -> Fault:
        rows = self.judged.rows
        values = np.maximum(self.found.crowded, taken.inner[rows])
        usual = np.maximum(self.usual.crowded, plainly.inner[rows])
        total, plain = _mean(values), _mean(usual)
        limit = float(np.clip(_above(usual), _HALF, 1.0))
        reasons = list(taken.words)
        if self.judged.map.constant():
            reasons.append("all of them are at one place")
        elif flat:
            reasons.append("the map is flat along an axis that the data have")
        elif self.found.crowded.any():
            reasons.append(f"rows that differ in the data are nearer than {SAME:.2g} of the width of the map")
        alike = total > _HALF and abs(total - plain) < _ALIKE
        beside = ", as on the map of PCA" if alike else f" (PCA: {percent(plain)})"
        words = f"{percent(total)} of the rows share a place, or lie in a crowd{beside}"
        if reasons:
            words += ": " + "; ".join(reasons)
        every = np.maximum(self.every.crowded, taken.inner if len(self.every.crowded) == self.judged.n else values)
        return self._fault("collapsed", values, total, limit, plain, 0.0, every, words)

    def _fault(
        self,
        name: str,
        values: Floats,
        total: float,
        limit: float,
        plain: float,
        chance: float,
        every: Floats,
        words: str,
    ) -> Fault:
        interval = None
        if not self.judged.exact and np.isfinite(total):
            interval = mean_interval(values[~np.isnan(values)], self.judged.n, (0.0, 1.0))
            if name == "strained" and interval is not None:
                interval = _root(interval[0]), _root(interval[1])
        if not np.isfinite(total):
            words = "not judged, because hardly a row has a place of its own, or neighbours at a distance above 0"
        return Fault(name, total, interval, limit, plain, chance, self.judged.per_point(every), words)


@dataclass(frozen=True, eq=False)
class _Taken:
    """Rows that lie together on an axis which few others take."""

    inner: Floats  # (n,) 1 or 0
    words: list[str]


def _taken(places: Places) -> _Taken:
    inner, words = np.zeros(len(places.table)), []
    for axis, column in enumerate(places.table.rows.T):
        found = taken_axis(column)
        if found is not None:
            inner[found.inner] = 1.0
            words.append(f"coordinate {axis + 1} is dominated by {some_rows(found.rows, len(found.rows))[0]}")
    return _Taken(inner, words)


def _flat(places: Places, plain: Places) -> bool:
    """Whether the map has no width along an axis, though the data have one."""
    widths, usual = places.spreads, plain.spreads
    if len(usual) < len(widths):
        return False
    return bool(widths[0] < SAME * widths[-1] and usual[0] >= SAME * usual[-1])


def _cut(judged: Judged, p: int) -> float:
    """The least share of lost neighbours of a torn map: a quarter of what a cut through a square sheet parts."""
    k, n = judged.n_neighbors, judged.n
    if p > _SHEET:
        return 1.0  # more than the least of other faults, which is taken then
    reach = (k / (n * ball(p))) ** (1.0 / p)
    across = exp(lgamma(p / 2) - lgamma((p + 1) / 2)) / sqrt(pi)
    return float(_QUARTER * reach * p / (p + 1) * across)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) >= min(_FEWEST, len(values)) else float("nan")


def _above(values: Floats) -> float:
    """The mean, and some standard errors more."""
    known = values[~np.isnan(values)]
    return float(known.mean() + _SURE * known.std() / sqrt(len(known))) if len(known) else 0.0


def _root(square: float) -> float:
    return float(np.sqrt(square))


def percent(share: float) -> str:
    """A share in per cent, with two digits; 100% is said only of all."""
    if not np.isfinite(share):
        return "unknown"
    if share < _NOTHING:
        return "0%"
    if _NEARLY_ALL <= share < 1.0 - _NOTHING:
        return f"{min(100 * share, 99.9):.1f}%"
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"

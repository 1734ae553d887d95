"""Rows that are nearly copies of others: measured twice, or copied and rounded anew.

    ρ = r₁ / r₈ of a row: how near its nearest row is, relative to its neighbourhood
    P(ρ ≤ t) ~ t^d  for rows of d dimensions, and constant between the size of copies and that of neighbourhoods

Copies look like dimension 0 at the scale in between. Where at least half of the rows with ρ ≤ 10 t have ρ ≤ t, the
dimension between these scales is below log₁₀ 2 = 0.3: rows nearer than √10 t, the middle of this gap, are then copies.
A row with more than seven of them is a group, which has a dimension of its own.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gramfold.neighbors.duplicates import Collapse, collapse_labels
from gramfold.neighbors.index import Index, VectorIndex
from gramfold.neighbors.precomputed import DistanceIndex
from gramfold.neighbors.search import exact_index
from gramfold.types import Floats, Integers

AROUND = 8  # the neighbour that says how large a neighbourhood is
_LEVELS = 10.0 ** np.arange(-12, -1)  # of its distance: from the rounding of coordinates up to a hundredth
_DECADE, _MIDST = 10.0, 10.0**0.5
_HALF = 0.5  # of the rows that are within a decade more
_SOME = 0.01  # share of the rows that have a copy, below which an estimate hardly changes …
_LEAST = 10  # … and five pairs of them at least: fewer are in such a gap by chance


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Groups of vertices that are nearly equal."""

    groups: Collapse  # of vertices

    @classmethod
    def of(cls, index: Index, drawn: Integers, distances: Floats) -> Self | None:
        """From the distances (m, k) of the drawn vertices to their neighbours; None where there are none."""
        level = _level(distances)
        if level is None or not isinstance(index, VectorIndex | DistanceIndex):
            return None
        n = index.size
        lists = index.own(AROUND, None)
        indices, lengths = lists.indices.reshape(n, -1), lists.distances.reshape(n, -1)
        i, place = np.nonzero(lengths <= level * lengths[:, -1:])
        pairs = coo_array((np.ones(len(i)), (i, indices[i, place])), shape=(n, n))
        return cls(collapse_labels(connected_components(pairs, directed=False)[1]))

    def index(self, whole: Index, n_jobs: int | None) -> Index:
        """One vertex of each group."""
        if isinstance(whole, VectorIndex):
            return exact_index(whole.points[self.groups.first], whole.metric, n_jobs)
        assert isinstance(whole, DistanceIndex)
        return DistanceIndex.of(whole.distances, self.groups.first)

    def within(self, copies: Collapse) -> Collapse:
        """Groups of rows, where the vertices stand for copies of rows themselves."""
        groups = self.groups
        multiplicity = np.bincount(groups.vertex, weights=copies.multiplicity).astype(np.float64)
        return Collapse(copies.first[groups.first], groups.vertex[copies.vertex], multiplicity)


def _level(distances: Floats) -> float | None:
    """The share of a neighbourhood within which rows are copies, where the gap is emptiest; None without a gap."""
    if distances.shape[1] < AROUND:
        return None
    first, around = distances[:, 0], distances[:, AROUND - 1]
    ratios = first[first > 0.0] / around[first > 0.0]
    within = np.count_nonzero(ratios <= _LEVELS[:, None], axis=1)
    beyond = np.count_nonzero(ratios <= _DECADE * _LEVELS[:, None], axis=1)
    shares = np.where(within >= max(_LEAST, _SOME * len(distances)), within / np.maximum(beyond, 1), 0.0)
    widest = int(np.argmax(shares))
    return float(_MIDST * _LEVELS[widest]) if shares[widest] >= _HALF else None

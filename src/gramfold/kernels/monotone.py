"""Monotone regression: the disparities nearest to given distances that keep the order of the dissimilarities.

    d̂ = argmin Σ w (d − d̂)²   with   d̂_a ≤ d̂_b wherever δ_a < δ_b

Pairs of equal dissimilarity are free (Kruskal's primary approach to ties) or equal too (secondary). Both sets of d̂ are
convex cones, so d̂ is the projection of d on one: Σ w d̂ (d − d̂) = 0.

Kruskal, Psychometrika 29 (1964), 115–129; de Leeuw, Psychometrika 42 (1977).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gramfold.types import Floats, Integers

Ties = Literal["primary", "secondary"]


@dataclass(frozen=True)
class RankOrder:
    """All that ordinal methods know of dissimilarities: their order. Arrays stand in that order unless said."""

    order: Integers  # (N,) the pairs, by ascending dissimilarity
    sizes: Integers  # (g,) how many pairs share each dissimilarity
    weights: Floats  # (N,) of the pairs
    ties: Ties
    tied: Integers  # places of the pairs that share theirs
    group: Integers  # (len(tied),) whom they share it with

    def ranks(self) -> Floats:
        """The rank of each pair divided by the largest, of equals their average; in the order of the pairs."""
        weights = self._sums(self.weights)
        average = np.cumsum(weights) - 0.5 * (weights - 1)
        ranks = np.empty(len(self.order))
        ranks[self.order] = np.repeat(average / average[-1], self.sizes)
        return ranks

    def regress(self, distances: Floats) -> Floats:
        """The disparities of these distances."""
        if not self.tied.size:
            return _isotonic(distances, self.weights)
        if self.ties == "secondary":
            weights = self._sums(self.weights)
            return np.repeat(_isotonic(self._sums(self.weights * distances) / weights, weights), self.sizes)
        places = self._sorted_within_ties(distances)
        disparities = np.empty_like(distances)
        disparities[places] = _isotonic(distances[places], self.weights[places])
        return disparities

    def _sorted_within_ties(self, distances: Floats) -> Integers:
        places = np.arange(len(distances))
        ascending = np.argsort(distances[self.tied])
        # a stable sort of small whole numbers is a radix sort: four times as fast as sorting by both keys at once
        places[self.tied] = self.tied[ascending[np.argsort(self.group[ascending], kind="stable")]]
        return places

    def _sums(self, values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(values, np.cumsum(self.sizes) - self.sizes))


def rank_order(dissimilarities: Floats, weights: Floats, ties: Ties) -> RankOrder:
    """The order of these dissimilarities; weights are of the pairs, in the same order as they."""
    order = np.argsort(dissimilarities, kind="stable")
    ascending = dissimilarities[order]
    starts = np.flatnonzero(np.concatenate(([True], ascending[1:] > ascending[:-1])))
    sizes = np.diff(starts, append=len(order))
    shared = np.repeat(sizes > 1, sizes)
    number = np.arange(len(sizes)).astype(np.min_scalar_type(len(sizes)))
    return RankOrder(order, sizes, weights[order], ties, np.flatnonzero(shared), np.repeat(number, sizes)[shared])


def _isotonic(values: Floats, weights: Floats) -> Floats:
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(values, weights=weights).x)

"""Monotone regression: the disparities nearest to given distances that keep the order of the dissimilarities.

    d̂ = argmin Σ w (d − d̂)²   with   d̂_a ≤ d̂_b wherever δ_a < δ_b

Pairs of equal dissimilarity are free (Kruskal's primary approach to ties) or equal too (secondary). Both sets of d̂ are
convex cones, so d̂ is the projection of d on one: Σ w d̂ (d − d̂) = 0.

Copies of a row share a place, so the pairs among them lie at distance 0 and are not listed. That is their d̂ too, but
for equal ties among which other pairs are as alike as copies: there they weigh on the mean.

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
    at_zero: float = 0.0  # weight of the pairs, all at distance 0, that are tied with the least group and not listed

    def ranks(self) -> Floats:
        """The rank of each pair divided by the largest, of equals their average; in the order of the pairs."""
        weights = self._sums(self.weights)
        average = np.cumsum(weights) - 0.5 * (weights - 1)
        ranks = np.empty(len(self.order))
        ranks[self.order] = np.repeat(average / average[-1], self.sizes)
        return ranks

    def regress(self, distances: Floats) -> Floats:
        """The disparities of these distances."""
        if self.ties == "secondary" and (self.tied.size or self.at_zero):
            weights = self._sums(self.weights)
            weights[0] += self.at_zero
            return np.repeat(_isotonic(self._sums(self.weights * distances) / weights, weights), self.sizes)
        if not self.tied.size:
            return _isotonic(distances, self.weights)
        places = self._sorted_within_ties(distances)
        disparities = np.empty_like(distances)
        disparities[places] = _isotonic(distances[places], self.weights[places])
        return disparities

    def unlisted(self, disparities: Floats) -> float:
        """Σ w d̂² over the pairs at distance 0 that are not listed: their misfit, and their part of Σ w d̂²."""
        return self.at_zero * float(disparities[0]) ** 2

    def _sorted_within_ties(self, distances: Floats) -> Integers:
        places = np.arange(len(distances))
        ascending = np.argsort(distances[self.tied])
        # a stable sort of small whole numbers is a radix sort: four times as fast as sorting by both keys at once
        places[self.tied] = self.tied[ascending[np.argsort(self.group[ascending], kind="stable")]]
        return places

    def _sums(self, values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(values, np.cumsum(self.sizes) - self.sizes))


def rank_order(
    dissimilarities: Floats, weights: Floats, ties: Ties, *, copies: float = 0.0, likeness: float = 0.0
) -> RankOrder:
    """The order of these dissimilarities; weights are of the pairs, in the same order as they.

    Pairs of copies weigh `copies` in all and have the dissimilarity `likeness`, which no pair is below.
    """
    order = np.argsort(dissimilarities, kind="stable")
    ascending = dissimilarities[order]
    starts = np.flatnonzero(np.concatenate(([True], ascending[1:] > ascending[:-1])))
    sizes = np.diff(starts, append=len(order))
    shared = np.repeat(sizes > 1, sizes)
    number = np.arange(len(sizes)).astype(np.min_scalar_type(len(sizes)))
    at_zero = copies if ties == "secondary" and ascending[0] <= likeness else 0.0
    tied = np.flatnonzero(shared)
    return RankOrder(order, sizes, weights[order], ties, tied, np.repeat(number, sizes)[shared], at_zero)


def _isotonic(values: Floats, weights: Floats) -> Floats:
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(values, weights=weights).x)

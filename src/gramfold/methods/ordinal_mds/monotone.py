"""Monotone regression: the disparities nearest to given distances that keep the order of the dissimilarities.

    d̂ = argmin Σ w (d − d̂)²   with   d̂_a ≤ d̂_b wherever δ_a < δ_b,  over pairs a, b with w > 0

Pairs of equal dissimilarity are free (Kruskal's primary approach to ties) or equal too (secondary). Both sets of d̂ are
convex cones, so d̂ is the projection of d on one: Σ w d̂ (d − d̂) = 0. A pair of weight 0 takes no part.

Duplicate rows have the same coordinates, so the pairs among them lie at distance 0 and are not listed. Their d̂ is 0
too, except with secondary ties where other pairs have the same, least dissimilarity: there they count in the mean.

Kruskal, Psychometrika 29 (1964), 115–129; de Leeuw, Psychometrika 42 (1977).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gramfold.types import Floats, Integers

Ties = Literal["primary", "secondary"]


@dataclass(frozen=True)
class RankOrder:
    """The order of the dissimilarities, all that ordinal methods use. Arrays are in that order unless noted."""

    order: Integers  # (N,) the pairs with a weight, by ascending dissimilarity
    sizes: Integers  # (g,) the number of pairs with each dissimilarity
    weights: Floats  # (N,) of the pairs
    ties: Ties
    tied: Integers  # positions of the pairs whose dissimilarity others have too
    group: Integers  # (len(tied),) the number of that dissimilarity
    n_pairs: int  # with or without a weight
    at_zero: float = 0.0  # weight of the pairs, all at distance 0, that are tied with the least group and not listed

    def ranks(self) -> Floats:
        """The rank of each pair divided by the largest, average for ties; (n_pairs,) with NaN for weight 0."""
        weights = self._sums(self.weights)
        average = np.cumsum(weights) - 0.5 * (weights - 1)
        ranks = np.full(self.n_pairs, np.nan)
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
        ascending = self._sorted_within_ties(distances)
        disparities = np.empty_like(distances)
        disparities[ascending] = _isotonic(distances[ascending], self.weights[ascending])
        return disparities

    def unlisted(self, disparities: Floats) -> float:
        """Σ w d̂² over the pairs of duplicate rows, which are not listed: their misfit, and their part of Σ w d̂²."""
        return self.at_zero * float(disparities[0]) ** 2

    def _sorted_within_ties(self, distances: Floats) -> Integers:
        positions = np.arange(len(distances))
        ascending = np.argsort(distances[self.tied])
        # a stable sort of small whole numbers is a radix sort: four times as fast as sorting by both keys at once
        positions[self.tied] = self.tied[ascending[np.argsort(self.group[ascending], kind="stable")]]
        return positions

    def _sums(self, values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(values, np.cumsum(self.sizes) - self.sizes))


def rank_order(
    dissimilarities: Floats, weights: Floats, ties: Ties, *, copies: float = 0.0, likeness: float = 0.0
) -> RankOrder:
    """The order of these dissimilarities of pairs, and the weights of the same pairs.

    Pairs of duplicate rows have the weight `copies` in all and the dissimilarity `likeness`; no pair has less.
    """
    listed = np.flatnonzero(weights > 0)
    order = listed[np.argsort(dissimilarities[listed], kind="stable")]
    ascending = dissimilarities[order]
    starts = np.flatnonzero(np.concatenate(([True], ascending[1:] > ascending[:-1])))
    sizes = np.diff(starts, append=len(order))
    shared = np.repeat(sizes > 1, sizes)
    number = np.arange(len(sizes)).astype(np.min_scalar_type(len(sizes)))
    at_zero = copies if ties == "secondary" and ascending[0] <= likeness else 0.0
    tied = np.flatnonzero(shared)
    return RankOrder(
        order, sizes, weights[order], ties, tied, np.repeat(number, sizes)[shared], len(dissimilarities), at_zero
    )


def _isotonic(values: Floats, weights: Floats) -> Floats:
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(values, weights=weights).x)

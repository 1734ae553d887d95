"""Rows that come in tight pairs or groups: measured again, with more noise than near_copies.py takes for a copy.

    (r_m / r_m+1)^d ~ Beta(m, 1),    P(r_m / r_m+1 ≤ t) = t^(m d) ≤ t^m   for rows of d ≥ 1 dimensions
    P(a row is the nearest of its nearest) ≤ 2/3                          which rows on a line have

No curve, sheet or solid has less than one dimension, curved or not, with noise or without. Where many more rows than
t^m have such a gap after their m-th neighbour, they lie in groups of m + 1, whose size is another scale than their
distance from each other: between the two scales the rows look like points, of dimension 0. Pairs with more noise have
no such gap, but are still the nearest of each other. These are told of where they change the dimension.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.types import Floats

# Ratios of distances that are gaps. Not 1/2: of rows at even steps along a curve the third neighbour is twice as far.
_GAPS = (0.4, 0.2, 0.1)
_SOME = 0.1  # share of the rows below which estimates hardly change
_MORE = 1.25  # times the share on a line of even density: where density changes there are some more,
_BY_CHANCE = 4.0  # and so many standard deviations; a distance serves two rows, which doubles the variance
_MUTUAL = 2 / 3 + 0.05  # share of the rows that are the nearest of their nearest, beyond which they are pairs ...
_LOWER = 2 / 3  # ... if the dimension between neighbours 1 and 2 is below this part of that between 2 and 4
_TWO_TO_FOUR = 5 / 6  # ψ(4) − ψ(2), as in scales.py
_GROUPS = 3  # fewer are no groups that rows come in, but dense regions or clusters
_FEW = 4  # rows of a group, of which a neighbourhood of 20 has several


@dataclass(frozen=True)
class TightGroups:
    """Groups of rows that are much nearer to each other than to all others.

    Attributes
    ----------
    size : int
        Rows of a group, where most rows have their gap.
    share : float
        Of the rows that have it.
    gap : float or None
        Their other rows are nearer than this share of the distance to the next row. None for pairs that are known only
        by being the nearest of each other, which are `share` of the rows.
    """

    size: int
    share: float
    gap: float | None

    @classmethod
    def of(cls, distances: Floats, mutual: float) -> Self | None:
        """From distances (n, k) above 0 to the nearest neighbours, and the share of rows nearest to their nearest."""
        if not len(distances):
            return None
        return cls._with_gaps(distances) or cls._mutual(distances, mutual)

    @classmethod
    def _with_gaps(cls, distances: Floats) -> Self | None:
        n, k = distances.shape
        ratios = distances[:, :-1] / distances[:, 1:]  # of neighbours m and m + 1, (n, k − 1)
        shares = np.array([np.mean(ratios <= gap, axis=0) for gap in _GAPS])  # (gaps, k − 1)
        most = np.maximum(_SOME, _MORE * np.array(_GAPS)[:, None] ** np.arange(1, k))
        more = shares - most - _BY_CHANCE * np.sqrt(2.0 * most * (1.0 - most) / n)
        more[shares * n < _GROUPS * np.arange(2, k + 1)] = -1.0
        gap, place = np.unravel_index(int(np.argmax(more)), more.shape)
        if not more[gap, place] > 0.0:
            return None
        return cls(int(place) + 2, float(shares[gap, place]), _GAPS[gap])

    @classmethod
    def _mutual(cls, distances: Floats, share: float) -> Self | None:
        n, k = distances.shape
        by_chance = _BY_CHANCE * np.sqrt(2.0 * _MUTUAL * (1.0 - _MUTUAL) / n)
        if k < 4 or share <= _MUTUAL + by_chance:
            return None
        first, second = (float(np.log(distances[:, b] / distances[:, a]).mean()) for a, b in ((0, 1), (1, 3)))
        # 1 / first < LOWER · (5/6) / second
        return cls(2, share, None) if second < _LOWER * _TWO_TO_FOUR * first else None

    @property
    def small(self) -> bool:
        """Whether neighbourhoods reach well beyond a group."""
        return self.size <= _FEW

"""Effect sizes of two groups of values, and their intervals.

    δ = P(a > b) − P(a < b),    a among the chosen, b among the rest (Cliff's delta);    θ = (1 + δ) / 2

δ does not change with the unit, the scale or any growing function of a column, and an outlier counts as one row. Of a
category it is the difference of its shares. The interval of θ holds all values that the found one is not too far from
(Newcombe's method 5), also where all chosen are above all others:

    (θ̂ − θ)² ≤ z² θ(1 − θ)/mn · [1 + k (1 − θ)/(2 − θ) + k θ/(1 + θ)],    k = (m + n)/2 − 1

That of a difference of shares is made of the exact intervals of both, as Newcombe's method 10 is of Wilson's.
Cliff, Psychological Bulletin 114 (1993); Newcombe, Statistics in Medicine 17 (1998) and 25 (2006).
"""

import numpy as np
from scipy import special

from gramfold.types import Floats

_ROUNDS = 60  # of bisection: to the last bit


def deviate(level: float, columns: int) -> float:
    """Of an interval that holds for so many columns together with this confidence (Bonferroni's correction)."""
    return float(special.ndtri(1.0 - 0.5 * (1.0 - level) / max(columns, 1)))


def dominance(chosen: Floats, rest: Floats) -> float:
    """δ of two groups of numbers; equal values count for neither."""
    ordered = np.sort(rest)
    below = np.searchsorted(ordered, chosen, side="left")
    above = len(ordered) - np.searchsorted(ordered, chosen, side="right")
    return float((below - above).sum() / (len(chosen) * len(rest)))


def dominance_of_sparse(chosen: Floats, rest: Floats, zeros: tuple[int, int]) -> float:
    """The same of values of which so many are 0 in each group beside those given."""
    m, n = len(chosen) + zeros[0], len(rest) + zeros[1]
    between = dominance(chosen, rest) * len(chosen) * len(rest) if len(chosen) and len(rest) else 0.0
    against_zeros = float(np.sign(chosen).sum()) * zeros[1] - float(np.sign(rest).sum()) * zeros[0]
    return (between + against_zeros) / (m * n)


def dominance_interval(deltas: Floats, m: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    """Limits of δ, each of m chosen rows and n others."""
    found = 0.5 * (1.0 + deltas)
    return 2.0 * _limit(found, m, n, z, np.zeros_like(found)) - 1.0, 2.0 * _limit(
        found, m, n, z, np.ones_like(found)
    ) - 1.0


def _limit(found: Floats, m: Floats, n: Floats, z: float, end: Floats) -> Floats:
    """The value farthest from `found`, towards `end`, from which it is not too far."""
    inner, outer = found.copy(), end.copy()
    k = 0.5 * (m + n) - 1.0
    for _ in range(_ROUNDS):
        middle = 0.5 * (inner + outer)
        spread = 1.0 + k * (1.0 - middle) / (2.0 - middle) + k * middle / (1.0 + middle)
        held = (found - middle) ** 2 <= z * z * middle * (1.0 - middle) / (m * n) * spread
        inner, outer = np.where(held, middle, inner), np.where(held, outer, middle)
    return np.asarray(inner)


def share_interval(a: Floats, m: Floats, b: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    """Limits of the difference of the shares a of m rows and b of n."""
    (a_low, a_high), (b_low, b_high) = _exact_limits(a, m, z), _exact_limits(b, n, z)
    low = a - b - np.sqrt((a - a_low) ** 2 + (b_high - b) ** 2)
    return low, a - b + np.sqrt((a_high - a) ** 2 + (b - b_low) ** 2)


def _exact_limits(share: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    """Of a share of n rows (Clopper and Pearson): those of Wilson are too narrow for rare categories and large z."""
    tail, count = float(special.ndtr(-z)), np.round(share * n)
    low = special.betaincinv(np.maximum(count, 1.0), n - count + 1.0, tail)
    high = special.betaincinv(count + 1.0, np.maximum(n - count, 1.0), 1.0 - tail)
    return np.where(count > 0, low, 0.0), np.where(count < n, high, 1.0)

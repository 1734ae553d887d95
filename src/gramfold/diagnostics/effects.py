"""Effect sizes of two groups of values, and their intervals.

    δ = P(a > b) − P(a < b),    a among the chosen, b among the rest (Cliff's delta);    θ = (1 + δ) / 2

δ does not change with the unit, the scale or any growing function of a column, and an outlier counts as one row. Of a
category it is the difference of its shares. The interval of θ holds all values that the found one is not too far from
(Newcombe's method 5), also where all chosen are above all others:

    (θ̂ − θ)² ≤ z² θ(1 − θ)/mn · [1 + k (1 − θ)/(2 − θ) + k θ/(1 + θ)],    k = (m + n)/2 − 1

That is the variance of groups of like spread. Where the variance found in the groups, of the shares of others that each
row is above (DeLong's), is larger, z² is larger by as much.
That of a difference of shares is made of the exact intervals of both, as Newcombe's method 10 is of Wilson's.
Cliff, Psychological Bulletin 114 (1993); DeLong, DeLong, Clarke-Pearson, Biometrics 44 (1988); Newcombe, Statistics in
Medicine 17 (1998) and 25 (2006).
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from gramfold.types import Floats

_ROUNDS = 60  # of bisection: to the last bit


def deviate(level: float, columns: int) -> float:
    """Of an interval that holds for so many columns together with this confidence (Bonferroni's correction)."""
    return float(special.ndtri(1.0 - 0.5 * (1.0 - level) / max(columns, 1)))


@dataclass(frozen=True)
class Dominance:
    """δ of two groups of numbers, and its variance."""

    delta: float
    variance: float


def dominance(chosen: Floats, rest: Floats, zeros: tuple[int, int] = (0, 0)) -> Dominance:
    """Of values, of which so many are 0 in each group beside those given; equal values count for neither."""
    m, n = len(chosen) + zeros[0], len(rest) + zeros[1]
    over_rest, over_chosen = _placed(chosen, rest, zeros[1]), _placed(rest, chosen, zeros[0])
    zero_over_rest, zero_over_chosen = (-float(np.sign(values).sum()) for values in (rest, chosen))
    delta = (float(over_rest.sum()) + zeros[0] * zero_over_rest) / (m * n)
    spreads = [
        (float(np.square(placed / count - mean).sum()) + zero * (own / count - mean) ** 2) / max(size - 1, 1) / size
        for placed, own, zero, size, count, mean in (
            (over_rest, zero_over_rest, zeros[0], m, n, delta),
            (over_chosen, zero_over_chosen, zeros[1], n, m, -delta),
        )
    ]
    return Dominance(delta, sum(spreads))


def _placed(values: Floats, others: Floats, zeros: int) -> Floats:
    """How many of the others, and of so many zeros, are below each value, less how many are above it."""
    ordered = np.sort(others)
    below, upto = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    return np.asarray(below + upto - len(ordered) + np.sign(values) * zeros, dtype=np.float64)


def dominance_interval(deltas: Floats, variances: Floats, m: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    """Limits of δ, each of m chosen rows and n others."""
    found = 0.5 * (1.0 + deltas)
    usual = _variance(found, m, n)
    wider = np.maximum(np.divide(0.25 * variances, usual, out=np.ones_like(usual), where=usual > 0), 1.0)
    low, high = (_limit(found, m, n, z * np.sqrt(wider), np.full_like(found, end)) for end in (0.0, 1.0))
    return 2.0 * low - 1.0, 2.0 * high - 1.0


def _variance(theta: Floats, m: Floats, n: Floats) -> Floats:
    k = 0.5 * (m + n) - 1.0
    spread = 1.0 + k * (1.0 - theta) / (2.0 - theta) + k * theta / (1.0 + theta)
    return np.asarray(theta * (1.0 - theta) / (m * n) * spread)


def _limit(found: Floats, m: Floats, n: Floats, z: Floats, end: Floats) -> Floats:
    """The value farthest from `found`, towards `end`, from which it is not too far."""
    inner, outer = found.copy(), end.copy()
    for _ in range(_ROUNDS):
        middle = 0.5 * (inner + outer)
        held = (found - middle) ** 2 <= z * z * _variance(middle, m, n)
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

"""Columns with two modes: groups along one column are not seen by shuffling, which keeps every column as it is.

    E_m(λ) = max over m disjoint intervals of  share of the rows in them − λ · their length
    dip    = ½ max over λ of  E_2(λ) − E_1(λ)

which is Hartigan's dip, the distance from the nearest law with one mode (Müller, Sawitzki, Journal of the American
Statistical Association 86, 1991), here over some values of λ. Of laws with one mode the even one has the largest dips
by chance. √n times these were drawn 3,000 times and more for 50, 200 and 1,000 rows: fewer than half are above 0.33,
and a share of at most about 13 exp(−24.6 t²) is above t, from a tenth to a hundredth. Rounded values are first spread
evenly over their step.
"""

from dataclasses import dataclass

import numpy as np

from gramfold.diagnostics.shapes.cloud import step_of
from gramfold.types import Floats, Integers

_SLOPES = np.geomspace(0.05, 20.0, 32)[:, None]  # λ, in rows per nine tenths of the range
_INNER = (0.05, 0.95)
_OFTEN = 0.33  # fewer than half of the dips of an even law are above
_ABOVE, _FALL = 13.0, 24.6  # the share above t
_RARE = 0.05  # in a table
_FEW = 20  # columns: of more, some are always among the larger dips
_MOST = 1_000  # columns that are looked at, the widest


@dataclass(frozen=True, eq=False)
class Modes:
    """The columns that have more than one mode, those with the largest dip first."""

    certain: Integers  # beyond chance
    perhaps: Integers  # among the larger half of what chance makes, in a table of few columns
    largest: float  # √n dip


def modes_of(table: Floats, random: np.random.Generator) -> Modes:
    """Of the columns of a table."""
    widest = np.argsort(-table.std(axis=0), kind="stable")[:_MOST]
    dips = np.sqrt(len(table)) * np.array([_dip_of(table[:, j], random) for j in widest])
    order = np.argsort(-dips, kind="stable")
    limit = float(np.sqrt(np.log(_ABOVE * len(widest) / _RARE) / _FALL))
    certain, perhaps = dips[order] > limit, (dips[order] > _OFTEN) & (dips[order] <= limit) & (len(dips) <= _FEW)
    return Modes(widest[order][certain], widest[order][perhaps], float(dips.max()))


def _dip_of(column: Floats, random: np.random.Generator) -> float:
    step = step_of(column)
    return dip(column + step * random.uniform(-0.5, 0.5, len(column)) if step else column)


def dip(values: Floats, slopes: Floats = _SLOPES) -> float:
    """How far values are from a law with one mode."""
    values, n = np.sort(values), len(values)
    low, high = np.quantile(values, _INNER)
    if high <= low:
        return 0.0
    # an interval from value i to value j has a[j] − a[i] + 1/n
    a = np.arange(n) / n - slopes * (values - low) / (high - low)
    one = np.maximum.accumulate(a - np.minimum.accumulate(a, axis=1), axis=1) + 1.0 / n  # the best up to j
    before = np.concatenate([np.zeros((len(a), 1)), one[:, :-1]], axis=1)
    two = (a + np.maximum.accumulate(before - a, axis=1)).max(axis=1) + 1.0 / n
    return 0.5 * float(np.maximum(two - one[:, -1], 0.0).max())

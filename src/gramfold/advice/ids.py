"""Columns that name rows and measure nothing: row numbers, keys, account numbers, clocks.

What was measured repeats itself: among n whole numbers within a range R about E = n (n − 1) / 2R pairs are equal if all
values are equally likely, and more if they are not. Numbers that were given out do not.

    a running number    each whole number of a range once, in any order; also in even steps
    numbers given out   E is above 20, and less than a tenth as many pairs are equal
    keys                eight digits or more, as many in each row, all different and spread evenly (time stamps too)
    by its name         "id", "PatientID", "mrn", … and each value is that of at most ten rows, on average; "index",
                        "key", … and all values differ

So prices in cents, sorted measurements and even steps that are no whole numbers stay. A time that counts in whole steps
cannot be told from a row number: it is left out, and the reason says so.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.advice.names import says_id, says_key
from gramfold.types import Floats

_SURE = 8  # rows of which it is no chance that they have all numbers of a range in any order
_EXPECTED, _FEWER = 20.0, 0.1
_DIGITS = 8
_SPREAD = 1.95  # Kolmogorov's statistic, which one even spread in a thousand exceeds
_EXACT = 2.0**53  # whole numbers below are themselves in float64
_FEW_ROWS = 10  # of each number in a column whose name says that they name something
_FEW_GAPS = 0.1  # of the rows of a running number


def names_rows(values: Floats, name: Any = None, gaps: int = 0) -> str | None:
    """Why a column of numbers (n,), beside so many gaps, names rows; None where it may be a measurement."""
    n = len(values)
    if n < 3 or not np.array_equal(values, np.floor(values)) or np.abs(values).max() >= _EXACT:
        return None
    ordered = np.sort(values)
    steps = np.diff(ordered)
    if steps[0] > 0 and (steps == steps[0]).all():
        return _running(values, ordered, float(steps[0]))
    if n >= _SURE and 0 < gaps <= _FEW_GAPS * n and steps.min() > 0 and np.ptp(ordered) < n + gaps:
        return f"it has each number from {ordered[0]:g} to {ordered[-1]:g} at most once, and gaps: a row number"
    equal = _equal_pairs(ordered)
    expected = n * (n - 1) / 2 / float(ordered[-1] - ordered[0] + 1)
    if expected > _EXPECTED and equal < _FEWER * expected:
        return (
            f"its whole numbers hardly repeat ({equal:,} equal pairs, where as many measured ones within this range "
            f"have {expected:,.0f} or more): they were given out to name rows"
        )
    if equal == 0 and says_id(name):
        return "its name and its values, all different whole numbers, say that it names rows"
    distinct = len(np.unique(ordered))
    if says_key(name) and distinct > 2 and n <= _FEW_ROWS * distinct:
        return f"its name and its whole numbers, {n / distinct:.1f} rows of each, say that it names what rows belong to"
    return _keys(ordered) if equal == 0 and n >= _SURE else None


def _running(values: Floats, ordered: Floats, step: float) -> str | None:
    n, in_order = len(values), bool((np.diff(values) == step).all())
    from_start = step == 1 and ordered[0] in (0.0, 1.0)
    if n < _SURE and not (in_order and from_start):
        return None
    by = "" if step == 1 else f" in steps of {step:g}"
    if in_order:
        return (
            f"it counts the rows from {ordered[0]:g} to {ordered[-1]:g}{by}: a row number, or a clock, which is the "
            "order of the rows and no measurement of them"
        )
    return f"it has each number from {ordered[0]:g} to {ordered[-1]:g}{by} once: a row number in another order"


def _equal_pairs(ordered: NDArray[Any]) -> int:
    ends = np.flatnonzero(np.r_[True, np.diff(ordered) != 0, True])
    counts = np.diff(ends).astype(np.float64)
    return int((counts * (counts - 1) / 2).sum())


def _keys(ordered: Floats) -> str | None:
    """Long numbers of one length that are spread evenly."""
    n, low, high = len(ordered), float(ordered[0]), float(ordered[-1])
    if low < 10.0 ** (_DIGITS - 1) or len(f"{low:.0f}") != len(f"{high:.0f}"):
        return None
    places = (ordered - low) / (high - low)
    away = np.abs(places - np.arange(n) / (n - 1)).max() * np.sqrt(n)
    if away > _SPREAD:
        return None
    return f"its {len(f'{low:.0f}')} digits differ in every row and are spread evenly: keys of rows, or time stamps"

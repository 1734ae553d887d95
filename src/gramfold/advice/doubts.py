"""What a user should look at in a column that a map sees: things that its values may be, and that only the user knows.

missing values   at most three values, each repeated, half of the rows at most, beyond a gap that is wider than the
                 range of all others (half as wide if they are -9, 99, -999, …)
classes          texts of few values; whole numbers of few values in a column whose name says so
names            whole numbers in a column whose name says "id", …, each of many rows
dates            numbers of the size of dates (dates.py)
numbers as text  (texts.py)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.advice.dates import may_be_dates
from gramfold.advice.names import says_class, says_key
from gramfold.advice.texts import written_numbers
from gramfold.types import Floats

_CODES, _REPEATED = 3, 3  # values that stand for missing ones; rows of each
_MOST_MISSING = 0.5
_MEASURED = 10  # distinct values beside them
_CLASSES, _OF_ROWS = 30, 0.2  # distinct values of a class column; per row
_MAY_BE_CLASS = (
    "may be a class: if it is what the map shall be compared with, pass it as y (--labels) or color and leave it out, "
    "or the map shows it"
)


def doubts_of_numbers(there: Floats, name: Any) -> tuple[str, ...]:
    """About known values of a column of numbers."""
    distinct, counts = np.unique(there, return_counts=True)
    whole = np.array_equal(distinct, np.floor(distinct))
    told = [_codes(distinct, counts), may_be_dates(there)]
    if whole and says_key(name) and len(distinct) > 2:
        told.append(
            "its name says that its numbers name something, of which no difference is known: leave it out, or make it "
            "text to compare it as categories"
        )
    elif whole and says_class(name) and _few(len(distinct), len(there)):
        told.append(_MAY_BE_CLASS)
    return tuple(one for one in told if one)


def doubts_of_texts(there: NDArray[Any]) -> tuple[str, ...]:
    """About known values of a column of categories."""
    told = [written_numbers(there)]
    if not told[0] and _few(len(set(there)), len(there)):
        told.append(_MAY_BE_CLASS)
    return tuple(one for one in told if one)


def _few(distinct: int, n: int) -> bool:
    return 2 <= distinct <= min(_CLASSES, max(2, _OF_ROWS * n))


def _codes(distinct: Floats, counts: NDArray[Any]) -> str | None:
    """Values that may stand for missing ones."""
    if len(distinct) <= _MEASURED:
        return None
    low = int(np.argmax(np.diff(distinct[: _CODES + 1]))) + 1  # values below the widest gap near the lower end
    high = int(np.argmax(np.diff(distinct[-_CODES - 1 :][::-1] * -1.0))) + 1
    for codes, times, others, side in (
        (distinct[:low], counts[:low], distinct[low:], "below"),
        (distinct[-high:], counts[-high:], distinct[:-high], "above"),
    ):
        gap = others[0] - codes[-1] if side == "below" else codes[0] - others[-1]
        nines = all(set(f"{abs(code):g}") == {"9"} for code in codes)
        wide = float(np.ptp(others)) * (0.5 if nines else 1.0)
        often = times.min() >= _REPEATED and times.sum() <= _MOST_MISSING * counts.sum()
        if len(others) >= _MEASURED and often and gap > wide:
            named = " and ".join(f"{code:g}" for code in codes)
            options = " ".join(f"--na {code:.17g}" for code in codes)
            return (
                f"its values {named}, repeated and far {side} all others, may stand for missing ones: make them gaps "
                f"(`{options}`, or NaN in Python) first if so"
            )
    return None

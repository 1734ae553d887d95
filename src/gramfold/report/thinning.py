"""Which rows are drawn where a table has more than a page can hold.

A random sample, so that dense and empty places of the map stay so; with it a few rows of every category of the colour,
so that rare ones do not vanish, and the rows that were looked at one by one, whose faults are known.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.report.columns import Column
from gramfold.runtime.counting import counted
from gramfold.types import Integers

_OF_A_KIND = 50  # rows that are kept of each category
_MOST_KEPT = 0.2  # of the rows drawn, that are kept for such reasons


@dataclass(frozen=True, eq=False)
class Thinned:
    """The rows that are drawn."""

    total: int
    rows: Integers | None  # ascending; None: all of them
    note: str = ""  # what was thinned, in a sentence

    @property
    def shown(self) -> int:
        """How many rows are drawn."""
        return self.total if self.rows is None else len(self.rows)

    def take(self, values: Any) -> Any:
        """What these rows have, of an array with an entry for each row."""
        return values if self.rows is None else values[self.rows]


def thinned(
    n: int, most: int, color: Column | None = None, looked_at: Integers | None = None, seed: int = 0
) -> Thinned:
    """Choose at most so many of n rows.

    Parameters
    ----------
    n : int
        Rows of the table.
    most : int
        Rows that are drawn.
    color : Column or None
        What colours the rows.
    looked_at : ndarray of int or None
        Rows whose faults are known.
    seed : int
        Of what is drawn.
    """
    if n <= most:
        return Thinned(n, None)
    order = np.random.default_rng(seed).permutation(n)
    room, kept, why = int(_MOST_KEPT * most), np.empty(0, dtype=np.intp), []
    if looked_at is not None and 0 < len(looked_at) <= room:
        kept = np.asarray(looked_at)
        why.append("the rows whose faults were looked at one by one")
    if color is not None and color.kind == "category":
        rare, of_each = _rare(color, order, most / n, room - len(kept))
        if len(rare):
            kept = np.union1d(kept, rare)
            why.append(f"up to {counted(of_each, 'row')} of every value of '{color.name}'")
    others = order[~np.isin(order, kept)][: most - len(kept)]
    rows = np.sort(np.concatenate([kept, others])).astype(np.intp)
    words = f"{len(rows):,} of {n:,} rows are drawn, at random"
    words += f"; among them are {' and '.join(why)}" if why else ""
    return Thinned(n, rows, f"{words}. Row numbers are those of the whole table.")


def _rare(color: Column, order: Integers, share: float, room: int) -> tuple[Integers, int]:
    """Rows of the categories of which a random sample would hold fewer than a few, and how many of each."""
    codes = color.values[order]
    counts = np.bincount(codes[codes >= 0], minlength=len(color.levels))
    few = np.flatnonzero((counts > 0) & (counts * share < _OF_A_KIND))
    of_each = min(_OF_A_KIND, room // max(len(few), 1))
    among = np.flatnonzero(np.isin(codes, few))
    by_kind = among[np.argsort(codes[among], kind="stable")]
    starts = np.searchsorted(codes[by_kind], codes[by_kind])
    return np.asarray(order[by_kind[np.arange(len(by_kind)) - starts < of_each]]), of_each

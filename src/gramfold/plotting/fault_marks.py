"""Rows that a map shows wrongly, marked on it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramfold.diagnostics import Fault, Faults
from gramfold.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SYMBOLS = {"glued": "o", "torn": "x", "strained": "^", "collapsed": "s"}
_MOST = 60  # rows that are marked for one fault: a map full of marks shows nothing
_AREA, _OF_DOT = 22.0, 3.0  # points² of a symbol, and at least so many times the area of a dot
_INK = "0.1"
NO_FAULT = "No fault is above its threshold, so no row is marked."


@dataclass(frozen=True)
class Marks:
    """The rows that are marked for one fault."""

    fault: str
    rows: NDArray[np.intp]
    above: int  # rows above the limit, of which these are the worst

    @property
    def words(self) -> str:
        """The entry of the legend."""
        if len(self.rows) < self.above:
            return f"{self.fault}: worst {len(self.rows):,} of {self.above:,} rows"
        return f"{self.fault}: {self.above:,} row{'s' * (self.above != 1)}"


def marks_of(faults: Any, n: int) -> list[Marks]:
    """The rows to mark for each fault that a map of n rows has: those whose value is above its threshold.

    Some rows are above it on nearly every map: of a fault that the map does not have, they are not marked.
    """
    if not isinstance(faults, Faults):
        raise InputError(f"faults is a {type(faults).__name__}: pass what gramfold.diagnostics.faults(X, Y) returns.")
    found = []
    for fault in faults:
        if len(fault.per_point) != n:
            raise InputError(
                f"faults was found on {len(fault.per_point)} rows, but the map has {n}: judge the map that is drawn."
            )
        if fault.named and (marked := _marked(fault)).above:
            found.append(marked)
    return found


def draw_marks(ax: "Axes", points: NDArray[np.floating], marks: list[Marks], dot: float) -> list[Any]:
    """Draw the marks over dots of this area, and return an entry of a legend for each kind."""
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=1.6, foreground="white")]
    handles = []
    for mark in marks:
        symbol = _SYMBOLS[mark.fault]
        style: dict[str, Any] = {"marker": symbol, "s": max(_AREA, _OF_DOT * dot), "linewidths": 0.9, "zorder": 4}
        style |= {"c": _INK} if symbol == "x" else {"facecolors": "none", "edgecolors": _INK}
        ax.scatter(*points[mark.rows].T, path_effects=halo, label=mark.fault, **style)
        handles.append(
            Line2D([], [], linestyle="", marker=symbol, markersize=5, markerfacecolor="none", markeredgecolor=_INK)
        )
    return handles


def _marked(fault: Fault) -> Marks:
    values = fault.per_point
    above = np.flatnonzero(values > fault.threshold)  # NaN is not
    if len(above) <= _MOST:
        return Marks(fault.name, above, len(above))
    # of rows with the same value some from everywhere in the table
    shuffled = np.random.default_rng(0).permutation(above)
    return Marks(fault.name, np.sort(shuffled[np.argsort(-values[shuffled], kind="stable")[:_MOST]]), len(above))

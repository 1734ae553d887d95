"""Ticks of a map, whose labels neither touch each other nor hang over the end of the axis.

Axes of equal scale get their limits when they are drawn, after the room for labels was set aside. This module imports
matplotlib, and is imported when a map is drawn.
"""

from typing import Any

import numpy as np
from matplotlib.ticker import AutoLocator  # noqa: TID253 - see above

_EDGE = 0.045  # of the axis, in which there is no tick at its ends: half a label
_MOST = 9  # ticks
_LETTER, _BETWEEN = 0.62, 1.0  # of the height of the letters: the width of one, and the gap between labels
_SPACE = 3  # heights of letters in a unit of `Axis.get_tick_space`


class InnerLocator(AutoLocator):
    """Ticks at even values, as many as have room, without those at the very ends where two or more are left."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Values of the ticks between two limits."""
        room = _SPACE * self.axis.get_tick_space()  # type: ignore[union-attr]
        low, high = min(vmin, vmax), max(vmin, vmax)
        edge = _EDGE * (high - low)
        for count in range(_MOST, 1, -1):
            self.set_params(nbins=count)
            ticks = np.asarray(super().tick_values(vmin, vmax))
            inner = ticks[(ticks > low + edge) & (ticks < high - edge)]
            longest = max((len(f"{tick:g}") for tick in inner), default=0)
            if len(inner) * (_LETTER * longest + _BETWEEN) <= room:
                break
        return inner if len(inner) > 1 else ticks

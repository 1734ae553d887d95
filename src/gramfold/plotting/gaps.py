"""Axes on which empty bands are shortened, so that one far row or tight groups do not leave the rest a dot.

A band across the whole map in which no row lies is shortened along its axis. All rows on one side of it are moved by
the same length, so that every group keeps its shape and its size; only distances across a band are not those of the
map. Grey stripes show where, and ticks have the true coordinates.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 0.2  # of what is left of the longer axis: a narrower band is not shortened
_SHORT = 0.05  # of the same: what remains of a band
_MOST = 4  # bands on an axis
_STRIPE = "0.93"
_TICKS = 6  # on an axis, about
_APART = {"x": 0.16, "y": 0.07}  # of the axis, between ticks: labels are wider than high


@dataclass(frozen=True)
class Bands:
    """The bands of one axis that are shortened."""

    starts: NDArray[np.floating]
    stops: NDArray[np.floating]
    length: float  # of each band that remains

    @property
    def knots(self) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Where the scale changes: coordinates, and where they stand on the axis."""
        true = np.column_stack([self.starts, self.stops]).ravel()
        removed = np.cumsum(self.stops - self.starts - self.length)
        shown = true - np.column_stack([np.concatenate([[0.0], removed[:-1]]), removed]).ravel()
        return true, shown

    def forward(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Where coordinates stand on the axis."""
        return _along(values, *self.knots)

    def backward(self, places: NDArray[np.floating]) -> NDArray[np.floating]:
        """The coordinates that stand at these places."""
        true, shown = self.knots
        return _along(places, shown, true)


def cut_empty_bands(ax: "Axes", points: NDArray[np.floating]) -> int:
    """Give axes the scales that shorten the empty bands of a map (n, 2); the number of bands."""
    columns = [np.unique(column) for column in points.T]
    found = [_widest(column) for column in columns]
    left = max(span for _, span in found)
    if left <= 0:
        return 0
    count = 0
    for name, column, (places, _) in zip("xy", columns, found, strict=True):
        starts, stops = column[places], column[places + 1]
        wide = stops - starts > _WIDE * left
        if not wide.any():
            continue
        bands = Bands(starts[wide], stops[wide], _SHORT * left)
        scale, stripe = (ax.set_xscale, ax.axvspan) if name == "x" else (ax.set_yscale, ax.axhspan)
        scale("function", functions=(bands.forward, bands.backward))
        for start, stop in zip(bands.starts, bands.stops, strict=True):
            # the stripe leaves the dots at both ends free
            inner = bands.backward(bands.forward(np.array([start, stop])) + np.array([0.2, -0.2]) * bands.length)
            stripe(*inner, color=_STRIPE, linewidth=0, zorder=0)
        _set_ticks(ax.xaxis if name == "x" else ax.yaxis, column, bands, _APART[name])
        count += int(wide.sum())
    return count


def _widest(column: NDArray[np.floating]) -> tuple[NDArray[np.intp], float]:
    """Gaps that are wide beside what is left without them and all wider ones; and that span."""
    gaps = np.diff(column)
    order = np.argsort(-gaps, kind="stable")[:_MOST]
    left = float(column[-1] - column[0]) if len(column) else 0.0
    taken: list[int] = []
    for place in order:
        remaining = left - gaps[place]
        if gaps[place] <= _WIDE * remaining or remaining <= 0:
            break
        taken.append(int(place))
        left = float(remaining)
    return np.sort(np.array(taken, dtype=np.intp)), left


def _along(
    values: NDArray[np.floating], true: NDArray[np.floating], shown: NDArray[np.floating]
) -> NDArray[np.floating]:
    values = np.asarray(values, dtype=float)
    inside = np.interp(values, true, shown)
    below, above = np.minimum(values - true[0], 0.0), np.maximum(values - true[-1], 0.0)
    return np.asarray(inside + below + above)


def _set_ticks(axis: Any, column: NDArray[np.floating], bands: Bands, apart: float) -> None:
    from matplotlib.ticker import FixedLocator, Formatter, FuncFormatter, MaxNLocator, NullLocator

    edges = np.concatenate([[column[0]], np.column_stack([bands.starts, bands.stops]).ravel(), [column[-1]]])
    shown = bands.forward(edges)
    whole = float(shown[-1] - shown[0])
    ticks: list[float] = []
    for low, high in edges.reshape(-1, 2):
        steps = round(_TICKS * (high - low) / whole)
        nice = MaxNLocator(max(steps, 1)).tick_values(low, high) if steps else np.array([low])
        for tick in nice[(nice >= low) & (nice <= high)]:
            if not ticks or float(np.ptp(bands.forward(np.array([ticks[-1], tick])))) > apart * whole:
                ticks.append(float(tick))
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    # as many digits as tell neighbouring ticks apart
    step = float(np.diff(ticks).min()) if len(ticks) > 1 else 1.0
    digits = max(3, int(np.ceil(np.log10(float(np.abs(ticks).max()) / step))) + 1) if np.any(ticks) else 3
    axis.set_major_formatter(FuncFormatter(lambda value, _: Formatter.fix_minus(f"{value:.{digits}g}")))

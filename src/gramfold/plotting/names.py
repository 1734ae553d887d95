"""Names of groups on a map, placed when it is drawn: none covers another, whatever the size of the figure.

This module imports matplotlib, and is imported when names are written.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist  # noqa: TID253 - see above
from matplotlib.collections import LineCollection  # noqa: TID253 - see above
from matplotlib.patheffects import withStroke  # noqa: TID253 - see above
from numpy.typing import NDArray

from gramfold.plotting.colors import known_names
from gramfold.plotting.legend import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 100  # of more not all are written: they would cover the map, and each other
_GRID = (8, 12)  # cells across and up, in each of which there is room for a name
_FEW = 12  # names up to which letters have the larger of two sizes
_DIRECTIONS = 16  # that are tried around a place
_RINGS = 40  # at growing distance from it
_STEP = 0.5  # height of a name, from ring to ring
_APART = 1.1  # a name and what stays free around it
_LED = 1.0  # heights of a name: from a place that is farther a line leads to the name
_CROWDED = 3.0  # heights of a name that it is moved to cover no dots, rather than its own area of them
_SQUARE = 4  # pixels: side of the squares in which dots are looked for


def write_names(ax: "Axes", points: NDArray[np.floating], groups: NDArray[Any]) -> None:
    """Write the name of each group at its medoid; of groups without a place, or with an empty name, none.

    Of more than `MOST_NAMES` those of the largest groups in each part of the map are written.
    """
    names, medoids = _named(points, groups)
    size = "small" if len(names) <= _FEW else "x-small"
    written = [
        ax.annotate(
            shortened(name),
            tuple(place),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size,
            color="0.1",
            zorder=6,
            path_effects=[withStroke(linewidth=3.0, foreground="white", alpha=0.95)],
            in_layout=False,  # they stay within the axes
        )
        for name, place in zip(names, medoids, strict=True)
    ]
    if written:
        ax.add_artist(_Arranged(written, points))


def count_names(groups: NDArray[Any]) -> int:
    """Number of names of rows that have one."""
    names, codes, known = known_names(groups)
    return int((known & (np.bincount(codes, minlength=len(names)) > 0)).sum())


def _named(points: NDArray[np.floating], groups: NDArray[Any]) -> tuple[list[str], list[NDArray[np.floating]]]:
    """Names and medoids of the groups, the largest first to their place; of too many, one in each cell of a grid."""
    names, codes, known = known_names(groups)
    sizes = np.bincount(codes, minlength=len(names))
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    order = [group for group in np.argsort(-sizes, kind="stable") if known[group] and sizes[group]]
    medoids = {group: medoid(points[members[group]]) for group in order}
    if len(order) > MOST_NAMES:
        low, high = points.min(axis=0), points.max(axis=0)
        share = (np.array([medoids[group] for group in order]) - low) / np.where(high > low, high - low, 1)
        cells = np.minimum((share * _GRID).astype(int), np.array(_GRID) - 1)
        _, first = np.unique(cells, axis=0, return_index=True)
        order = [order[j] for j in np.sort(first)]
    return [names[group] for group in order], [medoids[group] for group in order]


def medoid(members: NDArray[np.floating]) -> NDArray[np.floating]:
    """The member that is nearest to the median of all: of a ring it lies on the ring."""
    return np.asarray(members[np.square(members - np.median(members, axis=0)).sum(axis=1).argmin()])


class _Arranged(Artist):
    """Moves names apart before they are drawn, and draws lines to those that were moved far."""

    def __init__(self, names: list[Any], points: NDArray[np.floating]) -> None:
        super().__init__()
        self.names = names
        self.points = points
        self.set_zorder(5.9)  # drawn before the names
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Find a place for each name; a name for which there is none is not shown."""
        ax = self.axes
        assert ax is not None
        frame = np.array([ax.bbox.min, ax.bbox.max])
        dots = _Dots(ax.transData.transform(self.points), frame)
        taken = np.empty((0, 2, 2))  # boxes, lower and upper corners in pixels
        pixels = renderer.points_to_pixels(1.0)
        lines = []
        for name in self.names:
            name.set_position((0, 0))
            box = name.get_window_extent(renderer)
            half = 0.5 * _APART * np.array([box.width, box.height])
            center = ax.transData.transform(name.xy)
            offset = _free_offset(center, half, taken, frame, dots)
            name.set_visible(offset is not None)
            if offset is None:
                continue
            taken = np.concatenate([taken, [[center + offset - half, center + offset + half]]])
            name.set_position(tuple(offset / pixels))
            if np.hypot(*offset) > 2 * half[1] * _LED:
                lines.append([center, center + offset])
        leading = LineCollection(lines, colors="0.3", linewidths=0.5)
        leading.set_figure(ax.get_figure(root=True))  # type: ignore[arg-type]
        leading.draw(renderer)


class _Dots:
    """How many squares of a part of the axes hold dots."""

    def __init__(self, places: NDArray[np.floating], frame: NDArray[np.floating]) -> None:
        self.low = frame[0]
        shape = np.maximum(np.ceil((frame[1] - frame[0]) / _SQUARE).astype(int), 1)
        square = np.floor((places - self.low) / _SQUARE).astype(int)
        square = square[((square >= 0) & (square < shape)).all(axis=1)]
        taken = np.zeros(shape + 1)
        taken[square[:, 0] + 1, square[:, 1] + 1] = 1.0
        self.sums = taken.cumsum(axis=0).cumsum(axis=1)

    def share(self, low: NDArray[np.floating], high: NDArray[np.floating]) -> NDArray[np.floating]:
        """Share of the squares of each of these boxes (m, 2) that hold dots."""
        most = np.array(self.sums.shape) - 1
        a = np.clip(np.floor((low - self.low) / _SQUARE).astype(int), 0, most)
        b = np.clip(np.ceil((high - self.low) / _SQUARE).astype(int), 0, most)
        inside = self.sums[b[:, 0], b[:, 1]] - self.sums[a[:, 0], b[:, 1]] - self.sums[b[:, 0], a[:, 1]]
        return np.asarray((inside + self.sums[a[:, 0], a[:, 1]]) / np.maximum((b - a).prod(axis=1), 1))


def _free_offset(
    center: NDArray[np.floating],
    half: NDArray[np.floating],
    taken: NDArray[np.floating],
    frame: NDArray[np.floating],
    dots: _Dots,
) -> NDArray[np.floating] | None:
    """A near place of a box within the frame at which it covers no other box and few dots, relative to its centre."""
    angles = np.linspace(0.0, 2 * np.pi, _DIRECTIONS, endpoint=False)
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = _STEP * np.arange(1, _RINGS + 1)  # heights of the name
    tried = np.concatenate([np.zeros((1, 2)), 2 * half[1] * (rings[:, None, None] * around).reshape(-1, 2)])
    low, high = center + tried - half, center + tried + half
    free = (low >= frame[0]).all(axis=1) & (high <= frame[1]).all(axis=1)
    covers = (low[:, None] < taken[:, 1]).all(axis=2) & (high[:, None] > taken[:, 0]).all(axis=2)
    free &= ~covers.any(axis=1)
    far = np.concatenate([[0.0], np.repeat(rings, _DIRECTIONS)])
    cost = np.where(free, far + _CROWDED * dots.share(low, high), np.inf)
    return np.asarray(tried[cost.argmin()]) if free.any() else None

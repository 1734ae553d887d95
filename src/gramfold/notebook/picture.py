"""The picture of a map, and what has to be said with it: which coordinates it shows, and what it cannot show."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.notebook.numerals import percent
from gramfold.notebook.palette import ABSENT, PLAIN, hue_of_category, rgb
from gramfold.notebook.raster import barred, scattered, sized
from gramfold.notebook.scale import HEIGHT, SHARP, WIDTH, Scale, scale_of
from gramfold.runtime.counting import counted
from gramfold.types import Floats, Integers

_CROWDED = (0.5, 0.8, 0.9, 0.95)  # of the rows on one, two, three or four dots: the picture shows little of them
_AROUND = SHARP  # pixels beside the fullest one that belong to the same dot
_VARIES = 1e-9  # of the widest coordinate: those that span less are constant but for rounding
_LOOKED_AT = 10_000  # rows from which the coordinates that spread most are chosen


@dataclass(frozen=True)
class Group:
    """A cluster of the legend."""

    name: str
    color: Floats  # (3,) from 0 to 1
    rows: int


@dataclass(frozen=True)
class Picture:
    """Pixels (height, width, 3), what they show in words, and what they do not show."""

    pixels: NDArray[np.uint8] | None
    alt: str
    caption: str
    notes: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()


def picture_of(estimator: Any) -> Picture:
    """The picture of a fitted estimator: its map, with its clusters in colours where it has some."""
    places, labels = estimator.embedding_, getattr(estimator, "labels_", None)
    groups = () if labels is None else _groups(labels)
    if places is None:  # of a clusterer alone
        return _picture_of_sizes(type(estimator).__name__, groups)
    shown = np.arange(places.shape[1]) if labels is None else _spread_most(places)
    points = np.asarray(places[:, shown[:2]], dtype=np.float64)
    placed = ~np.isnan(points).any(axis=1)
    colors = np.array([group.color for group in groups]) if groups else rgb(PLAIN)[None]
    codes = np.zeros(len(points), dtype=np.intp) if labels is None else labels - labels.min()
    lost = len(points) - int(placed.sum())
    notes = (f"{counted(lost, 'row')} of {len(points):,} {_are(lost)} not placed (NaN)",) if lost else ()
    if lost == len(points):
        return Picture(None, "", "", notes, groups)
    if lost:
        points, codes = points[placed], codes[placed]
    drawn = _line if points.shape[1] == 1 else _plane
    pixels, scale, more = drawn(points, colors, codes)
    caption = _caption(shown[:2] + 1, places.shape[1], scale)
    alt = f"{type(estimator).__name__}: {counted(len(points), 'row')}; {_extent(shown[:2] + 1, scale)}"
    return Picture(pixels, alt, caption, (*more, *notes), groups)


def _plane(points: Floats, colors: Floats, codes: Integers) -> tuple[NDArray[np.uint8], Scale, tuple[str, ...]]:
    scale = scale_of(points)
    columns, lines = scale.place(points)
    return scattered(columns, lines, colors, codes), scale, _crowding(scale, columns, lines)


def _line(points: Floats, colors: Floats, codes: Integers) -> tuple[NDArray[np.uint8], Scale, tuple[str, ...]]:
    scale = scale_of(np.column_stack([points[:, 0], np.zeros(len(points))]))
    columns, lines = scale.place(np.column_stack([points[:, 0], np.zeros(len(points))]))
    return barred(columns, colors, codes), scale, _crowding(scale, columns, lines)


def _crowding(scale: Scale, columns: Integers, lines: Integers) -> tuple[str, ...]:
    """What to say where most rows share one dot."""
    n = len(columns)
    if scale.collapsed:
        return (f"all {n:,} rows are at one place",) if n > 1 else ()
    width = WIDTH * SHARP
    counts = np.bincount(lines * width + columns, minlength=width * HEIGHT * SHARP).reshape(-1, width)
    most = 0
    for dots, crowded in enumerate(_CROWDED, 1):
        line, column = np.unravel_index(counts.argmax(), counts.shape)
        near = tuple(slice(max(at - _AROUND, 0), at + _AROUND + 1) for at in (int(line), int(column)))
        most += int(counts[near].sum())
        if most > max(crowded * n, 2 * dots):
            return (f"{percent(most, n)} of the rows are on {counted(dots, 'dot')} of the picture",)
        counts[near] = 0
    return ()


def _caption(numbers: Integers, width: int, scale: Scale) -> str:
    """Which coordinates are seen, and on what scale."""
    if len(numbers) == 1:
        return (
            f"coordinate {numbers[0]}{f' of {width}' if width > 1 else ''}: bars count rows, each line below is a row"
        )
    of = f" of {width}" if width > 2 else ""
    words = f"coordinates {numbers[0]} (across) and {numbers[1]} (up){of}"
    constant = [str(number) for number, half in zip(numbers, scale.half, strict=True) if half == 0]
    if scale.collapsed:
        return words
    if constant:
        return f"{words}; coordinate {constant[0]} is constant"
    if scale.equal:
        return f"{words}, on one scale"
    ratio = scale.half.max() / scale.half.min()
    return f"{words}, on two scales: {numbers[scale.half.argmax()]} is {ratio:.0f} times as long"


def _extent(numbers: Integers, scale: Scale) -> str:
    return ", ".join(
        f"coordinate {number} from {low:.3g} to {high:.3g}"
        for number, low, high in zip(numbers, scale.low, scale.high, strict=False)
    )


def _spread_most(places: Floats) -> Integers:
    """The two coordinates of a spectral embedding that rows fill best, or the one that varies.

    Its first coordinates tell a few far rows from all others, and those of a connected component are constant on it.
    """
    drawn = np.random.default_rng(0).integers(len(places), size=_LOOKED_AT)  # rows may repeat with any period
    seen = places if len(places) <= _LOOKED_AT else places[drawn]
    seen = seen[~np.isnan(seen).any(axis=1)]
    spans = np.ptp(seen, axis=0) if len(seen) else np.zeros(places.shape[1])
    varying = np.flatnonzero(spans > _VARIES * spans.max())
    if not len(varying):
        return np.arange(places.shape[1])
    fill = seen[:, varying].std(axis=0) / spans[varying]
    return np.sort(varying[np.argsort(-fill, kind="stable")[:2]])


def _groups(labels: Integers) -> tuple[Group, ...]:
    """All clusters from the smallest label on; −1 is none."""
    first = int(labels.min())
    counts = np.bincount(labels - first)
    return tuple(
        Group("no cluster" if j < 0 else str(j), rgb(ABSENT) if j < 0 else hue_of_category(j), int(count))
        for j, count in enumerate(counts, first)
    )


def _picture_of_sizes(name: str, groups: tuple[Group, ...]) -> Picture:
    """Clusters that are connected components have no map."""
    pixels = sized(np.array([group.rows for group in groups]), np.array([group.color for group in groups]))
    caption = "rows of each cluster; no map was needed, the clusters are connected components"
    return Picture(pixels, f"{name}: {counted(len(groups), 'cluster')}", caption, (), groups)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"

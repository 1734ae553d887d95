"""The still picture of a map: what stands on paper, and where there are no scripts or no WebGL."""

from base64 import b64encode
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramfold.notebook.palette import ABSENT, PLAIN, hue_of_category, rgb
from gramfold.notebook.png import png_bytes
from gramfold.notebook.raster import barred, scattered
from gramfold.notebook.scale import SHARP, Scale, Size, scale_of
from gramfold.report.columns import Column
from gramfold.report.markup import clean
from gramfold.runtime.counting import counted
from gramfold.types import Floats, Integers

_SIZE = (720, 540)  # as the page measures it
_NAMED = 24  # categories below the picture
_SHADES = 64  # colours of the ramp: the eye sees no more in dots
# dark where numbers are small, bright where they are large, in the order of lightness and safe for the colour blind
RAMP = ("#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725")


@dataclass(frozen=True, eq=False)
class Shading:
    """A colour for each row, and what the colours mean."""

    colors: Floats  # (k, 3)
    codes: Integers  # (n,)
    legend: str = ""  # HTML


def still_figure(
    places: Floats, axes: tuple[str, ...], column: Column | None, shown: tuple[int, ...] = (0, 1), note: str = ""
) -> str:
    """The picture, its legend and what it shows in words, as HTML.

    Parameters
    ----------
    places : ndarray of shape (n, p)
        The map; NaN where a row has no place.
    axes : tuple of str
        Names of the coordinates.
    column : Column or None
        What colours the rows, of which there are as many.
    shown : tuple of int
        The coordinates that are drawn, two, or one where the map has no more.
    note : str
        A sentence on what is drawn.
    """
    shown = tuple(shown[: places.shape[1]])
    chosen = tuple(axes[j] for j in shown)
    found = still_png(places[:, shown], column)
    if found is None:
        return '<figure id="map-still"><figcaption>No row has a place on the map.</figcaption></figure>'
    data, words, legend = found
    across = f"{clean(chosen[0])} across" + (f", {clean(chosen[1])} up" if len(chosen) > 1 else ": bars count rows")
    by = "" if column is None else f"; colour: <bdi>{clean(column.name)}</bdi>"
    lines = f"{across}{by}. {clean(words)} {clean(note)}".strip()
    alt = clean(f"Map: {words} {', '.join(chosen)}" + ("" if column is None else f", coloured by {column.name}"))
    picture = f'<img id="still" width="{_SIZE[0]}" height="{_SIZE[1]}" alt="{alt}" src="{data}">'
    return f'<figure id="map-still">{picture}{legend}<figcaption>{lines}</figcaption></figure>'


def still_png(points: Floats, column: Column | None, size: tuple[int, int] = _SIZE) -> tuple[str, str, str] | None:
    """The picture as a data URI, what it shows in words, and its legend as HTML; None where no row has a place.

    Parameters
    ----------
    points : ndarray of shape (n, 1) or (n, 2)
        What is drawn, NaN where a row has no place.
    column : Column or None
        What colours the rows.
    size : tuple of int
        Width and height as the page measures them.
    """
    points = np.asarray(points, dtype=np.float64)
    placed = np.isfinite(points).all(axis=1)
    if not placed.any():
        return None
    shading = shading_of(column, len(points))
    codes = shading.codes[placed]
    drawn = points[placed]
    sharp: Size = (size[0] * SHARP, size[1] * SHARP)
    line = drawn.shape[1] == 1
    scale = scale_of(np.column_stack([drawn[:, 0], np.zeros(len(drawn))]) if line else drawn, sharp)
    columns, lines = scale.place(np.column_stack([drawn[:, 0], np.zeros(len(drawn))]) if line else drawn)
    pixels = _pixels(line, columns, lines, shading.colors, codes, sharp)
    data = "data:image/png;base64," + b64encode(png_bytes(pixels)).decode("ascii")
    return data, _words(len(drawn), len(points), scale, line), shading.legend


def _pixels(
    line: bool, columns: Integers, lines: Integers, colors: Floats, codes: Integers, size: Size
) -> NDArray[np.uint8]:
    used, codes = np.unique(codes, return_inverse=True)  # of 300 categories few may be there, and each costs
    if line:
        return barred(columns, colors[used], codes, size)
    return scattered(columns, lines, colors[used], codes, size)


def _words(drawn: int, n: int, scale: Scale, line: bool) -> str:
    lost = f", {n - drawn:,} without a place" if drawn < n else ""
    words = f"{counted(drawn, 'row')}{lost}"
    if scale.collapsed:
        return f"{words}, all at one place." if drawn > 1 else f"{words}."
    if line or scale.equal:
        return f"{words}."
    return f"{words}; the two axes have different scales."


def shading_of(column: Column | None, n: int) -> Shading:
    """Colours by a column: those that the page begins with."""
    if column is None or column.kind == "text":
        return Shading(rgb(PLAIN)[None], np.zeros(n, dtype=np.intp))
    if column.kind == "category":
        k = len(column.levels)
        colors = np.array([*(hue_of_category(j) for j in range(k)), rgb(ABSENT)])
        codes = np.where(column.values < 0, k, column.values).astype(np.intp)
        return Shading(colors, codes, _named(column, colors, np.bincount(codes, minlength=k + 1)))
    return _ramped(column)


def _ramped(column: Column) -> Shading:
    known = column.values[np.isfinite(column.values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    stops = np.array([rgb(stop) for stop in RAMP])
    at = np.linspace(0, len(stops) - 1, _SHADES)
    colors = np.column_stack([np.interp(at, np.arange(len(stops)), stops[:, j]) for j in range(3)])
    with np.errstate(invalid="ignore"):
        share = (
            (column.values / 2 - low / 2) / (high / 2 - low / 2)
            if high > low
            else np.where(np.isnan(column.values), np.nan, 0.5)
        )
    codes = np.where(np.isnan(share), _SHADES, np.clip(np.nan_to_num(share) * _SHADES, 0, _SHADES - 1)).astype(np.intp)
    ends = tuple(_number(column, value) for value in (low, high))
    legend = (
        "".join(_entry(colors[j], words) for j, words in ((0, ends[0]), (_SHADES - 1, ends[1]))) if len(known) else ""
    )
    missing = int(np.isnan(column.values).sum())
    absent = _entry(rgb(ABSENT), f"missing: {missing:,}") if missing else ""
    return Shading(np.vstack([colors, rgb(ABSENT)]), codes, f"<ul>{legend}{absent}</ul>")


def _number(column: Column, value: float) -> str:
    if column.kind == "date":
        return str(np.datetime64(int(value), "ms").astype("datetime64[s]")).replace("T", " ").removesuffix(" 00:00:00")
    return f"{value:.4g}{f' {column.unit}' if column.unit else ''}"


def _named(column: Column, colors: Floats, counts: Integers) -> str:
    k = len(column.levels)
    present = [j for j in range(k) if counts[j]]
    entries = [_entry(colors[j], f"{column.levels[j]}: {counts[j]:,}") for j in present[:_NAMED]]
    if len(present) > _NAMED:
        entries.append(f"<li>and {len(present) - _NAMED:,} more</li>")
    if counts[k]:
        entries.append(_entry(colors[k], f"missing: {counts[k]:,}"))
    return f"<ul>{''.join(entries)}</ul>"


def _entry(color: Floats, words: str) -> str:
    css = "#" + "".join(f"{round(255 * float(part)):02x}" for part in color)
    return f'<li><span class="chip" style="background:{css}"></span><bdi>{clean(words)}</bdi></li>'

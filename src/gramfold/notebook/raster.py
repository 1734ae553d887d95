"""Dots, crowds and bars as pixels: few rows are round dots, many are shaded by how many stand in a pixel."""

import numpy as np
from numpy.typing import NDArray

from gramfold.notebook.palette import opacity
from gramfold.notebook.scale import SHARP, SIZE, Size
from gramfold.types import Floats, Integers

PAPER = 1.0  # white, in dark notebooks too: black and yellow are among the colours of categories
MOST_DOTS = 20_000  # rows that are drawn one by one
_LARGEST, _SMALLEST = 6.0, 1.5  # radius of a dot in pixels of a picture of the usual size
_GROWN = 3.0  # times as large in larger pictures: the margin holds no more
_FEWER, _SHRINK = 14.0, -0.2  # radius of n dots: 14 n^−0.2; 5 pixels for 150 rows, 3 for 1,800
_SOLID, _FAINT = 0.85, 0.35  # opacity of a dot among few, and among many
_CLEARER = 2.4  # opacity of n dots: 2.4 n^−0.2
_STEPS = 32  # of opacity: the eye sees no more, and the file is half as long
_BINS = 73  # bars of a map of one coordinate
_TALLEST = 0.8  # of the picture, that the longest bar takes
_THICKEST = 24 * SHARP  # bar of a group, with the gap below it
_RUG = 8 * SHARP  # height of the line of single rows under the bars


def scattered(
    columns: Integers, lines: Integers, colors: Floats, codes: Integers, size: Size = SIZE
) -> NDArray[np.uint8]:
    """Pixels (height, width, 3) of rows at these pixels; a row has the color (k, 3) of its code (m,)."""
    draw = _dots if len(columns) <= MOST_DOTS else _crowd
    return _bytes(*draw(columns, lines, colors, codes, size), size)


def _dots(columns: Integers, lines: Integers, colors: Floats, codes: Integers, size: Size) -> tuple[Floats, Floats]:
    """Round dots with soft edges; where they overlap the paper shows less, and colours mix."""
    n = len(columns)
    grown = min(size[0] / SIZE[0], size[1] / SIZE[1], _GROWN)
    across, down, cover = _stamp(grown * float(np.clip(_FEWER * n**_SHRINK, _SMALLEST, _LARGEST)))
    solid = float(np.clip(_CLEARER * n**_SHRINK, _FAINT, _SOLID))
    width, height = size
    flat = ((lines[:, None] + down) * width + columns[:, None] + across).ravel()
    covers = np.tile(cover, n)
    through = np.exp(np.bincount(flat, np.tile(np.log1p(-solid * cover), n), height * width))
    return 1 - through, _mixed(flat, covers, colors, np.repeat(codes, len(cover)), height * width)


def _stamp(radius: float) -> tuple[Integers, Integers, Floats]:
    """The pixels of a dot, relative to its middle, and how far each is covered."""
    reach = int(np.ceil(radius))
    down, across = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    cover = np.clip(radius + 0.5 - np.hypot(down, across), 0.0, 1.0)
    taken = cover > 0
    return across[taken], down[taken], cover[taken]


def _crowd(columns: Integers, lines: Integers, colors: Floats, codes: Integers, size: Size) -> tuple[Floats, Floats]:
    """Cells of SHARP × SHARP pixels, darker where rows are many."""
    width, height = size[0] // SHARP, size[1] // SHARP
    flat = (lines // SHARP) * width + columns // SHARP
    counts = np.bincount(flat, minlength=height * width)
    taken = counts > 0
    shade = np.zeros(height * width)
    shade[taken] = opacity(counts[taken])
    mixed = _mixed(flat, None, colors, codes, height * width)
    return _enlarged(shade.reshape(height, width)), _enlarged(mixed.reshape(height, width, 3)).reshape(-1, 3)


def _enlarged(cells: Floats) -> Floats:
    grown = cells.repeat(SHARP, axis=0).repeat(SHARP, axis=1)
    return grown.ravel() if cells.ndim == 2 else grown


def _mixed(flat: Integers, weights: Floats | None, colors: Floats, codes: Integers, size: int) -> Floats:
    """The mean colour of all that stands on a pixel, (size, 3)."""
    if len(colors) == 1:
        return np.broadcast_to(colors[0], (size, 3))
    if weights is None:  # rows of each colour are counted, which is sooner done than adding colours row by row
        k = len(colors)
        counts = np.bincount(flat * k + codes, minlength=size * k).reshape(size, k)
        return np.asarray(counts @ colors / np.maximum(counts.sum(axis=1), 1)[:, None])
    whole = np.maximum(np.bincount(flat, weights, size), np.finfo(float).tiny)
    return np.column_stack([np.bincount(flat, weights * colors[codes, j], size) / whole for j in range(3)])


def barred(columns: Integers, colors: Floats, codes: Integers, size: Size = SIZE) -> NDArray[np.uint8]:
    """Pixels of rows along one line: bars of how many there are, codes above one another, and the rows below them."""
    width, height = size
    shade, hue = np.zeros((height, width)), np.ones((height, width, 3))
    edges = np.linspace(0, width, _BINS + 1).astype(int)
    which = np.searchsorted(edges, columns, side="right") - 1
    counts = np.stack([np.bincount(which[codes == j], minlength=_BINS) for j in range(len(colors))])  # (k, bins)
    floor = height - 3 * _RUG
    tops = floor - np.rint(np.cumsum(counts, axis=0) / counts.sum(axis=0).max() * _TALLEST * floor).astype(int)
    for left, right, stack in zip(edges[:-1], edges[1:], tops.T, strict=True):
        for color, top, bottom in zip(colors, stack, (floor, *stack[:-1]), strict=True):
            shade[top:bottom, left : right - 1] = _SOLID  # a gap of one pixel between bars
            hue[top:bottom, left : right - 1] = color
    once = np.bincount(columns, minlength=width)
    rug = slice(floor + _RUG, floor + 2 * _RUG)
    shade[rug, once > 0] = opacity(once[once > 0])
    hue[rug] = _mixed(columns, None, colors, codes, width)
    return _bytes(shade.ravel(), hue.reshape(-1, 3), size)


def _bytes(shade: Floats, hue: Floats, size: Size) -> NDArray[np.uint8]:
    """Colours (pixels, 3) of this opacity (pixels,) on paper."""
    seen = PAPER + np.rint(_STEPS * shade)[:, None] / _STEPS * (hue - PAPER)
    return np.rint(255 * seen).astype(np.uint8).reshape(size[1], size[0], 3)


def sized(counts: Integers, colors: Floats) -> NDArray[np.uint8]:
    """Pixels of a bar for each group (k,), as long as it has rows."""
    width, height = SIZE
    shade, hue = np.zeros((height, width)), np.ones((height, width, 3))
    last = min(height - _RUG, _RUG + len(counts) * _THICKEST)
    edges = np.linspace(_RUG, last, len(counts) + 1).astype(int)
    ends = _RUG + np.rint(counts / counts.max() * (width - 2 * _RUG)).astype(int)
    for top, bottom, end, color in zip(edges[:-1], edges[1:], ends, colors, strict=True):
        thick = max(4 * (bottom - top) // 5, 1)  # the rest is a gap
        shade[top : top + thick, _RUG:end] = _SOLID
        hue[top:bottom] = color
    return _bytes(shade.ravel(), hue.reshape(-1, 3), SIZE)

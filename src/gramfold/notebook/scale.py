"""Where the rows of a map stand in the picture: one scale for both axes, unless one of them would be a hair line."""

from dataclasses import dataclass

import numpy as np

from gramfold.types import Floats, Integers

WIDTH, HEIGHT = 320, 240  # of the picture, as the page measures it
SHARP = 2  # pixels for each of these along an axis: sharp screens have as many
Size = tuple[int, int]
SIZE: Size = (WIDTH * SHARP, HEIGHT * SHARP)  # in pixels, across and down
_MARGIN = 14 * SHARP
_ELONGATED = 25.0  # times as long as wide: then each axis has its own scale
_CENTRAL = (0.05, 0.95)  # quantiles of the longer axis
_FILLED = 0.1  # of its length between them: with less, a few far rows alone make it long
_CONSTANT = 1e-9  # of the longer axis: a shorter one holds nothing but rounding errors


@dataclass(frozen=True)
class Scale:
    """The middle and half the length of each axis, (2,), and how many pixels that half takes."""

    middle: Floats
    half: Floats
    pixels: Floats
    size: Size = SIZE

    @property
    def equal(self) -> bool:
        """Whether lengths along both axes can be compared."""
        return not self.half.all() or bool(np.isclose(*(self.pixels / self.half)))

    @property
    def collapsed(self) -> bool:
        """Whether all rows stand at one place."""
        return not self.half.any()

    @property
    def low(self) -> Floats:
        """The smallest coordinates."""
        return np.asarray(self.middle - self.half)

    @property
    def high(self) -> Floats:
        """The largest coordinates."""
        return np.asarray(self.middle + self.half)

    def place(self, points: Floats) -> tuple[Integers, Integers]:
        """Column and line of the pixel of each point (m, 2); line 0 is the highest."""
        size, sign = self.size, (1, -1)
        columns, lines = (
            np.floor(size[j] / 2 + sign[j] * self.pixels[j] * self._shares(points[:, j], j)).astype(np.intp)
            for j in range(2)
        )
        return columns, lines

    def _shares(self, values: Floats, j: int) -> Floats:
        """From −1 to 1 along an axis."""
        shifted = values - self.middle[j]
        return np.zeros_like(shifted) if self.half[j] == 0 else np.asarray(shifted / self.half[j])


def scale_of(points: Floats, size: Size = SIZE) -> Scale:
    """The scale on which all points (m, 2) are seen, in a picture of so many pixels across and down."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2  # the sum of two large numbers would overflow
    half[half <= _CONSTANT * half.max()] = 0.0
    room = np.array(size) / 2 - _MARGIN
    if not half.any():
        return Scale(middle, half, np.zeros(2), size)
    needed = half / half.max() / room
    if half.all() and half.max() / half.min() > _ELONGATED and _is_filled(points[:, half.argmax()], half.max()):
        return Scale(middle, half, room, size)
    return Scale(middle, half, np.asarray(room * needed / needed.max()), size)


def _is_filled(values: Floats, half: float) -> bool:
    """Whether rows, and not a few far ones alone, make an axis long."""
    low, high = np.quantile(values, _CENTRAL)
    return bool(high / 2 - low / 2 >= _FILLED * half)

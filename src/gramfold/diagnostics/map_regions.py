"""Cells of a map in which its axes are looked at, and words for where they lie.

Cells are those of k-means, so that islands and branches of a map are cells of their own; few rows make few cells. Words
come from a grid of three by three over the middle 96% of each axis: "lower left", "top", "centre". Axes beyond the
second have no words.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.kernels.basis import nearest_centers
from gramfold.kernels.landmarks import kmeans_centers
from gramfold.types import Floats, Integers

_ROWS_PER_COLUMN = 3  # of a cell, from which slopes can be told, ...
_ROWS_PER_CELL = 60, 200  # ... but no fewer and no more rows than these
_MOST_CELLS = 12
_SMALLEST = 3  # times smaller than that: such cells join the nearest
_TAIL = 0.02  # of the rows at each end of an axis: outliers move no words
_MIDDLE = 1 / 3  # of half an axis
_ACROSS, _UP = ("left", "", "right"), ("lower", "", "upper")
_EDGE = {"lower": "bottom", "upper": "top"}


@dataclass(frozen=True, eq=False)
class Cells:
    """Which cell each row is in, and the word for each cell; several cells may have one word."""

    cell: Integers  # (n,)
    words: tuple[str, ...]  # (cells,)

    @classmethod
    def of(cls, places: Floats, columns: int, random_state: int) -> Self:
        """Of places (n, p), each axis in the unit of its spread, of rows with so many columns."""
        places = np.ascontiguousarray(places)
        n, numbers = len(places), np.arange(len(places))
        wanted = int(np.clip(_ROWS_PER_COLUMN * columns, *_ROWS_PER_CELL))
        count = int(np.clip(n // wanted, 1, _MOST_CELLS))
        centers = kmeans_centers(places, numbers, count, np.random.RandomState(random_state))
        while True:
            cell = nearest_centers(places, numbers, centers)
            sizes = np.bincount(cell, minlength=len(centers))
            if len(centers) == 1 or sizes.min() >= wanted // _SMALLEST:
                return cls(cell, tuple(_words(places, centers)))
            centers = np.delete(centers, int(sizes.argmin()), axis=0)

    def named(self, word: str) -> Integers:
        """The numbers of the cells with this word."""
        return np.array([c for c, other in enumerate(self.words) if other == word], dtype=np.intp)


def _words(places: Floats, centers: Floats) -> list[str]:
    if len(centers) == 1:
        return ["everywhere"]
    low, high = np.quantile(places, [_TAIL, 1.0 - _TAIL], axis=0)
    half = np.maximum(0.5 * (high - low), np.finfo(np.float64).tiny)
    steps = (centers - low) / half - 1.0  # -1 to 1
    sides = 1 + (steps > _MIDDLE).astype(int) - (steps < -_MIDDLE).astype(int)  # 0, 1 or 2
    return [_word(_ACROSS[row[0]], _UP[row[1]] if len(row) > 1 else "") for row in sides]


def _word(across: str, up: str) -> str:
    if up and across:
        return f"{up} {across}"
    return across or _EDGE.get(up, "centre")

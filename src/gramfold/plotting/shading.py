"""Many points as a picture of their density: in each cell the mean of their colours, darker where they are many."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gramfold.notebook.palette import opacity
from gramfold.plotting.legend import size_in_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELL = 0.75  # points: one cell is about as large as the smallest dot
_MARGIN = 0.05  # around the points, as matplotlib's own


def shade(ax: "Axes", points: NDArray[np.floating], rgba: NDArray[np.floating]) -> None:
    """Draw the density of points (n, 2); the opacity grows with the logarithm of their number."""
    scaled = ax.transScale.transform(points)
    low, high = scaled.min(axis=0), scaled.max(axis=0)
    size = np.asarray(size_in_points(ax)) / _CELL
    cell = float(((high - low) / size).max()) or 1.0
    width, height = np.floor((high - low) / cell).astype(int) + 1
    place = np.floor((scaled - low) / cell).astype(int)
    flat = place[:, 1] * width + place[:, 0]
    cells = width * height
    counts = np.bincount(flat, minlength=cells)
    taken = counts > 0
    image = np.zeros((cells, 4))
    for channel in range(3):
        image[taken, channel] = np.bincount(flat, rgba[:, channel], cells)[taken] / counts[taken]
    image[taken, 3] = opacity(counts[taken])
    corners = ax.transScale.inverted().transform([low, low + cell * np.array([width, height])])
    (x0, y0), (x1, y1) = corners
    ax.imshow(
        image.reshape(height, width, 4), extent=(x0, x1, y0, y1), origin="lower", interpolation="nearest", aspect="auto"
    )
    margin = _MARGIN * (high - low + cell)
    (x0, y0), (x1, y1) = ax.transScale.inverted().transform([low - margin, high + margin])
    ax.set_xlim(x0, x1, auto=True)  # an equal scale may widen them
    ax.set_ylim(y0, y1, auto=True)

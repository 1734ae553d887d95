"""Several maps of the same points side by side."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from gramfold.errors import InputError
from gramfold.plotting.colors import coloring
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.map import as_map, draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

PANEL = 3.0  # inches
MOST_COLUMNS = 3


def plot_gallery(
    maps: Mapping[str, Any],
    *,
    color: ArrayLike | None = None,
    title: str | None = None,
    color_label: str | None = None,
    n_columns: int | None = None,
    cmap: str | None = None,
    figure: "Figure | SubFigure | None" = None,
) -> "Figure | SubFigure":
    """Draw several maps of the same points, each in its panel, with one scale or legend for all.

    Parameters
    ----------
    maps : dict of str to map
        The title of each panel, and its map: an array of one to three columns, or a fitted model. All have
        a row for each point.
    color : array-like of shape (n,), or a colour's name, optional
        As in `plot_map`; the same point has the same colour in every panel.
    title : str, optional
        Stands above all panels.
    color_label : str, optional
        What the colour means.
    n_columns : int, optional
        Panels in a row; three, or fewer for fewer maps.
    cmap : str, optional
        A matplotlib colour map.
    figure : matplotlib Figure or SubFigure, optional
        Where to draw. A new figure is made without it.

    Returns
    -------
    matplotlib.figure.Figure or SubFigure

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.plotting import blank_figure, plot_gallery
    >>> points = np.random.default_rng(0).normal(size=(200, 3))
    >>> maps = {"space": points, "plane": points[:, :2]}
    >>> figure = plot_gallery(maps, color=points[:, 2], figure=blank_figure())
    >>> [ax.get_title() for ax in figure.axes[:2]]
    ['space', 'plane']
    """
    require_matplotlib()
    points = {name: as_map(embedding) for name, embedding in maps.items()}
    lengths = {name: len(rows) for name, rows in points.items()}
    if not points:
        raise InputError("No map was given: a gallery needs at least one.")
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(f"The maps have different numbers of rows ({listed}): a gallery shows the same points.")
    colors = coloring(color, next(iter(lengths.values())), cmap)
    columns = min(n_columns or MOST_COLUMNS, len(points))
    rows = math.ceil(len(points) / columns)
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(PANEL * columns + 1, PANEL * rows), layout="constrained")
    axes = []
    for place, (name, coordinates) in enumerate(points.items(), start=1):
        ax: Any = figure.add_subplot(rows, columns, place, projection="3d" if coordinates.shape[1] == 3 else None)
        draw(ax, coordinates, colors)
        ax.set_title(name, fontsize="medium")
        # a panel shows shape: numbers and lines around each would only clutter it
        ax.spines[:].set_visible(False)
        for axis in (ax.xaxis, ax.yaxis, *([ax.zaxis] if ax.name == "3d" else [])):
            axis.set_ticks([])
        axes.append(ax)
    colors.explain(figure, axes, color_label)
    if title:
        figure.suptitle(title)
    return figure

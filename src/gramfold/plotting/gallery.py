"""Plot several embeddings of the same points side by side."""

import math
from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from gramfold.errors import InputError
from gramfold.plotting.captions import fitted_titles
from gramfold.plotting.colors import Coloring, coloring
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.legend import add_figure_legend, fitted_legend, size_in_points
from gramfold.plotting.map import as_map, draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

PANEL = 3.0  # inches
MOST_COLUMNS = 3
_BAR = 70.0  # points that a colour bar with its numbers takes
_ROW = 22.0  # points of a title above all panels, and of a line under them


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
    """Plot several embeddings of the same points in panels, with one colour scale or legend for all.

    Parameters
    ----------
    maps : dict of str to array-like or fitted estimator
        Title and embedding of each panel. An embedding is an array of shape (n, 1), (n, 2) or (n, 3), or an estimator
        with the attribute `embedding_`. All must have the same number of rows. Titles that are too
        long for their panels are shortened.
    color : array-like of shape (n,), or the name of a colour, optional
        Value of each point, as in `plot_map`. A point has the same colour in every panel.
    title : str, optional
        Title above all panels.
    color_label : str, optional
        Label of the colour bar or legend.
    n_columns : int, optional
        Number of panels in a row. The default is three, or fewer for fewer embeddings.
    cmap : str, optional
        Name of a matplotlib colormap.
    figure : matplotlib Figure or SubFigure, optional
        Figure to draw in. By default a new one is made.

    Returns
    -------
    matplotlib.figure.Figure or SubFigure
        The figure with the panels.

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
    _require_panels(maps, n_columns)
    points = {name: as_map(embedding) for name, embedding in maps.items()}
    lengths = {name: len(rows) for name, rows in points.items()}
    if not points:
        raise InputError("maps is empty: pass at least one embedding.")
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(f"The maps have different numbers of rows ({listed}): pass embeddings of the same points.")
    colors = coloring(color, next(iter(lengths.values())), cmap)
    columns = min(n_columns or MOST_COLUMNS, len(points))
    rows = math.ceil(len(points) / columns)
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(PANEL * columns + 1, PANEL * rows), layout="constrained")
    titles, letters = fitted_titles(list(points), panels_room(figure, colors, bool(title))[0] / columns)
    axes = []
    for place, (called, coordinates) in enumerate(zip(titles, points.values(), strict=True), start=1):
        ax: Any = figure.add_subplot(rows, columns, place, projection="3d" if coordinates.shape[1] == 3 else None)
        draw(ax, coordinates, colors)
        ax.set_title(called, fontsize=letters)
        # a panel shows shape: numbers and lines around each would only clutter it
        ax.spines[:].set_visible(False)
        for axis in (ax.xaxis, ax.yaxis, *([ax.zaxis] if ax.name == "3d" else [])):
            axis.set_ticks([])
        axes.append(ax)
    if colors.limits is not None:
        colors.add_scale(figure, axes, color_label)
    elif colors.nameable:
        add_figure_legend(figure, colors.handles(), [kind.name for kind in colors.kinds], title=color_label)
    if title:
        figure.suptitle(title)
    return figure


def panels_room(figure: Any, colors: Coloring, titled: bool) -> tuple[float, float]:
    """Width and height in points that panels have beside the legend or colour bar."""
    width, height = size_in_points(figure)
    if colors.limits is not None:
        width -= _BAR
    elif colors.nameable:
        legend = fitted_legend(figure, [kind.name for kind in colors.kinds])
        beside = legend.place == "beside"
        width, height = (width * (1 - legend.share), height) if beside else (width, height * (1 - legend.share))
    return width, height - _ROW * (1 + titled)


def _require_panels(maps: Any, n_columns: Any) -> None:
    if not isinstance(maps, Mapping):
        raise InputError(f"maps is a {type(maps).__name__}: pass a dict of titles and embeddings.")
    if n_columns is not None and (not isinstance(n_columns, Integral) or n_columns < 1):
        raise InputError(f"n_columns={n_columns!r} is no number of panels: pass an integer of at least 1.")

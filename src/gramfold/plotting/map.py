"""Plot one embedding."""

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.embedding.reading import coordinates_of
from gramfold.errors import InputError
from gramfold.plotting.colors import Coloring, coloring
from gramfold.plotting.figure import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_DOT, SMALLEST_DOT = 24.0, 0.6  # points²; below, dots vanish on a screen
DOTS_AREA = 30_000.0  # points² shared among all dots, about a fifth of a default figure
JITTER = 0.4  # half the height of a one-column map's band


def plot_map(
    embedding: Any,
    *,
    color: ArrayLike | None = None,
    title: str | None = None,
    ax: "Axes | None" = None,
    color_label: str | None = None,
    size: float | None = None,
    cmap: str | None = None,
) -> "Axes":
    """Draw a scatter plot of an embedding in one, two or three dimensions.

    All axes have the same scale, so that distances are not distorted. Rows without coordinates (NaN) are left out, and
    the plot shows their number.

    Parameters
    ----------
    embedding : array-like of shape (n, 1), (n, 2) or (n, 3), or fitted estimator
        Coordinates, or an estimator with the attribute `embedding_`.
    color : array-like of shape (n,), or the name of a colour, optional
        Value of each point. Floating-point numbers give a colour scale. Strings, booleans, or up to 20 distinct
        integers give categories with a legend. Points with a missing value are grey.
    title : str, optional
        Title of the plot.
    ax : matplotlib Axes, optional
        Axes to draw in; for three dimensions they must have ``projection="3d"``. By default a new figure is made.
    color_label : str, optional
        Label of the colour bar or legend.
    size : float, optional
        Area of a dot in points². By default it depends on the number of points.
    cmap : str, optional
        Name of a matplotlib colormap.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.plotting import blank_figure, plot_map
    >>> points = np.random.default_rng(0).normal(size=(200, 2))
    >>> ax = plot_map(points, color=points[:, 0], title="noise", ax=blank_figure().subplots())
    >>> ax.get_title()
    'noise'
    """
    require_matplotlib()
    points = as_map(embedding)
    _require_size(size)
    colors = coloring(color, len(points), cmap)  # first, so that a wrong colour leaves no empty figure behind
    if ax is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(layout="constrained")
        ax = figure.add_subplot(projection="3d" if points.shape[1] == 3 else None)
    draw(ax, points, colors, size=size)
    colors.explain(ax.figure, [ax], color_label)
    if title:
        ax.set_title(title)
    return ax


def _require_size(size: Any) -> None:
    if size is not None and (not isinstance(size, Real) or not float(size) > 0):
        raise InputError(f"size={size!r} is no area of a dot: pass a number above 0.")


def as_map(embedding: Any) -> NDArray[np.floating]:
    """Coordinates (n, 1 to 3) of an array or a fitted estimator."""
    given = _as_array(coordinates_of(embedding, "embedding"), embedding)
    if given.ndim == 1:
        given = given[:, np.newaxis]
    if given.ndim != 2 or not 1 <= given.shape[1] <= 3:
        raise InputError(
            f"The embedding has shape {given.shape}, but a plot shows one to three columns: select some, as in "
            "embedding[:, :2]."
        )
    return given


def _as_array(places: Any, embedding: Any) -> NDArray[np.floating]:
    what = type(embedding).__name__
    try:
        given = np.asarray(places)
    except ValueError as error:  # rows that differ in length
        raise InputError(
            f"The embedding is a {what} whose rows differ in length: give each row a value for each column."
        ) from error
    if given.dtype.kind not in "biuf":
        raise InputError(
            f"An embedding must be numeric, but {what} is not: pass an array of numbers or a fitted model."
        )
    return given


def draw(ax: "Axes", points: NDArray[np.floating], colors: Coloring, *, size: float | None = None) -> None:
    """Draw the points that have coordinates, with equal scales on all axes."""
    placed = np.isfinite(points).all(axis=1)
    points, rgba = points[placed], colors.rgba[placed]
    area = size or np.clip(DOTS_AREA * _share(ax) / max(len(points), 1), SMALLEST_DOT, LARGEST_DOT)
    # many dots as one bitmap, also inside a pdf; no edge, which would hide small dots
    style: dict[str, Any] = {"s": area, "c": rgba, "linewidths": 0, "rasterized": len(points) > 5000}
    if points.shape[1] == 3:
        _draw_space(ax, points, style)
    elif points.shape[1] == 2:
        ax.scatter(points[:, 0], points[:, 1], **style)
        ax.set_aspect("equal", adjustable="datalim")
    else:
        # random heights, so that dots do not hide each other; they have no meaning
        height = np.random.default_rng(0).uniform(-JITTER, JITTER, len(points))
        ax.scatter(points[:, 0], height, **style)
        ax.set_ylim(-1, 1)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    missing = int((~placed).sum())
    if missing:
        note = f"{missing} of {len(placed)} rows have no coordinates"
        ax.annotate(note, (0.02, 0.99), xycoords="axes fraction", fontsize="x-small", color="0.4", va="top")


def _share(ax: "Axes") -> float:
    """Area of these axes relative to that of a default figure: small panels get small dots."""
    box = ax.get_position()
    root = ax.figure.get_figure(root=True)
    assert root is not None
    width, height = root.get_size_inches()
    return float(box.width * width * box.height * height) / (6.4 * 4.8 * 0.6)


def _draw_space(ax: Any, points: NDArray[np.floating], style: dict[str, Any]) -> None:
    if ax.name != "3d":
        raise InputError('An embedding with three columns needs axes made with projection="3d".')
    ax.scatter(points[:, 0], points[:, 1], points[:, 2], depthshade=False, **style)
    if len(points):
        spans = np.ptp(points, axis=0)
        # an axis of length 0 cannot be drawn
        ax.set_box_aspect(np.maximum(spans, 1e-3 * (spans.max() or 1.0)), zoom=1.1)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color("0.7")
        axis.set_tick_params(labelsize="x-small", colors="0.4")
    ax.grid(visible=False)

"""One map as a picture."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.errors import InputError
from gramfold.plotting.colors import Coloring, coloring
from gramfold.plotting.figure import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_DOT, SMALLEST_DOT = 24.0, 0.6  # points²; below, dots vanish on a screen
DOTS_AREA = 30_000.0  # points² shared among all dots, about a fifth of a usual picture
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
    """Scatter a map of one, two or three columns.

    Lengths along all axes have the same scale, so that distances look as they are. Rows without coordinates
    are left out, and the picture says how many.

    Parameters
    ----------
    embedding : array-like of shape (n, 1), (n, 2) or (n, 3), or fitted estimator
        The map, or a model whose `embedding_` is the map.
    color : array-like of shape (n,), or a colour's name, optional
        Floating-point numbers give a scale; words, truth values, or up to 20 different whole numbers give
        kinds with a legend. Points with a missing value are grey.
    title : str, optional
        Stands above the picture.
    ax : matplotlib Axes, optional
        Where to draw; for three columns it needs ``projection="3d"``. A new figure is made without it.
    color_label : str, optional
        What the colour means, beside the scale or legend.
    size : float, optional
        Area of a dot in points²; chosen from the number of points.
    cmap : str, optional
        A matplotlib colour map.

    Returns
    -------
    matplotlib.axes.Axes

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


def as_map(embedding: Any) -> NDArray[np.floating]:
    """The (n, 1..3) coordinates of an array or a fitted model."""
    given = np.asarray(getattr(embedding, "embedding_", embedding))
    if given.dtype == object or given.dtype.kind not in "biuf":
        what = type(embedding).__name__
        raise InputError(f"A map of numbers is needed, and a {what} was given: pass an array or a fitted model.")
    if given.ndim == 1:
        given = given[:, np.newaxis]
    if given.ndim != 2 or not 1 <= given.shape[1] <= 3:
        raise InputError(
            f"A map of shape {given.shape} was given, and a picture shows one to three columns: "
            "choose some, as in embedding[:, :2]."
        )
    return given


def draw(ax: "Axes", points: NDArray[np.floating], colors: Coloring, *, size: float | None = None) -> None:
    """Scatter the points that have coordinates, on equal scales."""
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
        # spread sideways, so that dots do not hide each other; the height means nothing
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
    """The area of these axes, as a share of a usual picture's: small panels get small dots."""
    box = ax.get_position()
    root = ax.figure.get_figure(root=True)
    assert root is not None
    width, height = root.get_size_inches()
    return float(box.width * width * box.height * height) / (6.4 * 4.8 * 0.6)


def _draw_space(ax: Any, points: NDArray[np.floating], style: dict[str, Any]) -> None:
    if ax.name != "3d":
        raise InputError('A map of three columns needs axes made with projection="3d".')
    ax.scatter(points[:, 0], points[:, 1], points[:, 2], depthshade=False, **style)
    if len(points):
        spans = np.ptp(points, axis=0)
        # an empty direction still needs some depth to be drawn
        ax.set_box_aspect(np.maximum(spans, 1e-3 * (spans.max() or 1.0)), zoom=1.1)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color("0.7")
        axis.set_tick_params(labelsize="x-small", colors="0.4")
    ax.grid(visible=False)

"""Plot a map with how far its rows move between refits."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gramfold.diagnostics import Stability
from gramfold.errors import InputError
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.map import as_map, plot_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HALO = "#3b6ea5"


def plot_stability(
    stability: Stability,
    *,
    halo: bool = False,
    title: str | None = None,
    ax: "Axes | None" = None,
    size: float | None = None,
    cmap: str | None = None,
) -> "Axes":
    """Draw the map, each row in the colour of how far it moves between refits.

    Parameters
    ----------
    stability : Stability
        Result of `gramfold.diagnostics.stability`.
    halo : bool, default=False
        Whether to draw a disc around each row, whose radius is its root mean square distance from its place, in the
        unit of the map. Only for maps of two coordinates.
    title : str, optional
        Title of the plot. The default is the value in total.
    ax : matplotlib Axes, optional
        Axes to draw in; for three coordinates they must have ``projection="3d"``. By default a new figure is made.
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
    >>> from gramfold import PCA
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.diagnostics import stability
    >>> from gramfold.plotting import blank_figure, plot_stability
    >>> found = stability(PCA().fit(make_s_curve(200, random_state=0).points), refits=5)
    >>> ax = plot_stability(found, halo=True, ax=blank_figure().subplots())
    >>> ax.get_title().startswith("rows move by")
    True
    """
    require_matplotlib()
    if not isinstance(stability, Stability):
        raise InputError(
            f"stability is a {type(stability).__name__}: pass what gramfold.diagnostics.stability(model, X) returns."
        )
    places = as_map(stability.embedding[:, : stability.shown])
    if halo and places.shape[1] != 2:
        raise InputError(f"halo=True draws discs, but the map has {places.shape[1]} coordinates: use n_shown=2.")
    assert stability.per_point is not None
    words = f"rows move by {stability.value:.1%} of the size of the map"
    ax = plot_map(
        places,
        color=stability.per_point,
        title=words if title is None else title,
        ax=ax,
        color_label="moved, of the size of the map",
        size=size,
        cmap=cmap or "plasma",
    )
    if halo:
        _draw_discs(ax, places, stability.size * stability.per_point)
    return ax


def _draw_discs(ax: Any, places: Any, radii: Any) -> None:
    from matplotlib.collections import EllipseCollection
    from matplotlib.colors import to_rgba

    known = np.isfinite(radii) & np.isfinite(places).all(axis=1)
    widths = 2.0 * radii[known]
    discs = EllipseCollection(
        widths,
        widths,
        np.zeros(len(widths)),
        units="xy",
        offsets=places[known],
        offset_transform=ax.transData,
        # many discs that lie on each other hide nothing, and one by itself has an outline
        facecolors=to_rgba(_HALO, float(np.clip(8.0 / max(len(widths), 1), 0.01, 0.25))),
        edgecolors=to_rgba(_HALO, 0.15),
        linewidths=0.3,
        zorder=0,
    )
    ax.add_collection(discs)

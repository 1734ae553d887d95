"""Plot an embedding with some edges of its graph on it."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gramfold.errors import InputError
from gramfold.plotting.colors import require_color
from gramfold.plotting.map import as_map, plot_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED = 10  # edges whose rows are written beside them: more cannot be read


def plot_edges(
    embedding: Any,
    edges: Any,
    *,
    edge_color: str = "crimson",
    linewidth: float = 1.2,
    names: bool = False,
    ax: "Axes | None" = None,
    **settings: Any,
) -> "Axes":
    """Draw an embedding and these edges between its rows, such as the short circuits that were found.

    Parameters
    ----------
    embedding : array-like of shape (n, 2) or (n, 3), or fitted estimator
        Coordinates, or an estimator with the attribute `embedding_`.
    edges : array-like of shape (m, 2), or the result of `gramfold.diagnostics.short_circuits`
        Row numbers of the two ends of each edge. Edges of rows without coordinates (NaN) are not drawn.
    edge_color : str, default="crimson"
        Colour of the edges.
    linewidth : float, default=1.2
        Width of the edges in points.
    names : bool, default=False
        Whether to write the row numbers beside the ends of the first 10 edges.
    ax : matplotlib Axes, optional
        Axes to draw in, as for `plot_map`.
    **settings : object
        Other arguments of `plot_map`: color, title, color_label, size, cmap.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.plotting import blank_figure, plot_edges
    >>> points = np.random.default_rng(0).normal(size=(50, 2))
    >>> ax = plot_edges(points, [(0, 1), (2, 3)], ax=blank_figure().subplots())
    >>> len(ax.collections)  # the dots, and the edges
    2
    """
    points = as_map(embedding)
    pairs = _checked(edges, len(points))
    require_color(edge_color, "edge_color")
    if points.shape[1] == 1:
        raise InputError(
            "The embedding has one column, on which all edges would lie on one line: draw two or three columns."
        )
    ax = plot_map(embedding, ax=ax, **settings)
    pairs = pairs[np.isfinite(points[pairs]).all(axis=(1, 2))]
    style: dict[str, Any] = {"colors": edge_color, "linewidths": linewidth, "zorder": 3}
    if points.shape[1] == 3:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

        ax.add_collection(Line3DCollection(list(points[pairs]), **style))
    else:
        from matplotlib.collections import LineCollection

        ax.add_collection(LineCollection(list(points[pairs]), **style), autolim=False)
    if names:
        for row in np.unique(pairs[:_NAMED]):
            words: list[Any] = [*points[row].tolist(), f" {row}"]
            ax.text(*words, fontsize="x-small", color=edge_color, zorder=4)
    return ax


def _checked(pairs: ArrayLike, n: int) -> np.ndarray:
    try:
        found = np.asarray(pairs)
    except ValueError as error:
        raise InputError(
            "edges holds entries of different lengths, but edges are pairs of row numbers: pass integers of shape "
            "(n_edges, 2)."
        ) from error
    if found.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise InputError(
            f"edges has shape {found.shape} and dtype {found.dtype}, but edges are pairs of row numbers: pass integers "
            "of shape (n_edges, 2)."
        )
    if found.min() < 0 or found.max() >= n:
        outside = found[((found < 0) | (found >= n)).any(axis=1)][0]
        raise InputError(
            f"edges holds the pair ({outside[0]}, {outside[1]}), but the embedding has the rows 0 to {n - 1}: draw "
            "edges on the embedding of the rows that they were found in."
        )
    return found.astype(np.intp)

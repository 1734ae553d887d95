"""Plot a path over a map, and the pictures along it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.diagnostics.refits import check_whole
from gramfold.errors import InputError
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.legend import size_in_points
from gramfold.plotting.map import as_map, plot_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_INK = "#D55E00"
_PICTURE = 1.0  # inches, of a picture in a new figure
_MAP = 3.2  # inches, the height of the map in a new figure
_COLUMNS = 10  # pictures in a line of the strip
_NARROWEST = 48.0  # points of a picture, which has a label above it
_LABEL = 14.0  # points above a picture
_LEAST_MAP = 0.4  # of the height of the figure


@dataclass(frozen=True)
class Path:
    """A path over a map, and some points on it at even distances."""

    corners: NDArray[np.floating]  # (c, 2) the line that is drawn
    points: NDArray[np.floating]  # (m, 2)
    rows: NDArray[np.intp]  # (m,) the row nearest to each point

    def once(self) -> "Path":
        """Each row once where it is the nearest to several points in turn; the last of them at the end of the path."""
        fresh = np.flatnonzero(np.concatenate([[True], np.diff(self.rows) != 0]))
        fresh[-1] = len(self.rows) - 1
        return Path(self.corners, self.points[fresh], self.rows[fresh])


def plot_path(
    model: Any,
    pictures: ArrayLike | None,
    start: int,
    end: int,
    *,
    along: Literal["line", "graph"] = "line",
    show: Literal["rows", "inverse"] = "rows",
    count: int = 8,
    shape: tuple[int, ...] | None = None,
    color: ArrayLike | None = None,
    title: str | None = None,
    picture_cmap: str = "gray",
    figure: "Figure | SubFigure | None" = None,
) -> "Figure | SubFigure":
    """Draw a path between two rows over a map of pictures, and a strip of the pictures along it.

    Parameters
    ----------
    model : fitted estimator, or array-like of shape (n, 2)
        The map.
    pictures : array-like of shape (n, height, width), (n, height, width, 3) or (n, height * width), or None
        The picture of each row. None: pictures are computed by the inverse, and `shape` gives their size.
    start, end : int
        Rows at the ends of the path.
    along : {"line", "graph"}, default="line"
        A straight line on the map, or the shortest path along the edges of the neighbour graph of the model.
    show : {"rows", "inverse"}, default="rows"
        What the strip shows: the rows that are nearest to points on the path on the map, or pictures that
        ``model.inverse_transform`` computes for these points. It is written beside the strip.
    count : int, default=8
        Number of pictures, at even distances along the path; fewer where a row is the nearest to several points.
    shape : tuple of int, optional
        Height and width (and 3 for colours) of a picture, where rows are flat.
    color : array-like of shape (n,), or the name of a colour, optional
        Value of each point, as in `plot_map`. By default points are grey.
    title : str, optional
        Title above the map.
    picture_cmap : str, default="gray"
        Colormap of pictures without colours.
    figure : matplotlib Figure or SubFigure, optional
        Figure to draw in. By default a new one is made.

    Returns
    -------
    matplotlib.figure.Figure or SubFigure
        The figure: the map, then the pictures.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramfold import PCA
    >>> from gramfold.plotting import blank_figure, plot_path
    >>> digits = load_digits(n_class=2)
    >>> model = PCA().fit(digits.data)
    >>> figure = plot_path(model, digits.images, 0, 1, count=5, figure=blank_figure())
    >>> len(figure.axes)  # the map and five pictures
    6
    """
    mpl = require_matplotlib()
    places = as_map(model)
    if places.shape[1] != 2:
        raise InputError(f"A path is drawn over a map of two columns, and this one has {places.shape[1]}: fit two.")
    if along not in ("line", "graph"):
        raise InputError(f"along={along!r} is not known: use 'line' or 'graph'.")
    if show not in ("rows", "inverse"):
        raise InputError(f"show={show!r} is not known: use 'rows' or 'inverse'.")
    if picture_cmap not in mpl.colormaps:
        raise InputError(f"picture_cmap={picture_cmap!r} is not a colormap of matplotlib: use a name such as 'gray'.")
    count = check_whole(count, "count", 2)
    ends = _checked_ends((start, end), places)
    images = None if pictures is None else _as_pictures(pictures, len(places), shape)
    path = found_path(model, places, ends, along, count)
    if show == "rows":
        path = path.once()
        if along == "graph":  # whose corners are rows
            path = replace(path, points=places[path.rows])
    strip = _strip(model, images, path, show, shape)
    if figure is None:
        import matplotlib.pyplot as plt

        lines = -(-count // _COLUMNS)
        width = max(4.8, _PICTURE * min(count, _COLUMNS))
        figure = plt.figure(figsize=(width, _MAP + 1.25 * _PICTURE * lines), layout="constrained")
    _draw_all(figure, places, path, strip, color, title, picture_cmap, _words(show, along))
    return figure


def found_path(
    model: Any, places: NDArray[np.floating], ends: tuple[int, int], along: Literal["line", "graph"], count: int
) -> Path:
    """The path between two rows, and points on it."""
    rows = np.array(ends) if along == "line" else _graph_path(model, ends)
    corners = places[rows]
    if not np.isfinite(corners).all():
        raise InputError("The path runs through rows without coordinates: choose rows of one connected component.")
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    if lengths[-1] == 0:
        raise InputError(f"rows {ends[0]} and {ends[1]} have one place on the map, so no path: choose others.")
    at = np.linspace(0.0, lengths[-1], count)
    points = np.column_stack([np.interp(at, lengths, column) for column in corners.T])
    if along == "graph":
        nearest = rows[np.abs(lengths[:, None] - at).argmin(axis=0)]  # rows of the path itself
    else:
        from scipy.spatial import cKDTree

        known = np.flatnonzero(np.isfinite(places).all(axis=1))
        nearest = known[cKDTree(places[known]).query(points)[1]]
        nearest[[0, -1]] = ends  # of copies, those that were asked for
    return Path(corners, points, nearest)


def _graph_path(model: Any, ends: tuple[int, int]) -> NDArray[np.intp]:
    """Rows of the shortest path along the neighbour graph."""
    from scipy.sparse.csgraph import dijkstra

    graph = getattr(model, "graph_", None)
    if graph is None:
        raise InputError(
            f"{type(model).__name__} has no neighbour graph: use along='line', or pass a fitted model with graph_."
        )
    first, last = (int(graph.rows[end]) for end in ends)  # edges of copies are stored at the first of them
    if first < 0 or last < 0:
        raise InputError(f"rows {ends[0]} and {ends[1]} are not both in the neighbour graph: use along='line'.")
    reached, before = dijkstra(graph.lengths, directed=False, indices=first, return_predecessors=True)
    if not np.isfinite(reached[last]):
        raise InputError(
            f"rows {ends[0]} and {ends[1]} are in different connected components of the graph: use along='line'."
        )
    rows = [last]
    while rows[-1] != first:
        rows.append(int(before[rows[-1]]))
    return np.array([ends[0], *rows[::-1][1:-1], ends[1]])


def _strip(
    model: Any, images: NDArray[Any] | None, path: Path, show: str, shape: tuple[int, ...] | None
) -> list[tuple[NDArray[Any], str]]:
    """The pictures along a path, each with its label."""
    if show == "rows":
        if images is None:
            raise InputError(
                "pictures=None, but the strip shows rows: pass the picture of each row, or show='inverse'."
            )
        return [(images[row], f"{number}: row {row}") for number, row in enumerate(path.rows, start=1)]
    if not hasattr(model, "inverse_transform"):
        raise InputError(f"{type(model).__name__} has no inverse_transform: use show='rows'.")
    size = shape if images is None else images.shape[1:]
    if size is None:
        raise InputError("The size of the pictures is not known: pass shape=(height, width), or pictures.")
    rebuilt = np.asarray(model.inverse_transform(path.points))
    if rebuilt.shape[1] != np.prod(size):
        raise InputError(
            f"inverse_transform gives rows of {rebuilt.shape[1]} values, which are no pictures of shape {tuple(size)}: "
            "fit the model on the pixels, or use show='rows'."
        )
    return [(one.reshape(size), str(number)) for number, one in enumerate(rebuilt, start=1)]


def _words(show: str, along: str) -> str:
    way = "the straight line" if along == "line" else "the shortest path of the neighbour graph"
    what = "Rows nearest to points on" if (show, along) == ("rows", "line") else "Rows on"
    return f"{what} {way}" if show == "rows" else f"inverse_transform of points on {way}"


def _draw_all(
    figure: Any,
    places: NDArray[np.floating],
    path: Path,
    strip: list[tuple[NDArray[Any], str]],
    color: Any,
    title: str | None,
    cmap: str,
    words: str,
) -> None:
    from matplotlib.patheffects import withStroke

    width, height = size_in_points(figure)
    lines = -(-len(strip) // max(1, min(_COLUMNS, int(width / _NARROWEST))))
    columns = -(-len(strip) // lines)
    # as high as pictures of this form and their labels are
    tall, broad = strip[0][0].shape[:2]
    line = width / columns * tall / broad + _LABEL
    above = max(height - lines * line, _LEAST_MAP * height)
    grid = figure.add_gridspec(1 + lines, columns, height_ratios=[above, *[line] * lines])
    ax = plot_map(places, color="0.75" if color is None else color, ax=figure.add_subplot(grid[0, :]), title=title)
    halo = [withStroke(linewidth=3.0, foreground="white")]
    ax.plot(*path.corners.T, color=_INK, linewidth=1.5, path_effects=halo, zorder=3)
    ax.plot(*path.points.T, "o", color=_INK, markersize=4, markeredgecolor="white", markeredgewidth=0.6, zorder=4)
    last = len(path.points)
    for number, point in ((1, path.points[0]), (last, path.points[-1])):
        ax.annotate(
            str(number),
            tuple(point),
            xytext=(5, 5),
            textcoords="offset points",
            fontsize="small",
            color=_INK,
            weight="bold",
            path_effects=halo,
            zorder=5,
        )
    pixels = np.concatenate([np.ravel(picture) for picture, _ in strip])
    limits = {"vmin": float(np.nanmin(pixels)), "vmax": float(np.nanmax(pixels))}
    for number, (picture, label) in enumerate(strip):
        panel = figure.add_subplot(grid[1 + number // columns, number % columns])
        colored = picture.ndim == 3
        panel.imshow(_shown_color(picture) if colored else picture, **({} if colored else {"cmap": cmap, **limits}))
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_title(label, fontsize="x-small", pad=2)
    figure.supxlabel(words, fontsize="small")


def _shown_color(picture: NDArray[Any]) -> NDArray[Any]:
    """Colours between 0 and 1, or bytes."""
    if picture.dtype == np.uint8:
        return picture
    return np.clip(picture / (255.0 if picture.max() > 1.5 else 1.0), 0.0, 1.0)


def _as_pictures(pictures: Any, n: int, shape: tuple[int, ...] | None) -> NDArray[Any]:
    try:
        given = np.asarray(pictures)
    except ValueError as error:  # pictures of different sizes
        raise InputError("pictures is ragged: pass pictures of one size.") from error
    if given.dtype.kind not in "biuf":
        raise InputError(f"pictures has values of dtype {given.dtype}, which are no pixels: pass numbers.")
    if len(given) != n:
        raise InputError(
            f"pictures has {len(given)} rows, but the map has {n}: pass the picture of each row of the map."
        )
    if given.ndim == 2:
        if shape is None or np.prod(shape) != given.shape[1]:
            raise InputError(
                f"pictures are rows of {given.shape[1]} pixels, and shape={shape} does not say how they stand: pass "
                "shape=(height, width)."
            )
        return given.reshape(n, *shape)
    if given.ndim not in (3, 4) or (given.ndim == 4 and given.shape[3] not in (3, 4)):
        raise InputError(f"pictures has shape {given.shape}, which are no pictures: pass (n, height, width[, 3]).")
    return given


def _checked_ends(ends: tuple[Any, Any], places: NDArray[np.floating]) -> tuple[int, int]:
    n = len(places)
    for end in ends:
        if isinstance(end, bool) or not isinstance(end, (int, np.integer)) or not 0 <= end < n:
            raise InputError(f"{end!r} is not a row of the map, which has the rows 0 to {n - 1}: pass two of them.")
        if not np.isfinite(places[end]).all():
            raise InputError(f"row {end} has no coordinates on the map: choose another.")
    return int(ends[0]), int(ends[1])

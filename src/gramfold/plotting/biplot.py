"""Draw the columns of the data as arrows on a map: where rows move as a column rises."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.diagnostics import Loadings
from gramfold.diagnostics.axis_meaning import Region
from gramfold.diagnostics.axis_words import LITTLE, leading
from gramfold.diagnostics.placed_rows import far_outside
from gramfold.diagnostics.refits import check_whole
from gramfold.errors import InputError
from gramfold.notebook.palette import ABSENT
from gramfold.plotting.colors import Coloring, coloring
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.fitted_text import short_names
from gramfold.plotting.label_places import Label, offsets_of
from gramfold.plotting.map import as_map, draw, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WHOLE, _REGION = 6, 2  # arrows of the whole map, and of a region
_LONGEST, _LONGEST_OF_REGION = 0.45, 0.16  # of the wider side of the map
_SHORTEST = 0.15  # of the longest arrow: shorter ones point nowhere
_SEEN = 0.03  # the same for columns that the words of an axis name
_PALE = 0.45  # of a dot's own colour; the rest is white, so that arrows are read first
_INK = "#1a1a1a"
# of Okabe and Ito, told apart by all; dark enough to be read as text on white
_REGION_INKS = ("#0072b2", "#d55e00", "#007a5a", "#b0487f", "#7a5c00", "#1a1a1a")
_MARGIN = 0.08  # around the map
_WIDEST = 0.34  # of the width of the axes: a longer name is shortened, so that labels have room side by side
_NEAR = 9.0  # points: a label farther from its tip is joined to it by a line


def plot_loadings(
    loadings: Loadings,
    embedding: Any,
    *,
    regions: bool = False,
    count: int | None = None,
    axes: tuple[int, int] = (0, 1),
    color: ArrayLike | None = None,
    color_label: str | None = None,
    title: str | None = None,
    ax: "Axes | None" = None,
    size: float | None = None,
) -> "Axes":
    """Draw arrows on a map that show where its rows move as a column rises (a biplot).

    An arrow is the change of the coordinates for one standard deviation of a column. All arrows of the whole map, or of
    one region, are scaled by the same factor. First come the columns that ``str(loadings)`` names, those of both axes
    in turn, then others by the length of their arrows, but no short ones. Long names are shortened where they are
    alike.

    Parameters
    ----------
    loadings : Loadings
        Of the map, as `gramfold.diagnostics.loadings` returns it.
    embedding : array-like of shape (n, n_components), or fitted estimator
        The map.
    regions : bool, default=False
        Whether to draw arrows for each region of the map, in its middle, in place of those of the whole map.
    count : int, optional
        Number of arrows; 6 for the whole map, and 2 for each region.
    axes : pair of int, default=(0, 1)
        The axes of the map to draw.
    color : array-like of shape (n,), or the name of a colour, optional
        Value of each point, as in `plot_map`; they are drawn pale. By default all points are grey.
    color_label : str, optional
        Label of the colour bar or legend.
    title : str, optional
        Title of the plot.
    ax : matplotlib Axes, optional
        Axes to draw in. By default a new figure is made.
    size : float, optional
        Area of a dot in points². By default it depends on the number of points.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import PCA
    >>> from gramfold.diagnostics import loadings
    >>> from gramfold.plotting import blank_figure, plot_loadings
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * (3, 2, 0.5)
    >>> model = PCA().fit(X)
    >>> ax = plot_loadings(loadings(model, names=["age", "dose", "hour"]), model, ax=blank_figure().subplots())
    >>> sorted(text.get_text() for text in ax.texts)
    ['age', 'dose']
    """
    require_matplotlib()
    if not isinstance(loadings, Loadings):
        raise InputError(
            f"plot_loadings draws Loadings, but got {type(loadings).__name__}: pass "
            "gramfold.diagnostics.loadings(model) or loadings(X, Y)."
        )
    _require_axes(axes, count)
    points = _plane(embedding, axes)
    _require_map_of(loadings, len(points), axes)
    if regions and not loadings.regions:
        raise InputError("the map has no regions, because its rows are few: use regions=False.")
    colors = coloring(ABSENT if color is None else color, len(points))
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(layout="constrained").add_subplot()
    if color is not None:
        colors = _paler(colors)
    lines = draw(ax, points, colors, size=size)
    ax.set_xlabel(f"axis {axes[0] + 1}")
    ax.set_ylabel(f"axis {axes[1] + 1}")
    explain(ax, colors, color_label, lines)
    if title:
        ax.set_title(title)
    arrows = _region_arrows(loadings, points, axes, count) if regions else _arrows(loadings, points, axes, count)
    _draw_arrows(ax, arrows)
    return ax


def _require_axes(axes: Any, count: Any) -> None:
    if not isinstance(axes, Sequence | np.ndarray) or isinstance(axes, str) or len(axes) != 2:
        raise InputError(f"axes={axes!r} is not a pair of axes: pass two numbers, such as (0, 1).")
    for axis in axes:
        check_whole(axis, "axes", 0)
    if count is not None:
        check_whole(count, "count", 1)


def _require_map_of(loadings: Loadings, rows: int, axes: tuple[int, int]) -> None:
    least = max(loadings.n_rows, 1 + max((int(one.rows.max()) for one in loadings.regions if len(one.rows)), default=0))
    if rows < least:
        raise InputError(
            f"the embedding has {rows} rows, but the loadings are of a map of at least {least}: pass the map that they "
            "were computed of."
        )
    if max(axes) >= len(loadings.slopes):
        raise InputError(
            f"axes={axes!r}, but the loadings know axes up to {len(loadings.slopes) - 1}: pass two of these, or the "
            "loadings of this map."
        )


def _paler(colors: Coloring) -> Coloring:
    """The same colours mixed with white, in the legend and the colour bar too."""
    from matplotlib.colors import ListedColormap

    kinds = [replace(kind, rgba=_pale(kind.rgba[None])[0]) for kind in colors.kinds]
    bar = None if colors.cmap is None else ListedColormap(_pale(colors.cmap(np.linspace(0.0, 1.0, 256))))
    return replace(colors, rgba=_pale(colors.rgba), kinds=kinds, cmap=bar)


def _pale(rgba: NDArray[np.floating]) -> NDArray[np.floating]:
    made = np.array(rgba, dtype=float)
    made[:, :3] = 1.0 - _PALE * (1.0 - made[:, :3])
    return made


@dataclass(frozen=True, eq=False)
class _Arrow:
    name: str
    start: NDArray[np.floating]
    end: NDArray[np.floating]
    ink: str


def _plane(embedding: Any, axes: tuple[int, int]) -> NDArray[np.floating]:
    given = np.asarray(getattr(embedding, "embedding_", embedding))
    if given.ndim != 2 or not all(0 <= axis < given.shape[1] for axis in axes):
        raise InputError(
            f"axes={axes!r} of an embedding of shape {given.shape} cannot be drawn: arrows need two of its columns."
        )
    return as_map(given[:, list(axes)])


def _arrows(found: Loadings, points: NDArray[np.floating], axes: tuple[int, int], count: int | None) -> list[_Arrow]:
    """Of the whole map, from its middle."""
    placed = points[np.isfinite(points).all(axis=1)]
    placed = placed[~far_outside(placed)]  # as slopes were found, in units of the rest
    vectors = found.slopes[list(axes)].T * placed.std(axis=0)  # (d, 2) in units of the map
    chosen = _chosen(found, axes, vectors, count or _WHOLE)
    factor = _LONGEST * _width(placed) / _largest(vectors)
    start = placed.mean(axis=0)
    return [_Arrow(found.names[j], start, start + factor * vectors[j], _INK) for j in chosen]


def _region_arrows(
    found: Loadings, points: NDArray[np.floating], axes: tuple[int, int], count: int | None
) -> list[_Arrow]:
    """Of each region of which columns explain something, from its middle, in a scale of its own."""
    placed = points[np.isfinite(points).all(axis=1)]
    placed = placed[~far_outside(placed)]
    said = [region for region in found.regions if region.explained[list(axes)].max() >= LITTLE]
    arrows = []
    for number, region in enumerate(said):
        own = region.slopes[list(axes)].T * placed.std(axis=0)
        factor = _LONGEST_OF_REGION * _width(placed) / _largest(own)
        start, ink = np.median(points[region.rows], axis=0), _REGION_INKS[number % len(_REGION_INKS)]
        chosen = _chosen(region, axes, own, count or _REGION)
        arrows += [_Arrow(found.names[j], start, start + factor * own[j], ink) for j in chosen]
    return arrows


def _chosen(told: Loadings | Region, axes: tuple[int, int], vectors: NDArray[np.floating], count: int) -> list[int]:
    """The columns that words name, the first of each axis, the second, and so on; then those with longest arrows."""
    lengths = np.linalg.norm(vectors, axis=1)
    named = [leading(told.shares[axis]).tolist() for axis in axes if told.explained[axis] >= LITTLE]
    in_turn = [j for same in itertools.zip_longest(*named) for j in same if j is not None]
    in_turn = [j for j in in_turn if lengths[j] > _SEEN * lengths.max()]
    others = [j for j in np.argsort(-lengths, kind="stable").tolist() if lengths[j] > _SHORTEST * lengths.max()]
    return list(dict.fromkeys([*in_turn, *others]))[:count]


def _largest(vectors: NDArray[np.floating]) -> float:
    return float(np.linalg.norm(vectors, axis=1).max()) or 1.0


def _width(placed: NDArray[np.floating]) -> float:
    """The wider side of the map, without its outermost rows."""
    low, high = np.quantile(placed, [0.01, 0.99], axis=0)
    return float((high - low).max()) or 1.0


def _draw_arrows(ax: "Axes", arrows: list[_Arrow]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.patheffects import Stroke, withStroke

    halo = [Stroke(linewidth=3.2, foreground="white"), withStroke(linewidth=0, foreground="white")]
    for arrow in arrows:
        shape = FancyArrowPatch(
            tuple(arrow.start), tuple(arrow.end), arrowstyle="-|>", mutation_scale=9, linewidth=1.5,
            color=arrow.ink, shrinkA=0, shrinkB=0, zorder=4, path_effects=halo,
        )  # fmt: skip
        ax.add_patch(shape)
    ends = np.array([point for arrow in arrows for point in (arrow.start, arrow.end)])
    if len(ends):
        ax.update_datalim(ends)
        ax.margins(_MARGIN)
        ax.autoscale_view()
    root: Any = ax.figure.get_figure(root=True)
    root.draw_without_rendering()  # the layout settles, and places in points are known
    _draw_labels(ax, arrows, 72.0 / root.dpi)


def _draw_labels(ax: "Axes", arrows: list[_Arrow], per_pixel: float) -> None:
    """Each label beside the tip of its arrow, where it covers neither another label nor an arrow nor a line."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patheffects import withStroke

    window = ax.get_window_extent()
    frame = np.array([window.x0, window.y0, window.x1, window.y1]) * per_pixel  # in points
    arrows = sorted(arrows, key=lambda one: -float(np.linalg.norm(one.end - one.start)))
    size = FontProperties(size="small").get_size_in_points()
    names = short_names([arrow.name for arrow in arrows], _WIDEST * (frame[2] - frame[0]), size)
    made, labels = [], []
    for arrow, name in zip(arrows, names, strict=True):
        label = ax.annotate(
            name, tuple(arrow.end), (0, 0), textcoords="offset points", ha="center", va="center", zorder=6,
            fontsize=size, color=arrow.ink, path_effects=[withStroke(linewidth=2.6, foreground="white")],
        )  # fmt: skip
        made.append(label)
        extent = label.get_window_extent()
        start, tip = (ax.transData.transform(point) * per_pixel for point in (arrow.start, arrow.end))
        labels.append(Label(start, tip, np.array([extent.width, extent.height]) * per_pixel))
    for label, one, arrow, offset in zip(made, labels, arrows, offsets_of(labels, frame), strict=True):
        label.set_position(tuple(offset))
        edge = one.edge(offset)
        if np.linalg.norm(edge) > _NEAR:
            end = ax.transData.inverted().transform((one.tip + edge) / per_pixel)
            ax.plot(*np.transpose([arrow.end, end]), color=arrow.ink, linewidth=0.5, zorder=5)

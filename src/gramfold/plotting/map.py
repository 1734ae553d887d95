"""Plot one embedding."""

import textwrap
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.embedding.reading import coordinates_of
from gramfold.errors import InputError
from gramfold.plotting.colors import MOST_NAMED, Coloring, coloring, values_of_points
from gramfold.plotting.fault_marks import NO_FAULT, draw_marks, marks_of
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.gaps import cut_empty_bands
from gramfold.plotting.legend import Fitted, add_legend, fits, fitted_legend, size_in_points, text_width
from gramfold.plotting.shading import shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_DOT, SMALLEST_DOT = 24.0, 0.6  # points²; below, dots vanish on a screen, and the density is shaded
DOTS_AREA = 30_000.0  # points² shared among all dots, about a fifth of a default figure
JITTER = 0.4  # half the height of a one-column map's band
OPAQUE_ROWS = 1_000  # dots of more rows let others shine through
NOTE = "x-small"
_SHORT_NAME = 0.25  # of the width of the axes: longer names are not written on a map that has no room for a legend
_SPACE_TICKS = 4  # on each axis of a map in space, at most
_NOTE_LETTER = 4.4  # points: its width, and some of the room that the layout will take from the axes


def plot_map(
    embedding: Any,
    *,
    color: ArrayLike | None = None,
    title: str | None = None,
    ax: "Axes | None" = None,
    color_label: str | None = None,
    size: float | None = None,
    cmap: str | None = None,
    names: "ArrayLike | bool" = False,
    legend: Literal["auto", "beside", "below"] | bool = "auto",
    faults: Any = None,
    cut_gaps: bool = False,
) -> "Axes":
    """Draw a scatter plot of an embedding in one, two or three dimensions.

    All axes have the same scale, so that distances are not distorted. Rows without coordinates (NaN) are left out, and
    the plot shows their number. Two-dimensional maps of so many rows that dots would be too small to see (50,000 in a
    default figure) are shaded by density: each cell has the mean of the colours of its rows, and is darker the more
    there are.

    Parameters
    ----------
    embedding : array-like of shape (n, 1), (n, 2) or (n, 3), or fitted estimator
        Coordinates, or an estimator with the attribute `embedding_`.
    color : array-like of shape (n,), or the name of a colour, optional
        Value of each point. Floating-point numbers give a colour scale. Strings, booleans, or up to 20 distinct
        integers give categories with a legend. Points with a missing value are grey. Up to 8 categories differ by
        colour (Okabe and Ito's, which colour-blind readers tell apart), up to 64 by colour and marker.
    title : str, optional
        Title of the plot.
    ax : matplotlib Axes, optional
        Axes to draw in; for three dimensions they must have ``projection="3d"``. By default a new figure is made.
    color_label : str, optional
        Label of the colour bar or legend.
    size : float, optional
        Area of a dot in points². By default it depends on the number of points. Points of a given size are not shaded.
    cmap : str, optional
        Name of a matplotlib colormap.
    names : bool or array-like of shape (n,), default=False
        Name of the group of each row, written on the map at the medoid of the group, moved aside where it would cover
        another; True: the categories of `color`, in place of a legend. Only for maps of two dimensions.
    legend : {"auto", "beside", "below"} or bool, default="auto"
        Where the legend of categories stands, in as many columns as it needs. "auto": beside or below, where it takes
        less room; where it would take more than 40% of the plot, short names are written on the map instead.
    faults : Faults, optional
        Result of `gramfold.diagnostics.faults` for this map. Of each fault that the map has (``faults.named``), rows
        above its threshold are marked, at most 60, the worst. Where it has none, a note says so.
    cut_gaps : bool, default=False
        Whether to shorten bands across the whole map in which no row lies, such as those before an outlier or between
        groups. Groups keep their shape, and ticks are true coordinates. Grey stripes mark the bands, and a note says
        that distances across them are not those of the map. Only for maps of two dimensions.

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
    # first, so that what cannot be drawn leaves no empty figure behind
    colors = coloring(color, len(points), cmap)
    groups = _group_names(names, colors, points)
    marks = [] if faults is None else marks_of(faults, len(points))
    _check_choices(legend, cut_gaps, points)
    if ax is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(layout="constrained")
        ax = figure.add_subplot(projection="3d" if points.shape[1] == 3 else None)
    place = _legend_place(ax, colors, legend, names is True, points.shape[1] == 2)
    if place is None and groups is None and colors.nameable and legend == "auto" and points.shape[1] == 2:
        groups = _group_names(True, colors, points)
    notes = [NO_FAULT] if faults is not None and not faults.named else []
    if cut_gaps:
        placed = points[np.isfinite(points).all(axis=1)]
        if len(placed) and cut_empty_bands(ax, placed):
            notes.append("Grey stripes: empty bands, shortened; distances across them are not those of the map.")
    if len(colors.kinds) > MOST_NAMED and groups is None:
        notes.append(f"{len(colors.kinds)} categories, whose colours repeat.")
    if groups is not None:
        from gramfold.plotting.names import MOST_NAMES, count_names

        many = count_names(groups[np.isfinite(points).all(axis=1)])
        if many > MOST_NAMES:
            notes.append(f"{many:,} names, of which those that have room are written.")
    lines = draw(ax, points, colors, size=size, notes=notes)
    known = np.isfinite(points).all(axis=1)
    places = points.astype(float)
    if points.shape[1] == 1:
        places = np.full((len(points), 2), np.nan)
        places[known] = spread(points[known])
    entries = draw_marks(ax, places, marks, size or dot_area(ax, len(points))) if marks else []
    if groups is not None:
        from gramfold.plotting.names import write_names

        write_names(ax, points[known], groups[known])
    _explain(ax, colors, color_label, place, entries, [mark.words for mark in marks], lines)
    if title:
        ax.set_title(title, wrap=True)
    return ax


def leading_columns(places: NDArray[np.floating], title: str) -> tuple[NDArray[np.floating], str]:
    """The part of a map of any width that a plot shows, and a title that says so."""
    width = places.shape[1]
    return (places, title) if width <= 3 else (places[:, :2], f"{title} (the first 2 of {width} columns)")


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


def draw(
    ax: "Axes",
    points: NDArray[np.floating],
    colors: Coloring,
    *,
    size: float | None = None,
    notes: Sequence[str] = (),
) -> int:
    """Draw the points that have coordinates, with equal scales on all axes, and notes below; the lines of the notes."""
    placed = np.isfinite(points).all(axis=1)
    points, rgba, markers = points[placed], colors.rgba[placed], colors.marker_of[placed]
    # many dots as one bitmap, also inside a pdf; no edge, which would hide small dots
    style: dict[str, Any] = {
        "s": size or dot_area(ax, len(points)),
        "linewidths": 0,
        "rasterized": len(points) > 5000,
        "alpha": None if len(points) <= OPAQUE_ROWS else (OPAQUE_ROWS / len(points)) ** 0.25,
    }
    if points.shape[1] == 3:
        _draw_space(ax, points, rgba, markers, style)
    elif points.shape[1] == 2:
        if size is None and too_many_dots(ax, len(points)):
            shade(ax, points, rgba)
        else:
            _scatter(ax, points, rgba, markers, style)
        ax.set_aspect("equal", adjustable="datalim")
        if ax.get_xscale() == "linear":
            from gramfold.plotting.ticks import InnerLocator

            ax.xaxis.set_major_locator(InnerLocator())
    else:
        _scatter(ax, spread(points), rgba, markers, style)
        ax.set_ylim(-1, 1)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    missing = int((~placed).sum())
    if missing:
        notes = [f"{missing} of {len(placed)} rows have no coordinates", *notes]
    return add_notes(ax, notes)


def spread(points: NDArray[np.floating]) -> NDArray[np.floating]:
    """Places of a map of one column: random heights, so that dots do not hide each other; they have no meaning."""
    return np.column_stack([points[:, 0], np.random.default_rng(0).uniform(-JITTER, JITTER, len(points))])


def add_notes(ax: Any, notes: Sequence[str], below: float = 20) -> int:
    """Write notes in small letters so many points below the axes, under their tick labels; the number of lines."""
    if not notes:
        return 0
    width, _ = size_in_points(ax)
    lines = [line for note in notes for line in textwrap.wrap(note, max(20, int(width / _NOTE_LETTER)))]
    at: dict[str, Any] = {"xycoords": "axes fraction", "xytext": (0, -below), "textcoords": "offset points"}
    if ax.name == "3d":
        ax.text2D(0.0, 0.0, "\n".join(lines), transform=ax.transAxes, fontsize=NOTE, color="0.4", va="top")
    else:
        ax.annotate("\n".join(lines), (0.0, 0.0), fontsize=NOTE, color="0.4", va="top", annotation_clip=False, **at)
    return len(lines)


def dot_area(ax: "Axes", n: int) -> float:
    """Area in points² of each of n dots: the more there are, the smaller."""
    return float(np.clip(DOTS_AREA * _share(ax) / max(n, 1), SMALLEST_DOT, LARGEST_DOT))


def too_many_dots(ax: "Axes", n: int) -> bool:
    """Whether n dots would have to be smaller than can be seen."""
    return n * SMALLEST_DOT > DOTS_AREA * _share(ax)


def _share(ax: "Axes") -> float:
    """Area of these axes relative to that of a default figure: small panels get small dots."""
    width, height = size_in_points(ax)
    return width * height / (72.0**2 * 6.4 * 4.8 * 0.6)


def _scatter(
    ax: "Axes",
    points: NDArray[np.floating],
    rgba: NDArray[np.floating],
    markers: NDArray[np.str_],
    style: dict[str, Any],
) -> None:
    """All dots as one collection in the order of the rows, so that no category lies over the others."""
    dots = ax.scatter(points[:, 0], points[:, 1], c=rgba, **style)
    if (markers != "o").any():
        from matplotlib.markers import MarkerStyle

        styles = {name: MarkerStyle(name) for name in np.unique(markers)}
        paths = {name: one.get_path().transformed(one.get_transform()) for name, one in styles.items()}
        dots.set_paths([paths[name] for name in markers])


def _draw_space(
    ax: Any,
    points: NDArray[np.floating],
    rgba: NDArray[np.floating],
    markers: NDArray[np.str_],
    style: dict[str, Any],
) -> None:
    if ax.name != "3d":
        raise InputError('An embedding with three columns needs axes made with projection="3d".')
    for marker in dict.fromkeys(markers) or ["o"]:
        some = markers == marker
        ax.scatter(*points[some].T, c=rgba[some], marker=marker, depthshade=False, **style)
    if len(points):
        spans = np.ptp(points, axis=0)
        # an axis of length 0 cannot be drawn
        ax.set_box_aspect(np.maximum(spans, 1e-3 * (spans.max() or 1.0)), zoom=1.1)
    from matplotlib.ticker import MaxNLocator

    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color("0.7")
        axis.set_tick_params(labelsize="x-small", colors="0.4")
        axis.set_major_locator(MaxNLocator(_SPACE_TICKS))
    ax.grid(visible=False)


def _group_names(names: Any, colors: Coloring, points: NDArray[np.floating]) -> NDArray[Any] | None:
    """The name of each row's group, where names are wanted."""
    if names is None or names is False:
        return None
    if points.shape[1] != 2:
        raise InputError(
            f"names are written on maps of two columns, and this one has {points.shape[1]}: select two columns."
        )
    if names is True:
        if colors.codes is None:
            raise InputError("names=True writes the categories of color, which holds none: pass names=labels.")
        return np.array([kind.name for kind in colors.kinds], dtype=object)[colors.codes]
    return values_of_points(names, len(points), "names")


def _check_choices(legend: Any, cut_gaps: Any, points: NDArray[np.floating]) -> None:
    if not isinstance(legend, bool) and legend not in ("auto", "beside", "below"):
        raise InputError(f"legend={legend!r} is not known: use 'auto', 'beside', 'below', True or False.")
    if cut_gaps and points.shape[1] != 2:
        raise InputError(
            f"cut_gaps=True shortens bands of maps of two columns, and this one has {points.shape[1]}: select two."
        )


def _legend_place(ax: "Axes", colors: Coloring, legend: Any, named: bool, flat: bool) -> Fitted | None:
    """Where the legend of categories goes; None where there is none, or names on a flat map take its place."""
    if not colors.nameable or legend is False or (named and legend == "auto"):
        return None
    names = [kind.name for kind in colors.kinds]
    if legend in ("beside", "below"):
        return fitted_legend(ax, names, only=legend)
    found = fitted_legend(ax, names)
    short = text_width(names, found.letters) <= _SHORT_NAME * size_in_points(ax)[0]
    return None if legend == "auto" and flat and short and not fits(found) else found


def explain(ax: "Axes", colors: Coloring, label: str | None, lines: int) -> None:
    """Add the colour bar or the legend of the colours, below so many lines of notes."""
    _explain(ax, colors, label, _legend_place(ax, colors, True, False, False), [], [], lines)


def _explain(
    ax: "Axes",
    colors: Coloring,
    label: str | None,
    place: Fitted | None,
    marks: list[Any],
    words: list[str],
    lines: int,
) -> None:
    """Add a colour bar or a legend of categories, and a legend of marks below."""
    if colors.limits is not None:
        colors.add_scale(ax.figure, [ax], label)
    handles, names = (colors.handles(), [kind.name for kind in colors.kinds]) if place is not None else ([], [])
    if place is not None and (place.place == "beside" or not marks):
        add_legend(ax, handles, names, place, title=label, lines=lines)
        handles, names = [], []
    if handles or marks:
        names = [*names, *words]
        add_legend(ax, [*handles, *marks], names, fitted_legend(ax, names, only="below"), title=None, lines=lines)

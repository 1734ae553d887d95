"""Plot the maps of a comparison side by side, with their numbers and faults."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from gramfold.errors import InputError
from gramfold.plotting.captions import Words, fitted_captions
from gramfold.plotting.colors import coloring
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.gallery import MOST_COLUMNS, PANEL, panels_room, plot_gallery

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_UNDER = 0.75  # inches for three lines under a panel
_LEGEND = 1.2  # inches beside the panels
_FOOT = 0.25  # inches for a line under all panels
_APART = 0.12  # inches above and below a panel
_NUMBERS = {  # the most important first: others are left out of small figures
    "r_nx": "neighbours",
    "distance_correlation": "distances",
    "neighborhood_purity": "labels",
    "stress": "stress",
}
_SHOWN = 3  # columns of a map


@runtime_checkable
class Compared(Protocol):
    """What `gramfold.compare` returns."""

    @property
    def labels(self) -> Any:
        """Of each row, or None."""

    @property
    def failures(self) -> Mapping[str, str]:
        """What failed and why."""

    def aligned_maps(self) -> Mapping[str, Any]:
        """Coordinates by name, each map turned onto the first."""

    def __getitem__(self, name: str) -> Any:
        """One map, with its measures and faults."""


def plot_comparison(
    comparison: Compared,
    *,
    color: ArrayLike | None = None,
    title: str | None = None,
    color_label: str | None = None,
    n_columns: int | None = None,
    cmap: str | None = None,
    figure: "Figure | SubFigure | None" = None,
) -> "Figure | SubFigure":
    """Plot the maps of a comparison in panels, each turned onto the first, with its numbers and faults under it.

    Under each map stand the share of neighbours kept beyond chance (`r_nx`), the rank correlation of all distances, the
    stress (0 is best), the purity of labels where they were given, and the faults above their thresholds. In a small
    figure letters are smaller, down to 6 points, and then there are fewer numbers; ``comparison.to_pandas()`` has all.

    Parameters
    ----------
    comparison : Comparison
        Result of `gramfold.compare`. Of maps with more than three columns the first two are shown.
    color : array-like of shape (n,), or the name of a colour, optional
        Value of each point, as in `plot_map`. The default are the labels of the comparison.
    title : str, optional
        Title above all panels.
    color_label : str, optional
        Label of the colour bar or legend.
    n_columns : int, optional
        Number of panels in a row. The default is three, or fewer for fewer maps; in a figure of your own, as many as
        make the panels largest.
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
    >>> from gramfold import compare
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.plotting import blank_figure, plot_comparison
    >>> roll = make_swiss_roll(300, random_state=0)
    >>> found = compare(roll.points, ["pca", "isomap"])
    >>> figure = plot_comparison(found, color=roll.truth[:, 0], figure=blank_figure(7, 4))
    >>> [ax.get_title() for ax in figure.axes[:2]]
    ['pca', 'isomap']
    """
    if not isinstance(comparison, Compared):
        raise InputError(f"comparison is a {type(comparison).__name__}: pass what gramfold.compare(X) returns.")
    maps = {name: _shown(places) for name, places in comparison.aligned_maps().items()}
    own = figure is None
    if figure is None:
        require_matplotlib()
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=figure_size(len(maps), n_columns or MOST_COLUMNS))
        figure.set_layout_engine("constrained", h_pad=_APART)
    color = _classes(comparison.labels) if color is None else color
    words = [_words(comparison[name], np.shape(places)[1]) for name, places in comparison.aligned_maps().items()]
    if n_columns is None and not own:
        # as few as fill so many rows
        choices = sorted({math.ceil(len(maps) / rows) for rows in range(1, len(maps) + 1)})
    else:
        choices = [min(n_columns or MOST_COLUMNS, len(maps))]
    width, height = panels_room(figure, coloring(color, len(next(iter(maps.values()))), cmap), bool(title))
    layout = fitted_captions(words, width, height, choices)
    style: dict[str, Any] = {"title": title, "color_label": color_label, "n_columns": layout.columns, "cmap": cmap}
    plot_gallery(maps, color=color, figure=figure, **style)
    for ax, text in zip(figure.axes, layout.captions, strict=False):
        _write_under(ax, text, layout.letters)
    lost = [name for name in comparison.failures if name not in maps]
    if lost:
        figure.supxlabel(f"failed: {', '.join(lost)}", fontsize="small", color="0.3")
    return figure


def figure_size(count: int, columns: int = MOST_COLUMNS) -> tuple[float, float]:
    """Width and height in inches of a figure of so many maps."""
    columns = min(columns, count)
    return PANEL * columns + _LEGEND, (PANEL + _UNDER) * math.ceil(count / columns) + _FOOT


def _words(row: Any, columns: int) -> Words:
    """Numbers, and faults below."""
    if row.failure:
        return Words((), ("not judged",))
    values = {word: row.measures[name].value for name, word in _NUMBERS.items() if name in row.measures}
    numbers = tuple(f"{word} {round(value, 2) + 0.0:.2f}" for word, value in values.items())  # 0.00, not -0.00
    below = [f"faults: {', '.join(row.faults.named) or 'none'}"]
    if columns > _SHOWN:
        below.append(f"first 2 of {columns} coordinates")
    return Words(numbers, tuple(below))


def _write_under(ax: Any, text: str, letters: float) -> None:
    if ax.name == "3d":
        ax.text2D(0.5, -0.02, text, transform=ax.transAxes, ha="center", va="top", fontsize=letters, color="0.2")
    else:
        ax.set_xlabel(text, fontsize=letters, color="0.2")


def _classes(labels: Any) -> Any:
    """Labels as categories: numbers among them name classes, and 2.0 is called 2."""
    if labels is None:
        return None
    values = np.asarray(labels)
    if values.dtype.kind == "f" and np.array_equal(values, np.floor(values)):
        values = values.astype(np.int64)
    return values.astype(str)


def _shown(places: Any) -> Any:
    return places if places.shape[1] <= _SHOWN else places[:, :2]

"""Plot the maps of a sweep over numbers of neighbours side by side."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from gramfold.diagnostics import Sweep, SweepStep
from gramfold.errors import InputError
from gramfold.plotting.gallery import plot_gallery
from gramfold.runtime.counting import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure


def plot_sweep(
    sweep: Sweep,
    *,
    color: ArrayLike | None = None,
    title: str | None = None,
    color_label: str | None = None,
    n_columns: int | None = None,
    cmap: str | None = None,
    figure: "Figure | SubFigure | None" = None,
) -> "Figure | SubFigure":
    """Plot the maps for each number of neighbours in panels, each turned onto the one before.

    Above each stand the number of neighbours, how far the map differs from the one before (0: not at all, 1: nothing of
    one is in the other) and, where there are several, the number of connected components.

    Parameters
    ----------
    sweep : Sweep
        Result of `gramfold.diagnostics.sweep`, of maps of one to three coordinates.
    color : array-like of shape (n,), or the name of a colour, optional
        Value of each point, as in `plot_map`.
    title : str, optional
        Title above all panels.
    color_label : str, optional
        Label of the colour bar or legend.
    n_columns : int, optional
        Number of panels in a row. The default is three, or fewer for fewer maps.
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
    >>> from gramfold import LaplacianEigenmaps
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import sweep
    >>> from gramfold.plotting import blank_figure, plot_sweep
    >>> roll = make_swiss_roll(300, random_state=0)
    >>> found = sweep(LaplacianEigenmaps(coordinates="independent"), roll.points, [8, 12])
    >>> figure = plot_sweep(found, figure=blank_figure())
    >>> figure.axes[0].get_title()
    'k = 8'
    """
    if not isinstance(sweep, Sweep):
        raise InputError(f"sweep is a {type(sweep).__name__}: pass what gramfold.diagnostics.sweep(model, X) returns.")
    blank = next(np.full_like(step.fitted, np.nan) for step in sweep if step.fitted is not None)
    maps = {_title(step): blank if step.embedding is None else step.embedding for step in sweep}
    return plot_gallery(
        maps, color=color, title=title, color_label=color_label, n_columns=n_columns, cmap=cmap, figure=figure
    )


def _title(step: SweepStep) -> str:
    words = [f"k = {step.n_neighbors}"]
    if step.failure:
        return f"{words[0]}, failed"
    if not np.isnan(step.moved):
        words.append(f"moved {step.moved:.2f}")
    if step.components > 1:
        words.append(counted(step.components, "component"))
    return ", ".join(words)

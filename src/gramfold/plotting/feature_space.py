"""Plot distances on the map against those in the data and in feature space."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gramfold.diagnostics import ComparedDistances, FeatureDistances
from gramfold.errors import InputError
from gramfold.notebook.palette import PLAIN
from gramfold.plotting.figure import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_MOST_PAIRS = 5_000  # dots in a panel


def plot_feature_distances(
    distances: FeatureDistances,
    *,
    coordinates: Literal["map", "principal"] = "map",
    title: str | None = None,
    figure: "Figure | SubFigure | None" = None,
) -> "Figure | SubFigure":
    """Plot distances on the map against those in the data and in feature space, everywhere and between neighbours.

    Each panel shows at most 5,000 pairs, the correlation of all of them and the slope through the origin.

    Parameters
    ----------
    distances : FeatureDistances
        Result of `gramfold.diagnostics.feature_distances`.
    coordinates : {"map", "principal"}, default="map"
        What stands on the vertical axes: distances on the map, or in the principal coordinates V Λ^½ of the same axes.
    title : str, optional
        Title above all panels.
    figure : matplotlib Figure or SubFigure, optional
        Figure to draw in. By default a new one is made.

    Returns
    -------
    matplotlib.figure.Figure or SubFigure
        The figure with four panels, without those of the data where its distances are not known.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.diagnostics import feature_distances
    >>> from gramfold.plotting import blank_figure, plot_feature_distances
    >>> model = Isomap().fit(make_s_curve(200, random_state=0).points)
    >>> figure = plot_feature_distances(feature_distances(model), figure=blank_figure())
    >>> len(figure.axes)
    4
    """
    require_matplotlib()
    if not isinstance(distances, FeatureDistances):
        raise InputError(
            f"distances is a {type(distances).__name__}: pass what gramfold.diagnostics.feature_distances(model) "
            "returns."
        )
    if coordinates not in {"map", "principal"}:
        raise InputError(f"coordinates={coordinates!r} is not valid: use 'map' or 'principal'.")
    known = not np.isnan(distances.everywhere.input).all()
    spaces: list[Literal["input", "feature"]] = ["input", "feature"] if known else ["feature"]
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(7, 3.2 * len(spaces)), layout="constrained")
    axes = figure.subplots(len(spaces), 2, squeeze=False)
    words = {"input": "in the data", "feature": "in feature space", "map": "on the map", "principal": "principal"}
    for line, space in zip(axes, spaces, strict=True):
        parts = ((distances.everywhere, "all pairs"), (distances.local, "neighbours"))
        for ax, (compared, called) in zip(line, parts, strict=True):
            scatter_distances(ax, compared, coordinates, space)
            ax.set_title(f"{called}: correlation {compared.correlation(coordinates, space):.3f}", fontsize="medium")
            ax.set_xlabel(f"distance {words[space]}")
            ax.set_ylabel(f"distance {words[coordinates]}")
    if title:
        figure.suptitle(title)
    return figure


def scatter_distances(ax: Any, compared: ComparedDistances, of: Any, to: Any) -> None:
    """Draw pairs of rows by their distances in two spaces, and the line of their slope."""
    x, y = getattr(compared, to), getattr(compared, of)
    if len(x) > _MOST_PAIRS:
        some = np.random.default_rng(0).choice(len(x), _MOST_PAIRS, replace=False)
        x, y = x[some], y[some]
    ax.scatter(x, y, s=2, color=PLAIN, alpha=0.4, linewidths=0, rasterized=True)
    slope = compared.slope(of, to)
    if len(x) and np.isfinite(slope):
        ax.plot([0, x.max()], [0, slope * x.max()], color="0.3", linewidth=0.8)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)

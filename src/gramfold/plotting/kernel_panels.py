"""Plot what a method's kernel is like: its spectrum, its distances, and contours of these on the map.

Ham, Lee, Mika, Schölkopf, ICML 2004, figs 2 to 4.
"""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gramfold.diagnostics import ComparedDistances, FeatureDistances, feature_distances
from gramfold.diagnostics.feature_space import LEAST_SAMPLE
from gramfold.diagnostics.kernel_panels import DistancesFrom, Smoothed, Where, distances_by_rows, nearest_pairs
from gramfold.diagnostics.leading_values import leading_values
from gramfold.diagnostics.randomness import drawn_from
from gramfold.diagnostics.refits import check_whole
from gramfold.errors import GramfoldError, InputError
from gramfold.neighbors.columns import as_table
from gramfold.notebook.palette import PLAIN
from gramfold.plotting.feature_space import scatter_distances
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.legend import size_in_points
from gramfold.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_EIGENVALUES = 10
_ROUNDING = 1e-12  # of the largest eigenvalue
_NARROW = 130.0  # points: panels that are narrower have titles in smaller letters
_MARGIN = 0.08  # of the map, around it
_INK = "#D55E00"


def plot_kernel(
    model: Any,
    X: Any = None,
    *,
    title: str | None = None,
    sample: int | None = None,
    random_state: Any = 0,
    figure: "Figure | SubFigure | None" = None,
) -> "Figure | SubFigure":
    """Plot the eight panels of Ham, Lee, Mika and Schölkopf for any fitted method.

    A and B: the leading eigenvalues of the kernel on a linear and on a logarithmic axis, those of the map filled. C and
    D: distances on the map against distances in the data, of all pairs and of neighbours (of landmarks and precomputed
    values: of each row and its 8 nearest), with the slope through the origin and the correlation r. E and F: the same
    against distances in feature space. G and H: the map with contours of the distance in feature space from a row at
    its boundary and from one at its centre (×). A panel that cannot be drawn says why.

    Parameters
    ----------
    model : estimator
        A fitted model of gramfold. Of a kernel that is known between some rows only (the largest connected component,
        landmarks) these are shown.
    X : array-like, optional
        The rows that it was fitted on, or the precomputed distances, for a model that does not keep them
        (``metric="precomputed"``, `OrdinalMDS`).
    title : str, optional
        Title above all panels. The default is the name of the method and the number of rows.
    sample : int, optional
        Number of rows whose distances are compared, as in `gramfold.diagnostics.feature_distances`.
    random_state : int, RandomState instance or None, default=0
        Of the sample.
    figure : matplotlib Figure or SubFigure, optional
        Figure to draw in: four columns of panels in a figure that is wider than high, else two. By default a new one
        is made.

    Returns
    -------
    matplotlib.figure.Figure or SubFigure
        The figure with eight panels.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.plotting import blank_figure, plot_kernel
    >>> model = Isomap().fit(make_s_curve(200, random_state=0).points)
    >>> figure = plot_kernel(model, figure=blank_figure(12, 6))
    >>> [ax.get_title(loc="left")[0] for ax in figure.axes]
    ['A', 'C', 'E', 'G', 'B', 'D', 'F', 'H']
    """
    require_matplotlib()
    name = type(model).__name__
    if not hasattr(model, "fit") or isinstance(model, type):
        raise InputError(f"model is a {name}, which has no kernel: pass a fitted model of gramfold.")
    if not hasattr(model, "embedding_"):
        raise InputError(f"{name} is not fitted, or makes no map, so there is nothing to draw: pass a fitted model.")
    if sample is not None:
        check_whole(sample, "sample", LEAST_SAMPLE)
    drawn_from(random_state)
    found = _Found(model, X, sample, random_state)
    if X is not None:
        _require_rows(model, X)
        found.compared  # noqa: B018 - rows that cannot be read are refused, before anything is drawn
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(12, 6.2), layout="constrained")
    width, height = size_in_points(figure)
    wide = width > height
    axes = figure.subplots(2, 4) if wide else figure.subplots(4, 2)
    ordered = axes.T.ravel() if wide else axes.ravel()  # a topic is a column, or a line
    for letter, ax, panel in zip("ABCDEFGH", ordered, found.panels(), strict=True):
        _draw(letter, ax, panel)
    if title is None:
        title = f"{name}, {found.rows}"
    if title:
        figure.suptitle(title)
    return figure


def _require_rows(model: Any, X: Any) -> None:
    """Refuse other columns than those of the fit; of precomputed values none are known."""
    width, fitted = getattr(as_table(X), "shape", ())[1:], vars(model).get("model_")
    own = None if fitted is None or fitted.reads.precomputed else fitted.columns.count
    if own is not None and width and width[0] != own:
        raise InputError(
            f"X has {width[0]} columns, but {type(model).__name__} was fitted on {own}: pass the rows that it was "
            "fitted on."
        )


@dataclass(frozen=True)
class _Panel:
    title: str
    draw: Callable[[Any], str | None]  # the title, where it depends on what is drawn


@dataclass
class _Found:
    """What is known of a fitted model, each computed once."""

    model: Any
    X: Any
    sample: int | None
    random_state: Any

    def panels(self) -> list[_Panel]:
        """The eight panels in the order of their letters."""
        return [
            _Panel("spectrum", lambda ax: _draw_spectrum(ax, self.eigenvalues, self.shown, log=False)),
            _Panel("spectrum, log", lambda ax: _draw_spectrum(ax, self.eigenvalues, self.shown, log=True)),
            _Panel("all pairs", lambda ax: _draw_distances(ax, self.compared.everywhere, "all pairs", "input")),
            _Panel("neighbours", lambda ax: _draw_distances(ax, *nearest_pairs(self.compared), "input")),
            _Panel("all pairs", lambda ax: _draw_distances(ax, self.features.everywhere, "all pairs", "feature")),
            _Panel("neighbours", lambda ax: _draw_distances(ax, *nearest_pairs(self.features), "feature")),
            _Panel("from the boundary", lambda ax: self._draw_contours(ax, "boundary")),
            _Panel("from the centre", lambda ax: self._draw_contours(ax, "centre")),
        ]

    @property
    def shown(self) -> int:
        return int(self.model.embedding_.shape[1])

    @property
    def rows(self) -> str:
        """How many rows there are, and how many the kernel is of."""
        n = len(self.model.embedding_)
        try:
            known = self.features.n_rows
        except GramfoldError:
            return f"{n:,} rows"
        return f"{n:,} rows" if known == n else f"kernel of {known:,} of {n:,} rows"

    @cached_property
    def eigenvalues(self) -> Floats:
        return leading_values(self.model, _EIGENVALUES, "model")

    @cached_property
    def features(self) -> FeatureDistances:
        return feature_distances(self.model, sample=self.sample, random_state=self.random_state)

    @cached_property
    def compared(self) -> FeatureDistances:
        """Distances in the data and on the map."""
        return self.features if self.X is None else distances_by_rows(self.X, self.model, self.sample)

    def _draw_contours(self, ax: Any, where: Where) -> str | None:
        found = DistancesFrom.of(self.features, self.model.embedding_, where)
        places, values, place = found.places, found.values, found.place
        if places.shape[1] == 1:
            ax.scatter(places[:, 0], values, s=3, color=PLAIN, linewidths=0)
            ax.plot(place[0], 0.0, "x", color=_INK, markersize=7, markeredgewidth=1.8, clip_on=False)
            _label(ax, "coordinate", "distance in feature space")
            return None
        _contour(ax, places[:, :2], values)
        ax.plot(*place[:2], "x", color=_INK, markersize=7, markeredgewidth=2.0)
        low, high = places[:, :2].min(axis=0), places[:, :2].max(axis=0)
        margin = _MARGIN * (high - low)
        ax.set_xlim(low[0] - margin[0], high[0] + margin[0], auto=True)
        ax.set_ylim(low[1] - margin[1], high[1] + margin[1], auto=True)
        ax.set_aspect("equal", adjustable="datalim")
        from gramfold.plotting.ticks import InnerLocator

        ax.xaxis.set_major_locator(InnerLocator())
        _label(ax, "first coordinate", "second coordinate")
        return None


def _draw(letter: str, ax: Any, panel: _Panel) -> None:
    more: str | None = None
    try:
        more = panel.draw(ax)
    except GramfoldError as reason:
        _say(ax, str(reason).split(":")[0])  # after it stands what to change in the call of something else
    width, _ = size_in_points(ax)
    ax.set_title(f"{letter}  {more or panel.title}", loc="left", fontsize="small" if width >= _NARROW else "x-small")
    ax.tick_params(which="both", labelsize="x-small")
    ax.yaxis.get_offset_text().set_fontsize("x-small")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _say(ax: Any, reason: str) -> None:
    """Write in a panel why it is empty."""
    ax.clear()
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    width, height = size_in_points(ax)
    words = textwrap.wrap(f"Not drawn: {reason.rstrip('.')}.", max(14, int(width / 4.4)))
    most = max(2, int(height / 11))
    if len(words) > most:
        words = [*words[: most - 1], words[most - 1] + " …"]
    ax.text(
        0.5, 0.5, "\n".join(words), transform=ax.transAxes, ha="center", va="center", fontsize="x-small", color="0.35"
    )


def _draw_spectrum(ax: Any, values: Floats, shown: int, *, log: bool) -> str | None:
    from matplotlib.ticker import MaxNLocator

    at = np.arange(1, len(values) + 1)
    if log:
        known = values > _ROUNDING * np.abs(values).max()
        if not known.any():
            raise InputError("No eigenvalue is positive.")
        at, values = at[known], values[known]
        ax.set_yscale("log")
    ax.plot(at, values, color="0.6", linewidth=0.8, zorder=1)
    ax.scatter(at, values, s=18, facecolors=np.where(at <= shown, PLAIN, "white"), edgecolors=PLAIN, linewidths=1.0)
    if not log:
        ax.axhline(0.0, color="0.85", linewidth=0.8, zorder=0)
    ax.set_xlim(0.5, _EIGENVALUES + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    _label(ax, "number", "eigenvalue")
    return None


def _draw_distances(ax: Any, compared: ComparedDistances, called: str, to: Literal["input", "feature"]) -> str | None:
    if to == "input" and np.isnan(compared.input).all() and len(compared.input):
        raise InputError(
            "distances in the data are not known, because the model was fitted on precomputed values: pass X."
        )
    scatter_distances(ax, compared, "map", to)
    _label(ax, f"distance in {'the data' if to == 'input' else 'feature space'}", "distance on the map")
    found = compared.correlation("map", to)
    return f"{called}, r = {found:.2f}" if np.isfinite(found) else called


def _label(ax: Any, x: str, y: str) -> None:
    ax.set_xlabel(x, fontsize="x-small")
    ax.set_ylabel(y, fontsize="x-small")


def _contour(ax: Any, places: Floats, values: Floats) -> None:
    """Contours of values at scattered places."""
    # the dots have the same colours: on a map as thin as a curve contours are too short to be seen
    ax.scatter(*places.T, c=values, cmap="viridis", s=4, linewidths=0, rasterized=True, zorder=0)
    found = Smoothed.of(places, values)
    if len(found.levels):
        ax.contour(
            found.x, found.y, np.ma.masked_invalid(found.values), levels=found.levels, colors="0.25", linewidths=0.7
        )

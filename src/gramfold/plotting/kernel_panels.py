"""Plot what a method's kernel is like: its spectrum, its distances, and contours of these on the map.

Ham, Lee, Mika, Schölkopf, ICML 2004, figs 2 to 4.
"""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gramfold.diagnostics import ComparedDistances, FeatureDistances, Judged, feature_distances
from gramfold.diagnostics.feature_space import LEAST_SAMPLE
from gramfold.diagnostics.randomness import drawn_from
from gramfold.diagnostics.refits import check_whole
from gramfold.errors import GramfoldError, InputError
from gramfold.neighbors.columns import as_table
from gramfold.notebook.palette import PLAIN
from gramfold.plotting.feature_space import scatter_distances
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.legend import size_in_points
from gramfold.plotting.spectra import leading_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_EIGENVALUES = 10
_ROUNDING = 1e-12  # of the largest eigenvalue
_CONTOURS = 8
_GRID = 80  # points of the grid of the contours along the longer side of the map
_AVERAGED = 12  # rows near a point of it, whose distances are averaged
_AVERAGED_SHARE = 0.02  # of all rows
_BEYOND = 2.0  # distances to the nearest row, from which a point of the grid is off the map
_SAMPLE = 400  # rows between which distances are compared, of a method without a kernel
_NEAREST = 8  # neighbours of a row, where no graph says which they are
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
            _Panel("neighbours", lambda ax: _draw_distances(ax, *_local(self.compared), "input")),
            _Panel("all pairs", lambda ax: _draw_distances(ax, self.features.everywhere, "all pairs", "feature")),
            _Panel("neighbours", lambda ax: _draw_distances(ax, *_local(self.features), "feature")),
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
    def eigenvalues(self) -> NDArray[np.floating]:
        return leading_values(self.model, _EIGENVALUES, "model")

    @cached_property
    def features(self) -> FeatureDistances:
        return feature_distances(self.model, sample=self.sample, random_state=self.random_state)

    @cached_property
    def compared(self) -> FeatureDistances:
        """Distances in the data and on the map."""
        return self.features if self.X is None else _by_rows(self.X, self.model, self.sample)

    def _draw_contours(self, ax: Any, where: Literal["boundary", "centre"]) -> str | None:
        pairs, distances = self.features.everywhere.pairs, self.features.everywhere.feature
        rows = np.unique(pairs)
        places = np.asarray(self.model.embedding_, dtype=float)[rows]
        if len(rows) < 2 or not np.isfinite(places).all():
            raise InputError("Fewer than two rows have a kernel value and a place.")
        row = rows[_chosen(places[:, :2], where)]
        # in the order of `rows`: each other row meets this one once
        meets = (pairs == row).any(axis=1)
        other = pairs[meets].sum(axis=1) - row
        values = np.zeros(len(rows))
        values[np.searchsorted(rows, other)] = distances[meets]
        place = places[np.searchsorted(rows, row)]
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


def _draw_spectrum(ax: Any, values: NDArray[np.floating], shown: int, *, log: bool) -> str | None:
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


def _local(found: FeatureDistances) -> tuple[ComparedDistances, str]:
    """Pairs of neighbours; where none are known, each row and those nearest to it in feature space. And what they are.

    The latter for landmarks, of which hardly two are neighbours, or rows that were never seen (precomputed values).
    """
    if len(found.local.pairs):
        return found.local, "neighbours"
    every = found.everywhere
    rows, place = np.unique(every.pairs, return_inverse=True)
    i, j = place.reshape(-1, 2).T
    of_pair = np.full((len(rows), len(rows)), -1)
    of_pair[i, j] = of_pair[j, i] = np.arange(len(every.feature))
    far = np.append(every.feature, np.inf)[of_pair]  # a row is not near itself
    near = np.argsort(far, axis=1, kind="stable")[:, : min(_NEAREST, len(rows) - 1)]
    some = np.unique(np.take_along_axis(of_pair, near, axis=1))
    nearest = ComparedDistances(
        every.pairs[some],
        every.feature[some],
        every.input[some],
        every.map[some],
        every.principal[some],
        every.negative,
    )
    return nearest, f"{_NEAREST} nearest"


def _label(ax: Any, x: str, y: str) -> None:
    ax.set_xlabel(x, fontsize="x-small")
    ax.set_ylabel(y, fontsize="x-small")


def _by_rows(X: Any, model: Any, sample: int | None) -> FeatureDistances:
    """Distances in the data and on the map by given rows; those in feature space are not asked for."""
    metric = model.get_params().get("metric", "euclidean")
    judged = Judged(X, model.embedding_, n_neighbors=min(_NEAREST, len(model.embedding_) - 1), metric=metric)
    rng = np.random.default_rng(0)
    count = min(sample or _SAMPLE, judged.n)
    drawn = np.sort(rng.choice(judged.n, count, replace=False))
    i, j = np.triu_indices(count, k=1)
    near = np.column_stack([judged.in_data.rows, judged.in_data.indices])

    def compared(pairs: NDArray[np.integer]) -> ComparedDistances:
        first, second = pairs.T
        unknown = np.full(len(pairs), np.nan)
        return ComparedDistances(
            pairs,
            unknown,
            np.asarray(judged.data.between(first, second)),
            np.asarray(judged.map.between(first, second)),
            unknown,
            0.0,
        )

    return FeatureDistances(compared(np.column_stack([drawn[i], drawn[j]])), compared(near), count, judged.n)


def _chosen(places: NDArray[np.floating], where: Literal["boundary", "centre"]) -> int:
    """The row that is farthest from the middle of the map, or nearest to it."""
    far = np.linalg.norm(places - np.median(places, axis=0), axis=1)
    return int(far.argmax() if where == "boundary" else far.argmin())


def _contour(ax: Any, places: NDArray[np.floating], values: NDArray[np.floating]) -> None:
    """Contours of values at scattered places: means of the nearest ones on a grid, where there are rows nearby."""
    from scipy.spatial import cKDTree

    # the dots have the same colours: on a map as thin as a curve contours are too short to be seen
    ax.scatter(*places.T, c=values, cmap="viridis", s=4, linewidths=0, rasterized=True, zorder=0)
    spans = np.ptp(places, axis=0)
    if not (spans > 0).all():
        raise InputError("The map is a line, which has no contours.")
    step = float(spans.max()) / _GRID
    axes = [
        np.arange(low - step, high + 2 * step, step)
        for low, high in zip(places.min(axis=0), places.max(axis=0), strict=True)
    ]
    x, y = np.meshgrid(*axes)
    tree = cKDTree(places)
    k = min(max(_AVERAGED, int(_AVERAGED_SHARE * len(places))), len(places))
    spacing = float(np.quantile(tree.query(places, k=min(4, len(places)))[0][:, -1], 0.9))
    distances, near = (
        np.reshape(found, (x.size, k)) for found in tree.query(np.column_stack([x.ravel(), y.ravel()]), k=k)
    )
    weights = np.exp(-0.5 * np.square(distances / np.maximum(distances[:, -1:], 1e-300) * 2.0))
    means = (weights * values[near]).sum(axis=1) / weights.sum(axis=1)
    means[distances[:, 0] > max(_BEYOND * spacing, step)] = np.nan
    masked = np.ma.masked_invalid(means.reshape(x.shape))
    if np.ptp(values) > 0 and min(masked.shape) >= 2 and not masked.mask.all():
        levels = np.linspace(float(values.min()), float(values.max()), _CONTOURS + 2)[1:-1]
        ax.contour(x, y, masked, levels=levels, colors="0.25", linewidths=0.7)

"""Plot distances on a map against those in its data: the diagram of Shepard.

The line is the monotone function of the distances in the data that fits those on the map best (isotonic regression).
Shepard, Psychometrika 27 (1962); Kruskal, Psychometrika 29 (1964).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramfold.diagnostics import Judged, residual_variance
from gramfold.neighbors.metrics import MetricName
from gramfold.notebook.palette import PLAIN, opacity
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.legend import size_in_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DOTS = 3_000  # pairs up to which each is a dot; more are shaded
_PAIRS = 500_000  # pairs that are drawn at most
_CELL = 1.5  # points, of the shading
_LINE = "#D55E00"


def plot_shepard(
    X: Any,
    Y: Any = None,
    *,
    metric: MetricName = "euclidean",
    title: str | None = None,
    ax: "Axes | None" = None,
    random_state: int = 0,
) -> "Axes":
    """Plot the distances between rows on a map against those in the data.

    On a map that keeps distances all pairs lie on a line through the origin; on one that keeps their order, on the
    monotone line. Up to 3,000 pairs are dots; more are shaded, darker where they are many. Of more than 500,000 pairs
    so many are drawn at random.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns), or a fitted gramfold estimator
        The data; with ``metric="precomputed"`` the matrix of all distances. Of a fitted estimator the training rows and
        its own metric are taken.
    Y : array-like of shape (n_rows, n_components), optional
        The map, however it was made. It may be left out where X is a fitted estimator.
    metric : str or callable, default="euclidean"
        Distance in the data.
    title : str, optional
        Title of the plot. The default is the residual variance, 1 − r² of all pairs, with its 95% interval where it is
        estimated.
    ax : matplotlib Axes, optional
        Axes to draw in. By default a new figure is made.
    random_state : int, default=0
        Seed of the pairs drawn.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from gramfold import PCA
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.plotting import blank_figure, plot_shepard
    >>> model = PCA().fit(make_s_curve(200, random_state=0).points)
    >>> ax = plot_shepard(model, ax=blank_figure().subplots())
    >>> ax.get_title()
    'residual variance 0.0651'
    """
    require_matplotlib()
    judged = Judged(X, Y, n_neighbors=1, metric=metric, random_state=random_state)
    measure = residual_variance(judged)
    in_data, on_map = _distances(judged, random_state)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(figsize=(4.8, 4.4), layout="constrained").add_subplot()
    if len(in_data) <= _DOTS:
        ax.scatter(in_data, on_map, s=6, color=PLAIN, alpha=0.5, linewidths=0)
    else:
        _shade(ax, in_data, on_map)
    at, fitted = monotone_fit(in_data, on_map)
    ax.plot(at, fitted, color=_LINE, linewidth=1.4, label="monotone fit")
    ax.set_xlim(0.0, 1.02 * float(in_data.max()))
    ax.set_ylim(0.0, 1.05 * float(on_map.max()))
    ax.set_xlabel("distance in the data", fontsize="small")
    ax.set_ylabel("distance on the map", fontsize="small")
    ax.tick_params(labelsize="small")
    ax.legend(fontsize="small", loc="upper left", handlelength=1.5, framealpha=0.85, edgecolor="none")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    found = f"residual variance {measure.value:.3g}"
    if measure.interval is not None:
        found += f" ({measure.interval[0]:.3g} to {measure.interval[1]:.3g})"
    ax.set_title(found if title is None else title, fontsize="medium", wrap=True)
    return ax


def monotone_fit(x: NDArray[np.floating], y: NDArray[np.floating]) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """The nondecreasing function of x nearest to y in least squares: the distinct x, and its values there."""
    from scipy.optimize import isotonic_regression

    at, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(place, y) / counts
    return at, np.asarray(isotonic_regression(means, weights=counts.astype(float)).x)


def _distances(judged: Judged, seed: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Distances of all pairs of rows, or of as many as are drawn, in the data and on the map."""
    n = judged.n
    if n * (n - 1) // 2 <= _PAIRS:
        first, second = np.triu_indices(n, k=1)
    else:
        rng = np.random.default_rng(seed)
        first = rng.integers(n, size=_PAIRS)
        second = (first + rng.integers(1, n, size=_PAIRS)) % n
    return np.asarray(judged.data.between(first, second)), np.asarray(judged.map.between(first, second))


def _shade(ax: Any, x: NDArray[np.floating], y: NDArray[np.floating]) -> None:
    from matplotlib.colors import to_rgb

    width, height = (max(int(side / _CELL), 20) for side in size_in_points(ax))
    top = float(x.max()), float(y.max())
    counts, _, _ = np.histogram2d(x, y, bins=(width, height), range=((0.0, top[0]), (0.0, top[1])))
    image = np.zeros((height, width, 4))
    image[..., :3] = to_rgb(PLAIN)
    taken = counts.T > 0
    image[taken, 3] = opacity(counts.T[taken].astype(int))
    ax.imshow(image, extent=(0.0, top[0], 0.0, top[1]), origin="lower", interpolation="nearest", aspect="auto")

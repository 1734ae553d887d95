"""Plot the spectra of several kernels beside each other."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gramfold.diagnostics.leading_values import Shares, shares_of
from gramfold.diagnostics.refits import check_whole
from gramfold.errors import InputError
from gramfold.notebook.palette import OKABE_ITO
from gramfold.plotting.colors import categories
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.legend import add_legend, fitted_legend
from gramfold.plotting.map import add_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY, _REST = "0.75", "0.92"  # of eigenvalues beyond those with a colour, and of what was not computed
_WRITTEN = 0.08  # share from which the number of an eigenvalue is written on its part of a bar
_DECADES = 1e-12  # of the largest: what is smaller is rounding, and has no place on a logarithmic axis


def plot_spectra(
    models: Mapping[str, Any],
    *,
    count: int = 10,
    kind: Literal["bars", "lines"] = "bars",
    scale: Literal["linear", "log"] = "linear",
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Plot the leading eigenvalues of several kernels, each as a share of its total.

    A kernel with two large eigenvalues says that two dimensions hold the data. The total is the sum of the positive
    eigenvalues. Where it is not known (kernels that are functions of sparse matrices, whose trace is not computed), the
    shares are those among the eigenvalues shown, and the name is marked with a star.

    Parameters
    ----------
    models : dict of str to fitted estimator or array-like
        Name and model of each spectrum; or its eigenvalues, all of them.
    count : int, default=10
        Number of eigenvalues of each.
    kind : {"bars", "lines"}, default="bars"
        A bar for each model, divided into the shares; or a line for each model, share against number.
    scale : {"linear", "log"}, default="linear"
        Scale of the shares; "log" for lines only. Shares that are not positive are left out there.
    title : str, optional
        Title of the plot.
    ax : matplotlib Axes, optional
        Axes to draw in. By default a new figure is made.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    References
    ----------
    Weinberger, Sha, Saul, ICML 2004, figs 1 to 5.

    Examples
    --------
    >>> from gramfold import PCA, Isomap
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.plotting import blank_figure, plot_spectra
    >>> X = make_s_curve(200, random_state=0).points
    >>> models = {"PCA": PCA().fit(X), "Isomap": Isomap().fit(X)}
    >>> ax = plot_spectra(models, count=3, ax=blank_figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['PCA', 'Isomap']
    """
    require_matplotlib()
    _check(models, kind, scale)
    found = {name: shares_of(name, model, check_whole(count, "count", 1)) for name, model in models.items()}
    if ax is None:
        import matplotlib.pyplot as plt

        height = 1.2 + 0.4 * len(found) if kind == "bars" else 4.0
        ax = plt.figure(figsize=(6.4, height), layout="constrained").add_subplot()
    shown = {f"{name}{'' if shares.whole else ' *'}": shares for name, shares in found.items()}
    some = not all(shares.whole for shares in found.values())
    notes = ["* of those shown: the trace is not known"] if some else []
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if kind == "bars":
        _draw_bars(ax, shown)
        ax.set_xlabel("share of the positive eigenvalues", fontsize="small")
        add_notes(ax, notes, below=34)
    else:
        _draw_lines(ax, shown, scale)
        lines = add_notes(ax, notes, below=34)
        place = fitted_legend(ax, list(shown))
        add_legend(ax, ax.get_lines()[: len(shown)], list(shown), place, title=None, lines=lines + 1)
    ax.tick_params(labelsize="small")
    if title:
        ax.set_title(title, wrap=True)
    return ax


def _check(models: Any, kind: str, scale: str) -> None:
    if not isinstance(models, Mapping) or not models:
        raise InputError('models must name at least one model: pass a dictionary such as {"Isomap": model}.')
    if kind not in ("bars", "lines"):
        raise InputError(f"kind={kind!r} is not known: use 'bars' or 'lines'.")
    if scale not in ("linear", "log"):
        raise InputError(f"scale={scale!r} is not known: use 'linear' or 'log'.")
    if kind == "bars" and scale == "log":
        raise InputError("scale='log' has no meaning for parts of a bar, which add up: use kind='lines'.")


def _draw_bars(ax: Any, shown: Mapping[str, Shares]) -> None:
    colors = [color for color in OKABE_ITO if color not in ("#000000", "#F0E442")]
    for line, shares in enumerate(shown.values()):
        start = 0.0
        for number, share in enumerate(np.maximum(shares.values, 0.0)):
            color = colors[number] if number < len(colors) else _GREY
            ax.barh(line, share, left=start, color=color, edgecolor="white", linewidth=0.6, height=0.7)
            if share >= _WRITTEN:
                ax.text(
                    start + share / 2,
                    line,
                    str(number + 1),
                    ha="center",
                    va="center",
                    fontsize="x-small",
                    color="white",
                )
            start += share
        ax.barh(line, max(1.0 - start, 0.0), left=start, color=_REST, height=0.7)
    ax.set_xlim(0.0, 1.0)
    ax.set_yticks(range(len(shown)), list(shown))
    ax.invert_yaxis()
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _draw_lines(ax: Any, shown: Mapping[str, Shares], scale: str) -> None:
    from matplotlib.ticker import MaxNLocator

    styles = ["-", "--", ":", "-."]
    for number, ((name, shares), (color, marker)) in enumerate(zip(shown.items(), categories(len(shown)), strict=True)):
        values = shares.values
        at = np.arange(1, len(values) + 1)
        if scale == "log":
            known = values > _DECADES * values.max()
            at, values = at[known], values[known]
        style = styles[number // len(OKABE_ITO) % len(styles)]
        ax.plot(at, values, style, color=color, marker=marker, markersize=4, linewidth=1.2, label=name)
    if scale == "log":
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("number of the eigenvalue", fontsize="small")
    ax.set_ylabel("share", fontsize="small")

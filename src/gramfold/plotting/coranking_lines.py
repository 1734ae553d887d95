"""Plot the neighbours that maps keep at every scale."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gramfold.diagnostics import CorankingCurve
from gramfold.errors import InputError
from gramfold.notebook.palette import OKABE_ITO
from gramfold.plotting.colors import categories
from gramfold.plotting.figure import require_matplotlib
from gramfold.plotting.legend import add_legend, fitted_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = ("-", "--", ":", "-.")


def plot_coranking(
    curves: CorankingCurve | Mapping[str, CorankingCurve], *, title: str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Plot R_NX(K), the share of the K nearest rows that a map keeps beyond chance, against K.

    A curve that is high on the left keeps near neighbours, on the right the large shape. Bands are 95% intervals, where
    rows were drawn. Beside each name stands the area under its curve.

    Parameters
    ----------
    curves : CorankingCurve, or dict of str to CorankingCurve
        Results of `gramfold.diagnostics.r_nx_curve`, with the name of each map.
    title : str, optional
        Title of the plot.
    ax : matplotlib Axes, optional
        Axes to draw in. By default a new figure is made.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from gramfold import PCA
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.diagnostics import r_nx_curve
    >>> from gramfold.plotting import blank_figure, plot_coranking
    >>> X = make_s_curve(200, random_state=0).points
    >>> ax = plot_coranking({"PCA": r_nx_curve(PCA().fit(X))}, ax=blank_figure().subplots())
    >>> ax.get_legend().get_texts()[0].get_text()
    'PCA (area 0.57)'
    """
    require_matplotlib()
    found = curves if isinstance(curves, Mapping) else {"map": curves}
    if not found:
        raise InputError("curves is empty: pass at least one result of gramfold.diagnostics.r_nx_curve.")
    for name, curve in found.items():
        if not isinstance(curve, CorankingCurve):
            raise InputError(
                f"'{name}' is a {type(curve).__name__}: pass what gramfold.diagnostics.r_nx_curve(X, Y) returns."
            )
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(layout="constrained").add_subplot()
    looks = categories(len(found))
    lines = []
    for number, (curve, (color, _)) in enumerate(zip(found.values(), looks, strict=True)):
        style = _STYLES[number // len(OKABE_ITO) % len(_STYLES)]
        lines += ax.plot(curve.n_neighbors, curve.r_nx, style, color=color, linewidth=1.4)
        if curve.interval is not None:
            ax.fill_between(curve.n_neighbors, *curve.interval.T, color=color, alpha=0.2, linewidth=0)
    ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    ax.set_xlim(1, max(float(curve.n_neighbors.max()) for curve in found.values()))
    ax.set_ylim(top=1.0, bottom=min(0.0, *(float(curve.r_nx.min()) for curve in found.values())))
    ax.set_xlabel("number of neighbours K", fontsize="small")
    ax.set_ylabel("neighbours kept, R_NX", fontsize="small")
    ax.tick_params(labelsize="small")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    names = [f"{name} (area {curve.area.value:.2f})" for name, curve in found.items()]
    place = fitted_legend(ax, names)
    add_legend(ax, lines, names, place, title=None, lines=1)
    if title:
        ax.set_title(title, wrap=True)
    return ax

"""Plot entries of a kernel as rows are appended."""

from typing import TYPE_CHECKING

from gramfold.diagnostics import Coefficients
from gramfold.errors import InputError
from gramfold.plotting.colors import categories
from gramfold.plotting.figure import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_MOST_NAMED = 10  # entries in a legend


def plot_coefficients(
    coefficients: Coefficients, *, title: str | None = None, figure: "Figure | SubFigure | None" = None
) -> "Figure | SubFigure":
    """Plot entries of a kernel against the number of rows: as they are, and over the mean of the diagonal.

    Parameters
    ----------
    coefficients : Coefficients
        Result of `gramfold.diagnostics.kernel_coefficients`.
    title : str, optional
        Title above both panels.
    figure : matplotlib Figure or SubFigure, optional
        Figure to draw in. By default a new one is made.

    Returns
    -------
    matplotlib.figure.Figure or SubFigure
        The figure with two panels.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.diagnostics import kernel_coefficients
    >>> from gramfold.plotting import blank_figure, plot_coefficients
    >>> X = make_s_curve(300, random_state=0).points
    >>> figure = plot_coefficients(kernel_coefficients(Isomap(), X, sizes=[100, 200, 300]), figure=blank_figure())
    >>> [ax.get_title() for ax in figure.axes]
    ['K_ij', 'K_ij / (tr K / m)']
    """
    require_matplotlib()
    if not isinstance(coefficients, Coefficients):
        raise InputError(
            f"coefficients is a {type(coefficients).__name__}: pass what "
            "gramfold.diagnostics.kernel_coefficients(model, X) returns."
        )
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    names = [f"i={i}, j={j}" for i, j in coefficients.pairs]
    for ax, values, called in zip(
        axes, (coefficients.raw, coefficients.normalized), ("K_ij", "K_ij / (tr K / m)"), strict=True
    ):
        for column, name, (color, marker) in zip(values.T, names, categories(len(names)), strict=True):
            ax.plot(coefficients.sizes, column, color=color, marker=marker, markersize=3, linewidth=1, label=name)
        ax.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
        ax.set_title(called, fontsize="medium")
        ax.set_xlabel("number of rows m")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    if len(names) <= _MOST_NAMED:
        axes[1].legend(frameon=False, fontsize="x-small", bbox_to_anchor=(1.01, 0.5), loc="center left")
    if title:
        figure.suptitle(title)
    return figure

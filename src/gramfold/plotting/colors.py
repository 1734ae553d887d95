"""Colours of points: a colour scale for numbers, a legend for categories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.errors import InputError
from gramfold.plotting.figure import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

PLAIN = "#3b6ea5"
ABSENT = "#b8b8b8"  # points with a missing value
# told apart by colour-blind readers (Petroff, arXiv 2107.02270); the greys, which are near that of `ABSENT`, are last
FEW_KINDS = (
    *("#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#92dadd", "#a96b59", "#e76300", "#b9ac70"),
    *("#717581", "#94a4a2"),
)
MOST_KINDS = 20  # up to this many distinct integers are categories, not a scale; also the longest legend


@dataclass(frozen=True)
class Coloring:
    """RGBA colour of each point, and the colour scale with its limits or the categories of the legend."""

    rgba: NDArray[np.floating]  # (n, 4)
    cmap: Any = None
    limits: tuple[float, float] | None = None
    kinds: Sequence[tuple[str, Any]] = ()

    def explain(self, figure: "Figure | SubFigure", axes: Sequence["Axes"], label: str | None) -> None:
        """Add a colour bar or a legend beside these axes."""
        if self.limits is not None:
            from matplotlib.cm import ScalarMappable
            from matplotlib.colors import Normalize

            scale = ScalarMappable(Normalize(*self.limits), self.cmap)
            bar = figure.colorbar(scale, ax=list(axes), shrink=0.8, aspect=30, pad=0.02)
            bar.outline.set_visible(False)
            if label:
                bar.set_label(label)
        elif self.kinds:
            from matplotlib.lines import Line2D

            handles = [
                Line2D([], [], linestyle="", marker="o", markersize=5, color=rgba, label=name)
                for name, rgba in self.kinds
            ]
            where: Any = axes[0] if len(axes) == 1 else figure
            place = (
                {"bbox_to_anchor": (1.01, 0.5), "loc": "center left"}
                if len(axes) == 1
                else {"loc": "outside right center"}
            )
            where.legend(handles=handles, title=label, frameon=False, fontsize="small", **place)


def coloring(color: ArrayLike | None, n: int, cmap: str | None = None) -> Coloring:
    """Colours for n points: a scale for numbers; categories for strings, booleans and few distinct integers."""
    mpl = require_matplotlib()
    from matplotlib.colors import is_color_like, to_rgba

    if color is None or (isinstance(color, str) and is_color_like(color)):
        return Coloring(np.tile(to_rgba(PLAIN if color is None else color), (n, 1)))
    given = np.asarray(color)
    if given.shape == (n, 1):
        given = given[:, 0]
    if given.shape != (n,):
        raise InputError(
            f"color has shape {given.shape} for {n} points: give one value per point, or the name of one colour."
        )
    if _are_kinds(given):
        return _kinds(given, mpl.colormaps, cmap)
    if given.dtype.kind not in "biuf":
        raise InputError(
            f"color has values of dtype {given.dtype}, which are neither numbers nor strings: "
            "convert them to one of these."
        )
    numbers = given.astype(float)
    known = np.isfinite(numbers)
    limits = (numbers[known].min(), numbers[known].max()) if known.any() else (0.0, 1.0)
    spread = (limits[1] - limits[0]) or 1.0
    palette = mpl.colormaps[cmap or "viridis"]
    rgba = palette((np.where(known, numbers, limits[0]) - limits[0]) / spread)
    rgba[~known] = to_rgba(ABSENT)
    return Coloring(rgba, palette, (float(limits[0]), float(limits[1])))


def _are_kinds(given: NDArray[Any]) -> bool:
    if given.dtype.kind in "iu":
        return len(np.unique(given)) <= MOST_KINDS
    return given.dtype.kind in "bUSO"


def _kinds(given: NDArray[Any], colormaps: Any, cmap: str | None) -> Coloring:
    from matplotlib.colors import ListedColormap, to_rgba

    numbers = given.dtype.kind in "biu"
    # None and NaN among strings cannot be sorted: convert them to strings too
    labels, codes = np.unique(given if numbers else given.astype(str), return_inverse=True)
    count = len(labels)
    if cmap is None and count <= len(FEW_KINDS):
        palette: Any = ListedColormap(FEW_KINDS)
    else:
        palette = colormaps[cmap or ("tab20" if count <= MOST_KINDS else "turbo")]
    steps = np.arange(count) if count <= palette.N <= MOST_KINDS else np.linspace(0, 1, max(count, 2))[:count]
    colors = palette(steps)
    absent = [j for j, label in enumerate(labels) if str(label) in ("None", "nan", "<NA>", "NaT", "")]
    colors[absent] = to_rgba(ABSENT)
    # a legend of hundreds of names would be of no use
    named = list(zip(map(str, labels), colors, strict=True)) if count <= MOST_KINDS else []
    return Coloring(colors[codes], kinds=named)

"""Colours of points: a colour scale for numbers, a colour and a marker for each category.

Categories have the colours of Okabe and Ito, which people with colour vision deficiencies tell apart. The first eight
are round dots; the next eight have the same hues darker and as squares, then lighter and as triangles, and so on with
five more markers: 64 categories differ from each other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.errors import InputError
from gramfold.notebook.palette import ABSENT, OKABE_ITO, PLAIN, hue_of_category
from gramfold.plotting.figure import require_matplotlib
from gramfold.runtime.close_names import close_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

MOST_KINDS = 20  # up to this many distinct integers are categories, not a scale
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
MOST_NAMED = len(OKABE_ITO) * len(MARKERS)  # categories that differ from each other, and the longest legend
_NO_NAMES = {"None", "nan", "<NA>", "NaT", ""}


@dataclass(frozen=True)
class Kind:
    """A category: its name, colour and marker."""

    name: str
    rgba: Any
    marker: str = "o"


@dataclass(frozen=True)
class Coloring:
    """RGBA colour of each point, and the colour scale with its limits or the categories."""

    rgba: NDArray[np.floating]  # (n, 4)
    cmap: Any = None
    limits: tuple[float, float] | None = None
    kinds: Sequence[Kind] = ()
    codes: NDArray[np.intp] | None = None  # (n,) the category of each point

    @property
    def markers(self) -> list[str]:
        """The markers that occur, in order."""
        return list(dict.fromkeys(kind.marker for kind in self.kinds)) or ["o"]

    @property
    def marker_of(self) -> NDArray[np.str_]:
        """The marker of each point, (n,)."""
        if self.codes is None:
            return np.full(len(self.rgba), "o")
        return np.array([kind.marker for kind in self.kinds])[self.codes]

    @property
    def nameable(self) -> bool:
        """Whether a legend can tell the categories apart."""
        return 0 < len(self.kinds) <= MOST_NAMED

    def handles(self) -> list[Any]:
        """An entry of a legend for each category."""
        from matplotlib.lines import Line2D

        return [
            Line2D([], [], linestyle="", marker=kind.marker, markersize=5, markeredgewidth=0, color=kind.rgba)
            for kind in self.kinds
        ]

    def add_scale(self, figure: "Figure | SubFigure", axes: Sequence["Axes"], label: str | None) -> None:
        """Add a colour bar beside these axes."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        assert self.limits is not None
        scale = ScalarMappable(Normalize(*self.limits), self.cmap)
        bar = figure.colorbar(scale, ax=list(axes), shrink=0.8, aspect=30, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize="small")
        if label:
            bar.set_label(label)


def coloring(color: ArrayLike | None, n: int, cmap: str | None = None) -> Coloring:
    """Colours for n points: a scale for numbers; categories for strings, booleans and few distinct integers."""
    require_matplotlib()
    from matplotlib.colors import to_rgba

    if isinstance(color, str):
        require_color(color, "color")
    if color is None or isinstance(color, str):
        return Coloring(np.tile(to_rgba(PLAIN if color is None else color), (n, 1)))
    given = values_of_points(color, n, "color", ", or the name of one colour")
    if _are_kinds(given):
        return _kinds(given, cmap)
    if given.dtype.kind not in "biuf":
        raise InputError(
            f"color has values of dtype {given.dtype}, which are neither numbers nor strings: "
            "convert them to one of these."
        )
    numbers = given.astype(float)
    known = np.isfinite(numbers)
    low, high = (numbers[known].min(), numbers[known].max()) if known.any() else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    palette = _colormap(cmap or "viridis")
    rgba = palette((np.where(known, numbers, low) - low) / (high - low))
    rgba[~known] = to_rgba(ABSENT)
    return Coloring(rgba, palette, (float(low), float(high)))


def values_of_points(given: Any, n: int, name: str, otherwise: str = "") -> NDArray[Any]:
    """One value for each of n points, (n,), of a list, an array or a column; `name` is what the argument is called."""
    try:
        values = np.asarray(given)
    except ValueError as error:  # lists of different lengths
        raise InputError(f"{name} holds entries of different lengths: give one value per point{otherwise}.") from error
    if values.shape == (n, 1):
        values = values[:, 0]
    if values.shape != (n,):
        raise InputError(f"{name} has shape {values.shape} for {n} points: give one value per point{otherwise}.")
    return values


def known_names(values: NDArray[Any]) -> tuple[list[str], NDArray[np.intp], NDArray[np.bool_]]:
    """The distinct values as strings in natural order ("2 cells" before "16 cells"), with the place of each point's.

    The third result says which of them are names, and not gaps.
    """
    numbers = values.dtype.kind in "biu"
    # None and NaN among strings cannot be sorted: convert them to strings too
    labels, codes = np.unique(values if numbers else values.astype(str), return_inverse=True)
    names = [str(label) for label in labels]
    order = list(range(len(names))) if numbers else sorted(range(len(names)), key=lambda j: _natural(names[j]))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    names = [names[j] for j in order]
    return names, place[codes], np.array([name not in _NO_NAMES for name in names], dtype=bool)


def categories(count: int) -> list[tuple[Any, str]]:
    """Colour and marker of each of so many categories; they repeat after 64."""
    markers = (MARKERS[j // len(OKABE_ITO) % len(MARKERS)] for j in range(count))
    return [(tuple(hue_of_category(j).tolist()), marker) for j, marker in enumerate(markers)]


def _natural(name: str) -> list[tuple[int, float, str]]:
    """Sorts numbers within a name by their size."""
    return [(0, float(part), "") if part.isdecimal() else (1, 0.0, part) for part in re.split(r"(\d+)", name) if part]


def require_color(color: Any, name: str) -> None:
    """Refuse what is no colour."""
    from matplotlib.colors import is_color_like

    if not is_color_like(color):
        raise InputError(
            f"{name}={color!r} is no colour that matplotlib knows: use a name such as 'crimson' or '#3b6ea5'."
        )


def _colormap(cmap: Any) -> Any:
    from matplotlib import colormaps

    if not isinstance(cmap, str):
        return cmap  # one of matplotlib's own objects
    if cmap not in colormaps:
        near = close_names(cmap, colormaps)
        raise InputError(
            f"cmap={cmap!r} is no colormap that matplotlib knows: use {' or '.join(map(repr, near or ['viridis']))}."
        )
    return colormaps[cmap]


def _are_kinds(given: NDArray[Any]) -> bool:
    if given.dtype.kind in "iu":
        return len(np.unique(given)) <= MOST_KINDS
    return given.dtype.kind in "bUSO"


def _kinds(given: NDArray[Any], cmap: str | None) -> Coloring:
    from matplotlib.colors import to_rgba

    names, codes, known = known_names(given)
    count = len(names)
    if cmap is None:
        # a gap takes no colour
        usual = iter(categories(int(known.sum())))
        looks: list[tuple[Any, str]] = [next(usual) if named else (ABSENT, "o") for named in known]
    else:
        palette = _colormap(cmap)
        steps = np.arange(count) if count <= palette.N <= MOST_KINDS else np.linspace(0, 1, max(count, 2))[:count]
        looks = [(color if named else ABSENT, "o") for color, named in zip(palette(steps), known, strict=True)]
    kinds = [Kind(name, np.asarray(to_rgba(color)), marker) for name, (color, marker) in zip(names, looks, strict=True)]
    rgba = np.array([kind.rgba for kind in kinds]).reshape(-1, 4)
    return Coloring(rgba[codes], kinds=kinds, codes=codes)

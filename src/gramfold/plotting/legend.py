"""Legends for any number of entries: beside the axes in columns, or below them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gramfold.plotting.fitted_text import line_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Place = Literal["beside", "below"]

_LONGEST = 40  # characters of an entry; a longer one would take the room of the map
_FEW = 12  # entries up to which a legend has the larger of two sizes of letters
_NARROW = 250.0  # points: narrower axes have the smaller one
_LINE = 1.45  # height of an entry, of that of its letters
_MARKER = 3.0  # width of the marker and the gap before the next column, of the height of the letters
_ROOM = 0.4  # share of the axes that a legend may take
_TICKS = 3.4  # distance of a legend below the axes, of the height of its letters: tick labels stand between


@dataclass(frozen=True)
class Fitted:
    """Where a legend goes, and in how many columns."""

    place: Place
    columns: int
    share: float  # of the height or width of the axes
    letters: float  # points


def shortened(name: str) -> str:
    """A name that is not too long for a legend."""
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def fitted_legend(ax: Any, names: Sequence[str], only: Place | None = None) -> Fitted:
    """The place where a legend of these names takes least of the axes: beside them where that leaves enough."""
    width, height = size_in_points(ax)
    letters = letter_size(len(names), width)
    entry = text_width(names, letters) + _MARKER * letters
    rows = max(1, int(height / (_LINE * letters)) - 1)
    beside = math.ceil(len(names) / rows)
    below = max(1, min(len(names), int(width / entry)))
    choices = [
        Fitted("beside", beside, beside * entry / width, letters),
        Fitted("below", below, math.ceil(len(names) / below) * _LINE * letters / height, letters),
    ]
    if only is not None:
        return next(one for one in choices if one.place == only)
    if fits(choices[0]):
        return choices[0]
    return min(choices, key=lambda one: one.share)


def fits(legend: Fitted) -> bool:
    """Whether it leaves enough room for the map."""
    return legend.share <= _ROOM


def add_legend(
    ax: "Axes", handles: Sequence[Any], names: Sequence[str], place: Fitted, *, title: str | None, lines: int = 0
) -> None:
    """Add a legend outside of the axes; below them under so many lines of notes."""
    from matplotlib.legend import Legend

    where: dict[str, Any] = {"bbox_to_anchor": (1.01, 0.5), "loc": "center left"}
    if place.place == "below":
        where = {"bbox_to_anchor": (0.5, 0.0), "loc": "upper center", "borderaxespad": _TICKS + 1.3 * lines}
    legend = Legend(ax, list(handles), [shortened(name) for name in names], **_style(place, title), **where)
    if ax.get_legend() is None:
        ax.legend_ = legend  # as `ax.legend` does, which would replace one that stands there
    else:
        ax.add_artist(legend)
    legend.set_clip_on(False)


def add_figure_legend(figure: Any, handles: Sequence[Any], names: Sequence[str], *, title: str | None) -> None:
    """Add a legend outside of all axes of a figure, which needs a constrained layout."""
    place = fitted_legend(figure, names)
    where = "outside right center" if place.place == "beside" else "outside lower center"
    figure.legend(handles, [shortened(name) for name in names], loc=where, **_style(place, title))


def _style(place: Fitted, title: str | None) -> dict[str, Any]:
    return {
        "title": title,
        "ncols": place.columns,
        "frameon": False,
        "fontsize": place.letters,
        "title_fontsize": place.letters,
        "handletextpad": 0.3,
        "columnspacing": 0.9,
        "labelspacing": 0.35,
        "handlelength": 1.2,
    }


def letter_size(count: int, width: float) -> float:
    """Height in points of the letters of a legend with so many entries, beside or below axes of this width."""
    from matplotlib.font_manager import font_scalings

    size = _base_size()
    return size * float(font_scalings["small" if count <= _FEW and width >= _NARROW else "x-small"])


def text_width(names: Sequence[str], size: float) -> float:
    """Width in points of the longest of these names."""
    some = sorted({shortened(name) for name in names}, key=len)[-5:]  # the widest is among the longest
    return max((line_width(name, size) for name in some), default=0.0)


def size_in_points(ax: Any) -> tuple[float, float]:
    """Width and height of axes or a figure in points."""
    root = ax.get_figure(root=True)
    width, height = root.get_size_inches() * 72.0
    box = ax.get_position() if hasattr(ax, "get_position") else ax.bbox.transformed(root.transFigure.inverted())
    return float(np.maximum(box.width * width, 1.0)), float(np.maximum(box.height * height, 1.0))


def _base_size() -> float:
    import matplotlib as mpl

    return float(mpl.rcParams["font.size"])

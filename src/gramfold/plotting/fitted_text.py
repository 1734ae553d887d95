"""Texts that fit: their width in points, lines of a given width, and names shortened to it."""

from collections.abc import Callable, Sequence
from functools import lru_cache

_MEASURED = 10.0  # points of letters that are measured
_FEWEST_LETTERS = 5  # of a shortened name: fewer say nothing
_SHIFT = 3  # letters by which names are moved on in search of those in which they differ


def line_width(text: str, size: float) -> float:
    """Width in points of a line of letters of this height."""
    return size * _unit_width(text)


@lru_cache(maxsize=4096)  # outlines of letters are slow, and the same lines are tried in many sizes
def _unit_width(text: str) -> float:
    """The same of letters of one point: widths grow as heights do."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    return float(TextPath((0, 0), text, prop=FontProperties(size=_MEASURED)).get_extents().width) / _MEASURED


def filled_lines(parts: Sequence[str], width: float, size: float) -> list[str]:
    """Parts side by side in as few lines of this width as hold them; a part is never divided, and may be wider."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} {part}" if lines else part
        if lines and line_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def short_names(names: Sequence[str], width: float, size: float) -> list[str]:
    """Names of at most this width: cut at the end, or where more of them stay different."""
    best: list[str] = []
    inner = range(_SHIFT, max(map(len, names), default=0), _SHIFT)
    for how in (_end, _middle, _start, *(_from(first) for first in inner)):
        made = [_cut(name, width, size, how) for name in names]
        if len(set(made)) > len(set(best)):
            best = made
        if len(set(best)) == len(set(names)):
            break
    return best


def _cut(name: str, width: float, size: float, how: Callable[[str, int], str]) -> str:
    if line_width(name, size) <= width:
        return name
    letters = min(len(name) - 1, max(_FEWEST_LETTERS, int(len(name) * width / line_width(name, size)) + 1))
    while letters > _FEWEST_LETTERS and line_width(how(name, letters), size) > width:
        letters -= 1
    return how(name, letters)


def _middle(name: str, letters: int) -> str:
    last = (letters - 1) // 2
    return f"{name[: letters - 1 - last].rstrip()}…{name[len(name) - last :].lstrip()}"


def _end(name: str, letters: int) -> str:
    return f"{name[: letters - 1].rstrip()}…"


def _start(name: str, letters: int) -> str:
    return f"…{name[len(name) - letters + 1 :].lstrip()}"


def _from(first: int) -> Callable[[str, int], str]:
    """Letters from this one on, where both ends of names are alike."""

    def cut(name: str, letters: int) -> str:
        at = min(first, len(name) - letters + 2)
        return f"…{name[at : at + letters - 2].strip()}…"

    return cut

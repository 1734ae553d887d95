"""Titles and captions that fit the panels of a figure: their letters, their lines, and the panels in a row."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gramfold.plotting.fitted_text import filled_lines, line_width, short_names

SMALLEST = 6.0  # points: smaller letters are not read in print
_STEP = 0.5  # points between sizes of letters
_BETWEEN = 8.0  # points between the texts of two panels
_LINE = 1.25  # height of a line, of that of its letters
_PADS = 14.0  # points around a panel, its title and its caption
_MOST_HIGH = 0.6  # of the height of a panel, that its caption may take
_LOST = 0.8  # what a panel is worth with one number fewer under it


@dataclass(frozen=True)
class Words:
    """What could stand under a panel."""

    numbers: tuple[str, ...]  # the most important first
    always: tuple[str, ...]  # below the numbers


@dataclass(frozen=True)
class Layout:
    """Captions of all panels, and how many panels stand in a row."""

    columns: int
    letters: float  # points
    captions: tuple[str, ...]


def fitted_titles(names: Sequence[str], width: float) -> tuple[list[str], float]:
    """Titles above panels of this width in points, and the height of their letters."""
    from matplotlib.font_manager import FontProperties

    room = width - _BETWEEN
    size = FontProperties(size="medium").get_size_in_points()
    while size > SMALLEST + 1 and any(line_width(name, size) > room for name in names):
        size -= _STEP
    return short_names(names, room, size), size


def fitted_captions(words: Sequence[Words], width: float, height: float, columns: Sequence[int]) -> Layout:
    """The number of panels in a row, of these, that leaves the largest ones, with as many numbers as have room."""
    best, most = None, -math.inf
    for count in columns:
        high = height / math.ceil(len(words) / count) - _PADS
        for kept in range(max(len(one.numbers) for one in words), -1, -1):
            found = _with_numbers(words, kept, count, width / count - _BETWEEN, high)
            if found is not None:
                lines = max(text.count("\n") + 1 for text in found.captions)
                side = min(width / count, high - _LINE * (found.letters * lines + _title(found.letters)))
                worth = side * _LOST ** (max(len(one.numbers) for one in words) - kept)
                if worth > most:
                    best, most = found, worth
                break
    # no room for words at all
    return best or Layout(max(columns), SMALLEST, ("",) * len(words))


def _with_numbers(words: Sequence[Words], kept: int, columns: int, width: float, high: float) -> Layout | None:
    """Captions with so many numbers in the largest letters in which they fit; None where they do not."""
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size="small").get_size_in_points()
    while size >= SMALLEST:
        lines = [_lines(one, kept, width, size) for one in words]
        wide = max(line_width(line, size) for text in lines for line in text)
        if wide <= width and _LINE * size * max(map(len, lines)) <= _MOST_HIGH * high:
            return Layout(columns, size, tuple("\n".join(text) for text in lines))
        size -= _STEP
    return None


def _lines(words: Words, kept: int, width: float, size: float) -> list[str]:
    numbers = [f"{number}," for number in words.numbers[: kept - 1]] + list(words.numbers[:kept][-1:])
    always = [line for text in words.always for line in filled_lines(text.split(" "), width, size)]
    return [*filled_lines(numbers if kept else [], width, size), *always]


def _title(letters: float) -> float:
    """Height of the letters of a title above a caption."""
    return letters + 2.0

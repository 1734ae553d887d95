"""Small drawings that stand in a line of a table: a value between its ends, an interval, a share of a time."""

from dataclasses import dataclass

from gramfold.report.charts.scales import Scale
from gramfold.report.markup import clean

_WIDTH, _HEIGHT = 160, 24
_EDGE = 7  # pixels at both ends, so that marks at an end are whole


@dataclass(frozen=True)
class Span:
    """A value and its interval."""

    value: float
    low: float | None = None
    high: float | None = None


def value_bar(scale: Scale, value: Span, words: str, *, plain: float, chance: float, limit: float | None = None) -> str:
    """A dot for the value, a diamond for PCA, a short line for chance; a long one for a limit."""
    middle = _HEIGHT / 2
    parts = [f'<line class="track" x1="{_EDGE}" y1="{middle}" x2="{_WIDTH - _EDGE}" y2="{middle}"/>']
    if limit is not None and _known(limit):
        at = _along(scale, limit)
        parts.append(f'<line class="limit" x1="{at}" y1="2" x2="{at}" y2="{_HEIGHT - 2}"/>')
    if _known(chance):
        at = _along(scale, chance)
        parts.append(f'<line class="chance" x1="{at}" y1="{middle - 5}" x2="{at}" y2="{middle + 5}"/>')
    if value.low is not None and value.high is not None:
        ends = _along(scale, value.low), _along(scale, value.high)
        parts.append(f'<line class="interval" x1="{ends[0]}" y1="{middle}" x2="{ends[1]}" y2="{middle}"/>')
    if _known(value.value):
        parts.append(f'<circle class="value" cx="{_along(scale, value.value)}" cy="{middle}" r="4.5"/>')
    if _known(plain):
        parts.append(f'<path class="plain" d="M{_along(scale, plain)} {middle - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z"/>')
    return _small(words, parts)


def range_bar(scale: Scale, value: Span, words: str, *, second: float | None = None) -> str:
    """A dot and its interval; a ring for a second value, such as a corrected one."""
    middle = _HEIGHT / 2
    parts = [f'<line class="track" x1="{_EDGE}" y1="{middle}" x2="{_WIDTH - _EDGE}" y2="{middle}"/>']
    if value.low is not None and value.high is not None:
        ends = _along(scale, value.low), _along(scale, value.high)
        parts.append(f'<line class="interval" x1="{ends[0]}" y1="{middle}" x2="{ends[1]}" y2="{middle}"/>')
    if _known(value.value):
        parts.append(f'<circle class="value" cx="{_along(scale, value.value)}" cy="{middle}" r="4.5"/>')
    if second is not None and _known(second):
        parts.append(f'<circle class="second" cx="{_along(scale, second)}" cy="{middle}" r="6.5"/>')
    return _small(words, parts)


def stage_bar(start: float, share: float, words: str) -> str:
    """A part of a whole, where it begins and how long it is."""
    room = _WIDTH - 2
    wide = max(room * share, 1.5)
    at = min(1 + room * start, _WIDTH - 1 - wide)
    track = f'<rect class="whole" x="1" y="8" width="{room}" height="8"/>'
    return _small(words, [track, f'<rect class="part" x="{at:.1f}" y="8" width="{wide:.1f}" height="8"/>'])


def _small(words: str, parts: list[str]) -> str:
    return (
        f'<svg class="bar" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{clean(words)}">{"".join(parts)}</svg>'
    )


def _along(scale: Scale, value: float) -> str:
    share = min(max(float(scale(value)), 0.0), 1.0)
    return f"{_EDGE + share * (_WIDTH - 2 * _EDGE):.1f}"


def _known(value: float) -> bool:
    return value == value and abs(value) != float("inf")

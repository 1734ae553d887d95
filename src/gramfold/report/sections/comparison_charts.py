"""A small chart for each measure: a dot for each map on one line each, with its interval."""

from collections.abc import Callable

import numpy as np

from gramfold.report.compared import ComparedEntry, ComparedSubject, known
from gramfold.report.markup import clean
from gramfold.report.sections.comparison_tables import marks_of
from gramfold.report.sections.comparison_terms import Term, number, sentence, term_of

_WIDTH = 360
_NAMES = 142  # pixels for the names of maps
_RIGHT, _TOP, _LINE, _FOOT = 12, 6, 22, 22
_LETTERS = 18  # of a name, which is shortened beyond
_STEPS = 5  # of an axis, at most


def measure_charts(subject: ComparedSubject) -> str:
    """All of them; none where fewer than two maps were judged."""
    judged = [one for one in subject.entries if one.measures]
    if len(judged) < 2:
        return ""
    charts = "".join(_chart(subject, judged, name) for name in subject.measures)
    return (
        '<section id="charts" aria-labelledby="charts-title"><h2 id="charts-title">The same as pictures</h2>'
        "<p>A dot for each map, its 95% interval as a line where rows were drawn. Filled: the best, and those level "
        f'with it. The arrow points to the better end.</p><div class="measure-charts">{charts}</div></section>'
    )


def _chart(subject: ComparedSubject, judged: list[ComparedEntry], name: str) -> str:
    term, marks = term_of(name), marks_of(subject, name)
    low, high, ticks = _axis(judged, name, term)
    height = _TOP + _LINE * len(judged) + _FOOT
    bottom = height - _FOOT

    def across(value: float) -> float:
        return _NAMES + (value - low) / (high - low) * (_WIDTH - _NAMES - _RIGHT)

    parts = [
        f'<line class="grid" x1="{across(tick):.1f}" x2="{across(tick):.1f}" y1="{_TOP}" y2="{bottom}"/>'
        f'<text class="tick" x="{across(tick):.1f}" y="{height - 6}" text-anchor="middle">{_short(tick, ticks)}</text>'
        for tick in ticks
    ]
    for j, one in enumerate(judged):
        middle = _TOP + _LINE * (j + 0.5)
        parts.append(
            f'<text class="name" x="{_NAMES - 10}" y="{middle + 4:.1f}" text-anchor="end">'
            f"<title>{clean(one.name)}</title>{sentence(_shortened(one.name))}</text>"
        )
        parts.append(_dot(one, name, middle, across, filled=marks.get(one.name, "collapsed") != "collapsed"))
    words = _in_words(judged, name)
    return (
        f'<figure class="chart"><figcaption>{clean(term.title)} '
        f'<span class="way">{"→" if term.higher else "←"} {term.better}</span></figcaption>'
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{clean(term.title)}: {clean(words)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _dot(one: ComparedEntry, name: str, middle: float, across: Callable[[float], float], *, filled: bool) -> str:
    measure = one.measures.get(name)
    if measure is None or not known(measure.value):
        return f'<text class="tick" x="{_NAMES + 4}" y="{middle + 4:.1f}">not known</text>'
    line = ""
    if measure.interval is not None:
        ends = [across(end) for end in measure.interval]
        line = f'<line class="range" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
    kind = "dot filled" if filled else "dot"
    return (
        f'{line}<circle class="{kind}" cx="{across(measure.value):.1f}" cy="{middle:.1f}" r="4.5">'
        f"<title>{clean(one.name)}: {number(measure.value)}</title></circle>"
    )


def _axis(judged: list[ComparedEntry], name: str, term: Term) -> tuple[float, float, list[float]]:
    """Both ends, which hold all values and intervals, and ticks at round numbers."""
    seen = [
        end
        for one in judged
        if name in one.measures
        for end in (one.measures[name].value, *(one.measures[name].interval or ()))
    ]
    finite = [value for value in seen if np.isfinite(value)]
    low, high = min([term.low, *finite]), max([term.high, *finite])
    rough = (high - low) / _STEPS
    unit = 10.0 ** np.floor(np.log10(rough))
    step = float(unit * next(times for times in (1, 2, 2.5, 5, 10) if unit * times >= rough * (1 - 1e-9)))
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    if low == term.low:  # where the axis begins at a value that means something
        first = int(np.ceil(low / step - 1e-9))
    else:
        low = first * step
    return low, last * step, [step * j for j in range(first, last + 1)]


def _short(tick: float, ticks: list[float]) -> str:
    """As few digits as tell ticks apart."""
    digits = next((d for d in range(4) if all(abs(round(one, d) - one) < 1e-9 for one in ticks)), 3)
    return number(tick, digits)


def _shortened(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"


def _in_words(judged: list[ComparedEntry], name: str) -> str:
    return ", ".join(f"{one.name} {number(one.measures[name].value)}" for one in judged if name in one.measures)

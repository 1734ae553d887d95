"""Every measure of the map beside that of PCA and that of chance, on the same rows."""

from dataclasses import dataclass

import numpy as np

from gramfold.diagnostics import Measure
from gramfold.report.charts import Linear, Span, value_bar
from gramfold.report.charts.scales import minus
from gramfold.report.markup import clean, code, paragraph, section, table, value
from gramfold.report.sections.found import Beside, Found
from gramfold.report.sections.verdict import looked_at
from gramfold.runtime.counting import counted

_DIGITS = 3
_SAME = 0.5 * 10**-_DIGITS  # a difference that is not seen in the table


@dataclass(frozen=True)
class _Meaning:
    title: str
    words: str
    best: float
    least: float  # where its drawing begins

    @property
    def higher(self) -> bool:
        """Whether more is better."""
        return self.best > self.least

    @property
    def scale(self) -> Linear:
        """Of its drawing: better is to the right."""
        return Linear(self.least, self.best)


_MEANINGS = {
    "trustworthiness": _Meaning(
        "Trustworthiness", "Neighbours on the map are neighbours in the data; low where strangers are glued.", 1.0, 0.0
    ),
    "continuity": _Meaning(
        "Continuity", "Neighbours in the data are neighbours on the map; low where neighbours are torn apart.", 1.0, 0.0
    ),
    "lcmc": _Meaning("LCMC", "Share of the nearest neighbours that the map keeps, less what chance keeps.", 1.0, 0.0),
    "r_nx": _Meaning("R<sub>NX</sub>", "The same share, rescaled: 0 by chance, 1 if all are kept.", 1.0, 0.0),
    "r_nx_area": _Meaning(
        "Area under R<sub>NX</sub>", "Neighbours kept at all scales, of which small ones count most.", 1.0, 0.0
    ),
    "distance_correlation": _Meaning(
        "Rank correlation of distances", "Distances keep their order, over all pairs (Spearman).", 1.0, 0.0
    ),
    "residual_variance": _Meaning(
        "Residual variance", "Share of the variance of distances that the map does not explain.", 0.0, 1.0
    ),
    "stress": _Meaning("Stress", "How far lengths are changed, after the best common scale (Kruskal).", 0.0, 1.0),
    "triplet_accuracy": _Meaning("Triplets", "Of two other rows, the map shows the same one nearer.", 1.0, 0.0),
    "density_preservation": _Meaning(
        "Density", "The map is dense where the data are (correlation of log radii).", 1.0, 0.0
    ),
}
_LEAD = (
    "No single number decides: a map that collapses groups to points can be trustworthy, and one that puts strangers "
    "together can be continuous. The first five measures look at neighbours, the next four at distances."
)
_KEY = (
    '<ul class="marks-key" aria-label="Marks"><li><svg class="bar" viewBox="0 0 14 14" width="14" height="14" '
    'aria-hidden="true"><circle class="value" cx="7" cy="7" r="4.5"/></svg> this map, with its interval</li>'
    '<li><svg class="bar" viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">'
    '<path class="plain" d="M1.5 7L7 1.5L12.5 7L7 12.5z"/></svg> {plain}</li>'
    '<li><svg class="bar" viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">'
    '<line class="chance" x1="7" y1="2" x2="7" y2="12"/></svg> chance</li>{limit}</ul>'
)
_LIMIT = (
    '<li><svg class="bar" viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">'
    '<line class="limit" x1="7" y1="0" x2="7" y2="14"/></svg> limit</li>'
)


def marks_key(plain: str, *, limit: bool) -> str:
    """What the marks of the small drawings are."""
    return _KEY.format(plain=clean(plain), limit=_LIMIT if limit else "")


def quality_section(found: Found) -> str:
    """The table, and in a sentence how the map compares with PCA."""
    beside = found.beside
    heads = [
        "Measure",
        "This map",
        clean(beside.plain_name),
        "Chance",
        f"Beside {clean(beside.plain_name)}",
        "Drawn, better to the right",
    ]
    rows = [(_head(name), _cells(name, beside)) for name in beside.own]
    caption = "Measures of the map, of another map of the same rows, and by chance"
    lead = (
        paragraph(_LEAD)
        + paragraph(clean(_summary(beside)))
        + looked_at(found, found.measured)
        + paragraph(_chance(found), "looked")
    )
    body = marks_key(beside.plain_name, limit=False) + table(caption, heads, rows, kind="quality")
    return section("quality", f"Quality, beside {beside.plain_name} and chance", lead, body)


def _head(name: str) -> str:
    one = _MEANINGS[name]
    way = f"{one.best:.0f} is best, {'higher' if one.higher else 'lower'} is better"
    return (
        f'<span class="term">{one.title}</span> {code(name)}<span class="means">{one.words} '
        f'<span class="way">{way}.</span></span>'
    )


def _cells(name: str, beside: Beside) -> list[str]:
    own, plain, chance = beside.own[name], beside.plain[name], beside.chance[name]
    span = Span(own.value) if own.interval is None else Span(own.value, *own.interval)
    others = f"{beside.plain_name} {_written(plain.value)}, chance {_written(chance)}"
    words = f"{name}: this map {_written(own.value)}, {others}"
    bar = value_bar(_MEANINGS[name].scale, span, words, plain=plain.value, chance=chance)
    reason = f'<span class="means">{clean(beside.reasons[name])}</span>' if name in beside.reasons else ""
    return [
        _measure(f"measures.{name}", own) + reason,
        _measure(f"pca.{name}", plain),
        value(f"chance.{name}", chance, _written(chance)),
        _compared(name, own, plain, turned=beside.turned > 0),
        bar,
    ]


def _measure(key: str, one: Measure) -> str:
    """A value with its interval."""
    shown = value(key, one.value, _written(one.value))
    if one.interval is None or not np.isfinite(one.value):
        return shown
    low, high = one.interval
    ends = value(f"{key}.low", low, _written(low)), value(f"{key}.high", high, _written(high))
    return f'{shown}<span class="interval">{ends[0]} to {ends[1]}</span>'


def _difference(name: str, own: Measure, plain: Measure) -> float:
    """How much better the map is; 0 where that is not seen, or less than both intervals leave open; NaN if unknown."""
    more = (own.value - plain.value) * (1.0 if _MEANINGS[name].higher else -1.0)
    if not np.isfinite(more):
        return float("nan")
    open_ = sum((one.interval[1] - one.interval[0]) / 2 for one in (own, plain) if one.interval is not None)
    return 0.0 if abs(more) <= max(_SAME, open_) else float(more)


def _seen(own: Measure, plain: Measure) -> bool:
    """Whether the values differ in the table."""
    return bool(abs(own.value - plain.value) > _SAME)


def _compared(name: str, own: Measure, plain: Measure, *, turned: bool) -> str:
    more = _difference(name, own, plain)
    if np.isnan(more):
        return "–"
    if more == 0.0:
        alike = "no difference beyond the intervals" if _seen(own, plain) else "the same"
        return f'<span class="mark">{alike}</span>'
    if turned:  # nothing can be better, so that worse says nothing
        return f'<span class="mark">{minus(f"{own.value - plain.value:+.{_DIGITS}f}")}</span>'
    word = "better" if more > 0 else "worse"
    return f'<span class="mark" data-state="{word}">{word} by {_written(abs(more))}</span>'


def _summary(beside: Beside) -> str:
    """How the map compares with PCA."""
    if beside.turned:
        p, columns = counted(beside.turned, "dimension"), counted(beside.turned, "column")
        return (
            f"In {p} {beside.plain_name} only turns the {columns}, so that nothing can be better by these measures; "
            "they compare with straight lines, which a map that unrolls a curved shape changes on purpose."
        )
    found = [_difference(name, one, beside.plain[name]) for name, one in beside.own.items() if name in beside.plain]
    known = [one for one in found if np.isfinite(one)]
    better, worse = sum(one > 0 for one in known), sum(one < 0 for one in known)
    if not known:
        return f"No measure is defined for both this map and that of {beside.plain_name}."
    if not better and not worse:
        return (
            f"On these rows the map does not differ from that of {beside.plain_name} in any of "
            f"{counted(len(known), 'measure')}."
        )
    alike = len(known) - better - worse
    also = f", and alike in {alike}" if alike else ""
    return (
        f"The map is better than that of {beside.plain_name} in {better} of {counted(len(known), 'measure')}, worse in "
        f"{worse}{also}."
    )


def _chance(found: Found) -> str:
    deals = found.beside.deals
    mean = "" if deals == 1 else f", the mean of {deals} times"
    words = f"Chance: the places of this map, dealt to the rows at random{mean}."
    return clean(words)


def _written(number: float) -> str:
    if np.isnan(number):
        return "not defined"
    return minus(f"{round(number, _DIGITS) + 0.0:.{_DIGITS}f}")

"""The four faults as a table: total, limit, PCA and chance, with what was found in words."""

import numpy as np

from gramfold.diagnostics import Fault
from gramfold.diagnostics.four_faults import percent
from gramfold.diagnostics.plain_words import FEWEST
from gramfold.report.charts import Linear, Span, value_bar
from gramfold.report.markup import MissingPartError, clean, paragraph, section, sentence, table, value
from gramfold.report.sections.found import Found, plain_name
from gramfold.report.sections.quality import marks_key
from gramfold.report.sections.verdict import STATES, state_of, total_and_limit

_MEANING = {
    "glued": "Rows that are far apart in the data are neighbours on the map.",
    "torn": "Neighbours in the data are far apart on the map.",
    "strained": "Distances between neighbours are changed, beyond one common scale.",
    "collapsed": "Rows that differ share a place, or lie in a crowd.",
}
_LEAD = (
    "A map can fail in four ways, and one number cannot tell them apart. Each has a limit, made of what PCA and chance "
    "give on the same rows; above it the fault is named."
)


def faults_section(found: Found) -> str:
    """The table."""
    judged, faults = found.judged, found.faults
    if faults is None:
        few = f"with {judged.n:,} rows no fault can be told from chance; {FEWEST} are needed"
        raise MissingPartError(f"{few}.")
    plain = plain_name(judged)
    heads = ["Fault", "This map", "Limit", clean(plain), "Chance", "0 to 100%"]
    rows = [(_head(fault), _cells(fault, plain)) for fault in faults]
    kept = faults.kept
    interval = "" if kept.interval is None else f" ({percent(kept.interval[0])} to {percent(kept.interval[1])})"
    keeps = (
        f"Of the {judged.n_neighbors} nearest rows in the data the map keeps "
        f"{value('faults.kept', kept.value, percent(kept.value))}{interval} among as many nearest; by chance "
        f"{percent(judged.n_neighbors / (judged.n - 1))}."
    )
    body = marks_key(plain, limit=True) + table(
        "Each fault: how much of it the map has, and from where on it is named", heads, rows, kind="faults"
    )
    return section("faults", "The four faults", paragraph(_LEAD) + paragraph(keeps), body)


def _head(fault: Fault) -> str:
    return f'<span class="term">{fault.name}</span><span class="means">{_MEANING[fault.name]}</span>'


def _cells(fault: Fault, plain: str) -> list[str]:
    state = state_of(fault)
    shown = f'<span class="mark" data-state="{state}">{STATES[state]}</span>'
    total, limit = total_and_limit(fault)
    own = f"{total}{_interval(fault)}{shown}"
    chance = (
        "–" if fault.name == "collapsed" else value(f"faults.{fault.name}.chance", fault.chance, percent(fault.chance))
    )
    span = Span(fault.total) if fault.interval is None else Span(fault.total, *fault.interval)
    words = (
        f"{fault.name}: {percent(fault.total)}, limit {percent(fault.threshold)}, {plain} {percent(fault.plain)}, "
        f"chance {percent(fault.chance)}"
    )
    shown_chance = float("nan") if fault.name == "collapsed" else fault.chance
    bar = value_bar(Linear(0.0, 1.0), span, words, plain=fault.plain, chance=shown_chance, limit=fault.threshold)
    return [
        own,
        limit,
        value(f"faults.{fault.name}.plain", fault.plain, percent(fault.plain)),
        chance,
        bar + f'<span class="words">{clean(sentence(fault.words))}</span>',
    ]


def _interval(fault: Fault) -> str:
    if fault.interval is None or not np.isfinite(fault.total):
        return ""
    low, high = fault.interval
    if percent(low) == percent(high):
        return ""
    ends = value(f"faults.{fault.name}.low", low, percent(low)), value(f"faults.{fault.name}.high", high, percent(high))
    return f'<span class="interval">{ends[0]} to {ends[1]}</span>'

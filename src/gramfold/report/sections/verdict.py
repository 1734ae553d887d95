"""The verdict, before the map: the shape of the data, the four faults as badges, and the sentences with their tests."""

import numpy as np

from gramfold.diagnostics import Fault, Judged, Verdict
from gramfold.diagnostics.four_faults import percent
from gramfold.diagnostics.next_step import usual_faults
from gramfold.diagnostics.plain_words import FEW, FEWEST, merged, undecided
from gramfold.report.charts import number
from gramfold.report.markup import clean, details, named, not_shown, paragraph, value
from gramfold.report.sections.found import Found
from gramfold.runtime.counting import counted

_SHAPES = {
    "line": "The data lie on a line",
    "ring": "The data lie on a ring",
    "sheet": "The data lie on a sheet",
    "sphere": "The data lie on a closed surface",
    "branches": "The data branch",
    "groups": "The data fall into groups",
    "noise": "The data look like noise",
    "unclear": "The shape of the data is unclear",
}
_MOST_DIGITS = 6
_BY_ROW, _HALF = "faults of each row", 0.5  # the test behind the sentence on rows, and of the rows
_NOTHING = 5e-7  # a share that is a rounding error
_NAMES = ("glued", "torn", "strained", "collapsed")
STATES = {
    "above": "above its limit",
    "below": "within its limit",
    "usual": "no more than on the map of PCA",
    "open": "cannot be decided from the rows drawn",
    "unknown": "not judged",
}


def verdict_section(found: Found) -> str:
    """Headline, badges, sentences."""
    verdict = found.verdict
    if verdict is None:
        reason = found.subject.unjudged or "rows and map cannot be compared"
        return _framed("This map was not judged.", not_shown(reason))
    items = "".join(f"<li>{named(one.text)}</li>" for one in verdict.sentences)
    tests = "".join(f"<li>{_test(j, one.test, one.number)}</li>" for j, one in enumerate(verdict.sentences))
    behind = details("The tests behind these sentences", f'<ol class="tests">{tests}</ol>')
    said = f'<div class="said"><ol class="sentences">{items}</ol>{looked_at(found, found.judged)}{behind}</div>'
    return _framed(headline(verdict, found), f'<div class="judged">{_badges(found)}{said}</div>')


def _framed(title: str, body: str) -> str:
    return (
        '<section id="verdict" aria-labelledby="verdict-heading"><h2 id="verdict-heading">'
        f'<span class="over">Verdict</span> <span class="headline">{title}</span></h2>{body}</section>'
    )


def headline(verdict: Verdict, found: Found) -> str:
    """The shape and the faults in a line of HTML."""
    shape = clean(_SHAPES[verdict.kind]) + ("" if verdict.sure != "likely" else " (likely)")
    if verdict.faults:
        words = [f"<em>{clean(name)}</em>" for name in verdict.faults]
        listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
        return f"{shape}. The map is {listed}."
    if found.faults is None:
        return f"{shape}. There are too few rows to judge the map."
    if any(undecided(fault) for fault in found.faults):
        return f"{shape}. No fault of the map is certain."
    crowds = merged(found.faults)
    held = "no fault beyond those of PCA" if crowds or usual_faults(found.faults) else "none of the four faults"
    doubtful = max((one.number for one in verdict.sentences if one.test == _BY_ROW), default=0.0)
    but = ["most rows lie on top of others"] * crowds + ["most of its rows are not to be trusted"] * (doubtful > _HALF)
    return f"{shape}. The map has {held}{', but ' * bool(but)}{' and '.join(but)}."


def state_of(fault: Fault) -> str:
    """Above, below, as usual (much of it, though no more than on the map of PCA), open or unknown."""
    if np.isnan(fault.total):
        return "unknown"
    if fault.name == "collapsed" and _HALF < fault.total <= fault.threshold:
        return "usual"
    if undecided(fault):
        return "open"
    return "above" if fault.named else "below"


def _badges(found: Found) -> str:
    if found.faults is None:
        known = () if found.verdict is None else found.verdict.faults  # a map of one place has collapsed all the same
        states = {name: "above" if name in known else "unknown" for name in _NAMES}
        badges = "".join(_badge(name, states[name], "", "") for name in _NAMES)
    else:
        badges = "".join(
            _badge(
                fault.name,
                _named_state(fault, found),
                *(("", "") if np.isnan(fault.total) else total_and_limit(fault)),
            )
            for fault in found.faults
        )
    return f'<ul class="badges" aria-label="The four faults">{badges}</ul>'


def total_and_limit(fault: Fault) -> tuple[str, str]:
    """Both in per cent, with more digits where they would look the same."""
    total, limit = percent(fault.total), percent(fault.threshold)
    digits = 1
    while total == limit and fault.total != fault.threshold and digits < _MOST_DIGITS:
        total, limit = (f"{100 * one:.{digits}f}%" for one in (fault.total, fault.threshold))
        digits += 1
    return (
        value(f"faults.{fault.name}.total", fault.total, total),
        value(f"faults.{fault.name}.threshold", fault.threshold, limit),
    )


def _named_state(fault: Fault, found: Found) -> str:
    """That of the fault; a map of one place has collapsed, whatever else is known."""
    collapsed = found.verdict is not None and fault.name in found.verdict.faults
    state = state_of(fault)
    return "above" if collapsed and state == "unknown" else state


def _badge(name: str, state: str, total: str, limit: str) -> str:
    sign = {"above": "✗", "below": "✓", "usual": "!", "open": "?", "unknown": "–"}[state]
    of = "" if state == "usual" else f'<span class="limit">limit {limit}</span>'
    numbers = f'<span class="number">{total}</span>{of}' if total else ""
    return (
        f'<li data-fault="{name}" data-state="{state}"><span class="sign" aria-hidden="true">{sign}</span>'
        f'<b>{name}</b>{numbers}<span class="state">{STATES[state]}</span></li>'
    )


def _test(j: int, test: str, found: float) -> str:
    """What stands behind a sentence."""
    if np.isnan(found):
        return clean(test)
    shown = "0" if abs(found) < _NOTHING else number(found)
    return f"{clean(test)}, {value(f'verdict.{j}', found, shown)}"


def looked_at(found: Found, judged: Judged) -> str:
    """How many rows the numbers of a comparison are of."""
    placed = int(np.isfinite(found.subject.Y).all(axis=1).sum())
    absent = len(found.subject.Y) - placed
    without = f" {counted(absent, 'row')} without a place {'is' if absent == 1 else 'are'} left out." if absent else ""
    if judged.exact and judged.n == placed:
        words = f"All {judged.n:,} rows were looked at, each with its {judged.n_neighbors} nearest."
    else:
        among = f"{judged.n:,} rows"
        if judged.n < placed:
            among = f"{judged.n:,} of {placed:,} rows that were drawn at random"
        words = (
            f"{len(judged.rows):,} rows, drawn at random, were compared with all of {among}, each with its "
            f"{judged.n_neighbors} nearest among these; numbers that are not exact have a 95% interval."
        )
    words += without
    if judged.n_given < judged.n_all:
        words += (
            f" The map was fitted to {judged.n_all:,} rows in partitions, of which the page shows the "
            f"{judged.n_given:,} that the model holds."
        )
    if FEWEST <= judged.n < FEW:
        words += f" {judged.n} rows are few: each counts for much, and chance may change what is said."
    return paragraph(clean(words), "looked")

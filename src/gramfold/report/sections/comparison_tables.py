"""Tables of a comparison: measures with their intervals, faults, costs, and what failed or warned."""

import numpy as np

from gramfold.diagnostics import Fault, Measure
from gramfold.report.compared import ComparedEntry, ComparedSubject, Ranking, collapsed, known
from gramfold.report.markup import clean
from gramfold.report.sections.comparison_terms import Term, name_of, number, term_of
from gramfold.runtime.counting import counted

_FAULTS = {
    "glued": "strangers that are neighbours on the map",
    "torn": "neighbours that are strangers on the map",
    "strained": "change of lengths between neighbours",
    "collapsed": "rows that share a place or a crowd",
}


def measures_table(subject: ComparedSubject) -> str:
    """A row for each map, a column for each measure; the best is marked in words."""
    names = subject.measures
    if not names:
        return ""
    marks = {name: marks_of(subject, name) for name in names}
    heads = "".join(_measure_head(name, term_of(name)) for name in names)
    rows = "".join(
        _row(one, "".join(_measure_cell(one, name, marks[name].get(one.name, "")) for name in names))
        for one in subject.entries
    )
    return (
        '<section id="measures" aria-labelledby="measures-title"><h2 id="measures-title">The numbers</h2>'
        f"<p>{_how_to_read(subject)}</p>"
        f"{_scrolling('measures-table', 'Measures of each map', heads, rows)}"
        f"{_terms(subject)}</section>"
    )


def marks_of(subject: ComparedSubject, measure: str) -> dict[str, str]:
    """The word beside the value of a map, by its name: best, level, collapsed, highest or lowest."""
    values = {
        one.name: one.measures[measure].value
        for one in subject.entries
        if measure in one.measures and known(one.measures[measure].value)
    }
    if len(values) < 2:  # there is nothing to be better than
        return {}
    ranking = subject.ranking_by(measure)
    if ranking is not None:
        return _ranked_marks(ranking)
    able = {one.name: values[one.name] for one in subject.entries if one.name in values and not collapsed(one)}
    higher = term_of(measure).higher
    best = (max if higher else min)((able or values).values())
    return {name: "highest" if higher else "lowest" for name, value in (able or values).items() if value == best}


def _ranked_marks(ranking: Ranking) -> dict[str, str]:
    first = (
        {ranking.winner: "best"} if ranking.decided else dict.fromkeys([ranking.winner, *ranking.level_with], "level")
    )
    return {**first, **dict.fromkeys(ranking.passed_over, "collapsed")}


def _how_to_read(subject: ComparedSubject) -> str:
    words = (
        "<b>best</b>: ahead of all others by more than noise. <b>level</b>: the margin among these is no more than "
        "noise. <b>highest</b>, <b>lowest</b>: no test of the margin was made. A map that collapsed is not the best."
    )
    if subject.n_sampled < subject.n_judged:
        words += (
            f" Small numbers are 95% intervals, since distances were measured from {subject.n_sampled:,} of "
            f"{subject.n_judged:,} rows; a number without one is of all rows."
        )
    return words


def _terms(subject: ComparedSubject) -> str:
    terms = "".join(
        f"<div><dt>{clean(term_of(name).title)}</dt><dd>{clean(term_of(name).meaning)}</dd></div>"
        for name in subject.measures
    )
    return f'<dl class="terms">{terms}</dl>'


def _measure_head(name: str, term: Term) -> str:
    return (
        f'<th scope="col" data-measure="{clean(name)}" data-better="{"high" if term.higher else "low"}">'
        f'<span class="title">{clean(term.title)}</span><code>{clean(name)}</code>'
        f'<span class="way">{"↑" if term.higher else "↓"} {term.better}</span></th>'
    )


def _measure_cell(one: ComparedEntry, name: str, mark: str) -> str:
    measure = one.measures.get(name, Measure(float("nan")))
    interval = ""
    if measure.interval is not None:
        low, high = (number(end) for end in measure.interval)
        interval = f' <span class="interval"><span class="away">95% interval </span>{low} to {high}</span>'
    best = mark in ("best", "level", "highest", "lowest")
    return (
        f'<td data-measure="{clean(name)}"{_sorted_by(measure.value)}{" class=top" if best else ""}>'
        f'<span class="value">{number(measure.value)}</span>{_mark(mark)}{interval}</td>'
    )


def _mark(word: str) -> str:
    return f' <span class="mark {word}">{word}</span>' if word else ""


# --- faults


def faults_table(subject: ComparedSubject) -> str:
    """How much of each fault each map has, beside its threshold, and what was found."""
    judged = [one for one in subject.entries if one.faults is not None]
    if not judged:
        return ""
    heads = "".join(
        f'<th scope="col"><span class="title">{name}</span><span class="way">{words}</span></th>'
        for name, words in _FAULTS.items()
    )
    rows = "".join(_row(one, "".join(_fault_cell(fault) for fault in one.faults or ())) for one in judged)
    found = "".join(
        f"<li>{name_of(one.name)}: {clean(fault.words)}</li>"
        for one in judged
        for fault in one.faults or ()
        if fault.named
    )
    none = "No map has a fault above its threshold." if not found else ""
    return (
        '<section id="faults" aria-labelledby="faults-title"><h2 id="faults-title">What is wrong with each map</h2>'
        f"<p>{none or 'A fault has its name beside its value where that is above the threshold.'} Thresholds are made "
        "of what chance and PCA give on the same rows.</p>"
        f"{_scrolling('faults-table', 'Faults of each map', heads, rows)}"
        f"{f'<ul class=found>{found}</ul>' if found else ''}</section>"
    )


def _fault_cell(fault: Fault) -> str:
    named = f' <span class="mark fault">{fault.name}</span>' if fault.named else ""
    within = fault.interval
    sampled = within is not None and known(within[0]) and within[0] != within[1]
    lines = [f"{number(within[0])} to {number(within[1])}"] if within is not None and sampled else []
    lines += [f"threshold {number(fault.threshold)}"] if known(fault.threshold) else []
    beside = [
        f"{word} {number(value)}" for word, value in (("PCA", fault.plain), ("chance", fault.chance)) if known(value)
    ]
    lines += [", ".join(beside)] if beside else []
    return (
        f'<td data-fault="{fault.name}"{_sorted_by(fault.total)}{" class=faulty" if fault.named else ""}>'
        f'<span class="value">{number(fault.total)}</span>{named}'
        + "".join(f' <span class="interval">{line}</span>' for line in lines)
        + "</td>"
    )


# --- stability, time, memory


def costs_table(subject: ComparedSubject) -> str:
    """How far rows move over refits, time and memory."""
    stable = any(one.stability is not None for one in subject.entries)
    costly = any(known(one.seconds) for one in subject.entries)
    if not stable and not costly:
        return ""
    titles = {"Moved": "over refits, of the size of the map"} if stable else {}
    titles |= {"Seconds": "of the fit", "MB": "memory at its peak", "Rows": "with coordinates", "Warnings": ""}
    heads = "".join(
        f'<th scope="col"><span class="title">{title}</span><span class="way">{words}</span></th>'
        for title, words in titles.items()
    )
    rows = "".join(_row(one, _cost_cells(one, stable=stable)) for one in subject.entries)
    notes = "".join(f"<li>{clean(note)}</li>" for note in subject.cost_notes)
    why = list(dict.fromkeys(one.not_measured for one in subject.entries if one.not_measured and one.stability is None))
    words = (
        "Stability: how far rows move from their place where the method is fitted on some of the rows; 0 if nothing "
        "moves, 1 if the map is no better than all rows at their mean."
        if stable
        else f"Stability was not measured: {'; '.join(why)}."
    )
    return (
        '<section id="costs" aria-labelledby="costs-title"><h2 id="costs-title">Stability, time and memory</h2>'
        f"<p>{clean(words)}</p>{_scrolling('costs-table', 'Stability, time and memory of each map', heads, rows)}"
        f"{f'<ul class=notes>{notes}</ul>' if notes else ''}</section>"
    )


def _cost_cells(one: ComparedEntry, *, stable: bool) -> str:
    cells = ""
    if stable:
        moved = one.stability
        value = float("nan") if moved is None else moved.value
        interval = (
            ""
            if moved is None or moved.interval is None
            else f"{number(moved.interval[0])} to {number(moved.interval[1])}"
        )
        said = interval or one.not_measured
        cells = (
            f'<td data-cost="stability"{_sorted_by(value)}>{number(value)}'
            f' <span class="interval">{clean(said)}</span></td>'
        )
    warnings = sum(one.warned.values())
    return (
        f'{cells}<td data-cost="seconds"{_sorted_by(one.seconds)}>{number(one.seconds, 2)}</td>'
        f'<td data-cost="megabytes"{_sorted_by(one.megabytes)}>{number(one.megabytes, 0)}</td>'
        f'<td data-cost="rows"{_sorted_by(one.n_rows)}>{one.n_rows:,}</td>'
        f'<td data-cost="warnings"{_sorted_by(warnings)}>{warnings or "none"}</td>'
    )


# --- what was said


def told(subject: ComparedSubject) -> str:
    """What failed, and warnings."""
    failed = "".join(
        f"<li><b>{name_of(one.name)}</b>: {clean(one.failure)}</li>" for one in subject.entries if one.failure
    )
    warned = "".join(
        f"<li><b>{name_of(one.name)}</b>: <code>{clean(category)}</code>{_times(count)} "
        f"{clean(one.examples.get(category, ''))}</li>"
        for one in subject.entries
        for category, count in one.warned.items()
    )
    parts = [
        f"<h3>{title}</h3><ul class=warned>{items}</ul>"
        for title, items in (("What failed", failed), ("Warnings of fits and measures", warned))
        if items
    ]
    if not parts:
        parts = ["<p>No fit failed, and none gave a warning.</p>"]
    return (
        '<section id="told" aria-labelledby="told-title"><h2 id="told-title">Failures and warnings</h2>'
        f"{''.join(parts)}</section>"
    )


def _times(count: int) -> str:
    return f" ({counted(count, 'time')}):" if count > 1 else ":"


# --- the same in all


def _row(one: ComparedEntry, cells: str) -> str:
    failed = ' <span class="mark fault">failed</span>' if one.failure else ""
    return f'<tr data-name="{clean(one.name)}"><th scope="row">{name_of(one.name)}{failed}</th>{cells}</tr>'


def _sorted_by(value: float) -> str:
    """The number behind what is written, with all its digits: by it rows are sorted."""
    return f' data-value="{float(value)!r}"' if np.isfinite(value) else ' data-value=""'


def _scrolling(name: str, label: str, heads: str, rows: str) -> str:
    """A table that scrolls by itself where it is too wide, so that the page does not."""
    return (
        f'<div class="scrolls" role="region" aria-label="{label}" tabindex="0"><table class="compared" id="{name}">'
        f'<thead><tr><th scope="col"><span class="title">Map</span></th>{heads}</tr></thead><tbody>{rows}</tbody>'
        "</table></div>"
    )

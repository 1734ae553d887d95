"""The page of a comparison: its numbers and maps as plain data, for the room `report`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramfold.comparison.words import notes_of_costs, notes_of_few_rows
from gramfold.report.compared import ComparedEntry, ComparedSubject, Ranking
from gramfold.report.comparing import write_comparison
from gramfold.report.provenance import digest_of
from gramfold.report.writing import checked_title

if TYPE_CHECKING:
    from gramfold.comparison.table import ComparedMap, Comparison

_USUAL = {"metric": "euclidean", "judged_neighbors": None, "sample": None, "random_state": 0, "stability": 0}


def write(
    found: "Comparison", path: str | os.PathLike[str], X: Any, title: str | None, options: Mapping[str, Any]
) -> Path:
    """Write the page; `options` are those of the columns and of drawing."""
    title = checked_title(title)
    rows = None if found.asked.get("metric") == "precomputed" else X
    return write_comparison(path, subject_of(found, X, title), rows, **options)


def subject_of(found: "Comparison", X: Any, title: str | None) -> ComparedSubject:
    """All that the page says."""
    aligned = found.aligned_maps()
    seconds = {"of judging all maps": found.judging_seconds}
    if found.searches:
        seconds["of the neighbour search that fits share"] = found.search_seconds
    count = len(found.rows)
    return ComparedSubject(
        title or (f"{count} maps of the same rows" if count > 1 else found.rows[0].name),
        [_entry(row, aligned.get(row.name)) for row in found.rows],
        [_ranking(found, purpose) for purpose in found.purposes],
        found.n_given,
        found.n_judged,
        found.n_sampled,
        found.n_neighbors,
        metric=_named(found.asked.get("metric", "euclidean")),
        labels=found.labels,
        notes=[_as_sentence(note) for note in notes_of_few_rows(found)],
        cost_notes=[_as_sentence(note) for note in notes_of_costs(found)],
        seconds=seconds,
        call=call_of(found),
        digest=digest_of(X),
    )


def call_of(found: "Comparison") -> str:
    """What one would write to make it again; finished maps are the user's own."""
    methods = [
        f"        {row.name!r}: {row.made or 'Y'},{'' if row.made else '  # a finished map'}" for row in found.rows
    ]
    lines = ["compare(", "    X,", "    {", *methods, "    },"]
    if found.labels is not None:
        lines.append("    labels=labels,")
    lines += [
        f"    {name}={_named(value, quoted=True)}," for name, value in found.asked.items() if _unusual(name, value)
    ]
    return "\n".join([*lines, ")"])


def _as_sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."


def _unusual(name: str, value: Any) -> bool:
    return callable(value) or bool(value != _USUAL.get(name))


def _named(value: Any, *, quoted: bool = False) -> str:
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(value) if quoted else str(value)


def _entry(row: "ComparedMap", places: Any) -> ComparedEntry:
    return ComparedEntry(
        row.name,
        None if places is None else np.asarray(places, dtype=np.float64),
        row.failure,
        row.measures,
        row.faults,
        row.stability,
        row.not_measured,
        row.seconds,
        row.megabytes,
        row.n_rows,
        row.warned,
        row.examples,
        n_components=0 if row.embedding is None else row.embedding.shape[1],
        made=row.made,
    )


def _ranking(found: "Comparison", purpose: str) -> Ranking:
    best = found.best_for(purpose)
    return Ranking(
        purpose,
        best.measure,
        best.winner,
        best.sentence,
        best.decided,
        best.narrow,
        best.runner_up,
        best.level_with,
        tuple(best.passed_over),
    )

"""A comparison as text and as HTML."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from gramfold.diagnostics.plain_words import FEW, FEWEST
from gramfold.runtime.counting import counted

if TYPE_CHECKING:
    from gramfold.comparison.table import ComparedMap, Comparison
    from gramfold.diagnostics import Measure

_HEADS = {
    "r_nx": "r_nx",
    "trustworthiness": "trustw.",
    "continuity": "contin.",
    "distance_correlation": "dist. corr.",
    "stress": "stress",
    "strain": "strain",
    "neighborhood_purity": "purity",
    "silhouette": "silhouette",
}
_MEANINGS = (
    "r_nx: neighbours kept, 0 by chance; trustw., contin.: near on the map is near in the data, and the reverse; "
    "dist. corr.: of the ranks of all distances; stress: change of all distances, 0 is best; strain: change of the "
    "lengths between neighbours, 0 is best"
)
_STRAIGHT = (
    "dist. corr. and stress are about straight-line distances in the data, which an unrolled sheet does not keep"
)
_OF_LABELS = "; purity: neighbours of the same label; silhouette: groups are apart"


def as_text(found: "Comparison") -> str:
    """Headline, table, what failed, the best map for each purpose, notes."""
    heads, lines = _cells(found)
    table = [heads, *lines]
    widths = [max(len(line[column]) for line in table) for column in range(len(heads))]
    last = len(heads) - 1  # of words
    text = [_headline(found), ""]
    for line in table:
        cells = [
            cell.ljust(width) if column in (0, last) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text.append("  ".join(cells).rstrip())
    text += ["", *told(found)]
    text += [f"{purpose + ':':<9} {found.best_for(purpose).sentence}" for purpose in found.purposes]
    return "\n".join([*text, "", *notes(found)])


def as_html(found: "Comparison") -> str:
    """The same for a notebook."""
    heads, lines = _cells(found)
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    rows = "".join(
        f"<tr><th>{escape(line[0])}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in line[1:]) + "</tr>"
        for line in lines
    )
    said = [escape(line) for line in told(found)]
    said += [f"<b>{purpose}</b>: {escape(found.best_for(purpose).sentence)}" for purpose in found.purposes]
    small = [escape(note) for note in notes(found)]
    return (
        f"<p>{escape(_headline(found))}</p><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p>{'<br>'.join(said)}</p><p><small>{'<br>'.join(small)}</small></p>"
    )


def number(measure: "Measure") -> str:
    """With half of its interval where it has one."""
    if np.isnan(measure.value):
        return "–"
    if measure.interval is None:
        return f"{measure.value:.3f}"
    return f"{measure.value:.3f} ±{(measure.interval[1] - measure.interval[0]) / 2:.3f}"


def told(found: "Comparison") -> list[str]:
    """What failed, and who warned of what."""
    lines = [f"{name} failed: {why}" for name, why in found.failures.items()]
    return lines + [f"{row.name} warned: {', '.join(row.warned)}" for row in found if row.warned]


def notes(found: "Comparison") -> list[str]:
    """What the numbers are, and what was not measured."""
    lines = [_MEANINGS + (_OF_LABELS if "clusters" in found.purposes else ""), _STRAIGHT, *notes_of_few_rows(found)]
    if found.n_sampled < found.n_judged:
        lines.append(f"±: 95% intervals; {found.n_sampled:,} rows were drawn, and r_nx is of all rows")
    lines += notes_of_costs(found)
    if all(row.stability is None for row in found):
        lines.append("stability was not measured: no refits were asked for (stability=0)")
    return lines


def notes_of_few_rows(found: "Comparison") -> list[str]:
    """How far faults can be told from chance."""
    if found.n_judged < FEWEST:
        return [f"faults of fewer than {FEWEST} rows cannot be told from chance"]
    if found.n_judged < FEW:
        return [f"{found.n_judged} rows are few: each counts for much, and chance may change what is said of faults"]
    return []


def notes_of_costs(found: "Comparison") -> list[str]:
    """What seconds and megabytes are."""
    lines = []
    if found.searches:
        searches = "neighbour search" if found.searches == 1 else f"{found.searches} neighbour searches"
        lines.append(f"seconds are without the {searches} that methods share ({found.search_seconds:.1f} s)")
    if not all(np.isnan(row.megabytes) for row in found):
        lines.append("MB: peak of the memory of the process above that before the fit, as sampled during it")
    return lines


def _headline(found: "Comparison") -> str:
    on = "" if found.n_judged == found.n_given else f", judged on the {found.n_judged:,} that all of them have"
    return (
        f"{counted(len(found), 'map')} of {counted(found.n_given, 'row')}{on}, by "
        f"{counted(found.n_neighbors, 'neighbour')}"
    )


def _cells(found: "Comparison") -> tuple[list[str], list[list[str]]]:
    names = list(dict.fromkeys(name for row in found for name in row.measures))
    stable = any(row.stability is not None for row in found)
    heads = ["", *(_HEADS[name] for name in names), *(["moved"] if stable else []), "seconds", "MB", "faults"]
    return heads, [_line(row, names, stable) for row in found]


def _line(row: "ComparedMap", names: list[str], stable: bool) -> list[str]:
    numbers = [number(row.measures[name]) if name in row.measures else "–" for name in names]
    moved = [] if not stable else ["–" if row.stability is None else f"{row.stability.value:.2f}"]
    costs = [_cost(row.seconds, ".2f"), _cost(row.megabytes, ".0f")]
    return [row.name, *numbers, *moved, *costs, _faults(row)]


def _faults(row: "ComparedMap") -> str:
    if row.failure:
        return "failed"
    warned = sum(row.warned.values())
    told = f" ({counted(warned, 'warning')})" if warned else ""
    return (", ".join(row.faults.named) if row.faults is not None and row.faults.named else "none") + told


def _cost(value: float, form: str) -> Any:
    return "–" if np.isnan(value) else f"{value:{form}}"

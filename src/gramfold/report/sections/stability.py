"""How far rows move when the map is fitted again on a part of them."""

import numpy as np

from gramfold.diagnostics import Stability
from gramfold.report.charts import Axes, Frame, dots, linear_over, path
from gramfold.report.charts.scales import Linear
from gramfold.report.markup import MissingPartError, clean, code, pairs, paragraph, plot, section, value
from gramfold.report.sections.found import Found
from gramfold.runtime.counting import counted

_FRAME = Frame(340, 200)
_BINS = 24


def stability_section(found: Found) -> str:
    """Numbers and charts, or how to get them."""
    known = found.subject.stability
    if known is None:
        if found.subject.not_measured:
            raise MissingPartError(found.subject.not_measured)
        if found.subject.model is None:
            raise MissingPartError("a finished map cannot be fitted again.")
        words = (
            f"It was not measured. {code('model.report(path, stability=True)')} fits the map again on parts of the "
            "rows, 20 times, and shows here how far rows move."
        )
        return section("stability", "Stability", "", paragraph(words, "missing"))
    return section("stability", "Stability", paragraph(clean(known.sentence)), _body(known))


def _body(known: Stability) -> str:
    assert known.interval is not None
    low, high = known.interval
    facts = {
        "rows move by": f"{_share('value', known.value)} of the size of the map",
        "95% interval": f"{_share('low', low)} to {_share('high', high)}",
        "rows of the refit": _share("fitted", known.fitted),
        "rows placed by transform": _share("new", known.new),
        "refits": f"{len(known.per_refit)}, on {known.share:.0%} of the rows each",
    }
    if known.eigengap is not None:
        facts["eigengap after the last coordinate"] = _share("eigengap", known.eigengap)
    if known.failures:
        facts["failed"] = counted(len(known.failures), "refit")
    charts = f'<div class="panels two">{_rows_chart(known)}{_refits_chart(known)}</div>'
    told = "".join(paragraph(f"{clean(name)}: {clean(text)}") for name, text in known.examples.items())
    return pairs(facts) + charts + told


def _share(name: str, number: float) -> str:
    return value(f"stability.{name}", number, "not known" if np.isnan(number) else f"{number:.1%}")


def _rows_chart(known: Stability) -> str:
    """How many rows move how far."""
    assert known.per_point is not None
    moved = 100 * known.per_point[~np.isnan(known.per_point)]
    counts, edges = np.histogram(moved, bins=_BINS, range=(0.0, float(moved.max()) or 1.0))
    axes = Axes(
        "chart-moved",
        "How far rows move",
        f"Half of the rows move by less than {np.median(moved):.2g}% of the size of the map, one by {moved.max():.2g}%",
        Linear(0.0, float(edges[-1])),
        linear_over(counts, zero=True),
        "% of the size of the map",
        "rows",
        _FRAME,
    )
    corners = np.column_stack([np.repeat(edges, 2)[1:-1], np.repeat(counts, 2)])
    outline = axes.place(*np.vstack([[edges[0], 0], corners, [edges[-1], 0]]).T)
    axes.add(path(outline, "area"))
    return plot("panel-moved", "", "How far rows move, over all refits", axes.svg())


def _refits_chart(known: Stability) -> str:
    """How far all rows move in each refit."""
    moved = 100 * known.per_refit
    axes = Axes(
        "chart-refits",
        "Each refit",
        f"In {len(moved)} refits rows move by {moved.min():.2g}% to {moved.max():.2g}% of the size of the map",
        Linear(0.5, len(moved) + 0.5),
        linear_over(moved, zero=True),
        "refit",
        "%",
        _FRAME,
    )
    mean = 100 * known.value
    axes.add(path(axes.place([0.5, len(moved) + 0.5], [mean, mean]), "slope"))
    axes.add(dots(axes.place(np.arange(1, len(moved) + 1), moved), "big"))
    return plot("panel-refits", "", "Each refit; the line is that of all", axes.svg())

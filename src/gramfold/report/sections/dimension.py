"""The intrinsic dimension of the data, by several estimators and at several scales."""

import numpy as np

from gramfold.diagnostics import Dimensions, Estimate
from gramfold.report.charts import Axes, Frame, Scale, Span, dots, linear_over, log_over, number, path, range_bar
from gramfold.report.markup import MissingPartError, clean, code, paragraph, plot, section, sentence, table, value
from gramfold.report.sections.found import Found

_NAMES = {
    "two_nn": ("TwoNN", "From the distances to the two nearest rows."),
    "maximum_likelihood": ("Maximum likelihood", "From how distances to the nearest rows grow (Levina, Bickel)."),
    "correlation_dimension": ("Correlation dimension", "From how many pairs are nearer than a radius."),
    "local_pca": ("Local PCA", "From the variances of neighbourhoods along their axes."),
    "spectral_gap": ("Spectral gap", "Where the eigenvalues of the map's kernel fall off."),
}
_LEAD = (
    "How many numbers it takes to say where a row lies. A map of fewer dimensions has to lose something; one of more "
    "has room to spare. Intervals are about chance alone, not about what an estimator gets wrong on average."
)


def dimension_section(found: Found) -> str:
    """The sentence, a table of estimators, and the dimension at each scale."""
    known = found.subject.dimension
    if known is None:
        raise MissingPartError(_missing(found))
    p = int(found.subject.Y.shape[1])
    shown = value("dimension.value", known.value, f"{known.value:.3g}")
    about = (
        f"About {shown}, median of the estimates; the map has {p}."
        if _is_median(known)
        else f"About {shown}; the map has {p}."
    )
    lead = paragraph(f"<strong>{about}</strong>") + paragraph(clean(known.sentence)) + paragraph(_LEAD) + _looked(known)
    return section("dimension", "Dimension of the data", lead, _table(known) + _scales(known))


def _missing(found: Found) -> str:
    if found.subject.X is None and (found.subject.model is None or found.subject.judged is None):
        return found.subject.unjudged or "the rows are not known, so that their dimension cannot be estimated."
    return "it was not asked for, or is not defined for these rows; gramfold.diagnostics.dimension(X) says more."


def _is_median(known: Dimensions) -> bool:
    """Whether the value is the median of the corrected estimates."""
    each = [one.best for name, one in known.estimates.items() if name != "spectral_gap" and not one.beyond_correction]
    return bool(each) and known.value == float(np.median(each))


def _looked(known: Dimensions) -> str:
    if known.n_sampled == known.n_distinct:
        return paragraph(f"All {known.n_distinct:,} different rows were looked at.", "looked")
    return paragraph(f"{known.n_sampled:,} of {known.n_distinct:,} different rows were looked at.", "looked")


def _table(known: Dimensions) -> str:
    levels = {one.level for one in known.estimates.values()}
    level = f"{next(iter(levels)):.0%} interval" if len(levels) == 1 else "Interval"
    ends = [
        end
        for one in known.estimates.values()
        for end in (one.value, *(one.interval or ()), one.corrected or one.value)
    ]
    scale = linear_over([end for end in ends if np.isfinite(end)], zero=True)
    rows = [(_head(name, one), _cells(name, one, scale)) for name, one in known.estimates.items()]
    absent = "".join(
        paragraph(f"{clean(_NAMES[name][0])} is not defined here: {clean(reason)}")
        for name, reason in known.reasons.items()
    )
    drawn = f"Drawn, 0 to {number(scale.high, 2)}"
    return (
        table("Estimates of the intrinsic dimension", ["Estimator", "Estimate", level, "Corrected", drawn], rows)
        + absent
    )


def _head(name: str, one: Estimate) -> str:
    title, words = _NAMES[name]
    note = "" if one.note is None else f" {clean(sentence(one.note))}"
    return f'<span class="term">{title}</span> {code(name)}<span class="means">{words}{note}</span>'


def _cells(name: str, one: Estimate, scale: Scale) -> list[str]:
    interval = "–"
    span = Span(one.value)
    if one.interval is not None:
        low, high = one.interval
        lowest, highest = (
            value(f"dimension.{name}.{end}", at, f"{at:.3g}") for end, at in (("low", low), ("high", high))
        )
        interval = f"{lowest} to {highest}"
        span = Span(one.value, low, high)
    corrected = "–"
    if one.beyond_correction:
        corrected = "too few rows to correct it: a lower bound"
    elif one.corrected is not None:
        corrected = value(f"dimension.{name}.corrected", one.corrected, f"{one.corrected:.3g}")
    said = f", corrected {one.corrected:.3g}" if one.corrected is not None and not one.beyond_correction else ""
    bar = range_bar(
        scale, span, f"{name}: {one.value:.3g}{said}", second=None if one.beyond_correction else one.corrected
    )
    return [value(f"dimension.{name}", one.value, f"{one.value:.3g}"), interval, corrected, bar]


def _scales(known: Dimensions) -> str:
    """The dimension from the smallest neighbourhoods to the largest."""
    k, values, corrected = known.scales.n_neighbors, known.scales.value, known.scales.corrected
    there = np.isfinite(values)
    if there.sum() < 2:
        return ""
    also = np.isfinite(corrected)
    listed = ", ".join(f"{number(float(v))} at {int(n)}" for n, v in zip(k[there], values[there], strict=True))
    axes = Axes(
        "chart-scales",
        "Dimension at each scale",
        f"Dimension by the number of neighbours: {listed}",
        log_over(k, 0.03),
        linear_over(np.concatenate([values[there], corrected[also]]), zero=True),
        "neighbours",
        "dimension",
        Frame(340, 210),
    )
    lower, upper = axes.place(k[there], values[there]), axes.place(k[also], corrected[also])
    axes.add(path(upper, "line second"), dots(upper, "big second"), dots(upper, "hole second"))
    axes.add(path(lower, "line"), dots(lower, "big"))
    caption = "Dimension at each scale: as estimated (filled), and corrected for edges (rings)"
    return plot("panel-scales", "", caption, axes.svg())

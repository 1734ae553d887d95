"""Panels A and B: the leading eigenvalues of the kernel, their shares, the negative part; certificate and stress."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.diagnostics.leading_values import Shares, leading_values, shares_among
from gramfold.embedding import Embedding
from gramfold.errors import GramfoldError
from gramfold.kernels.gram import GramKernel
from gramfold.notebook.numerals import percent
from gramfold.report.charts import (
    Axes,
    Frame,
    Linear,
    dots,
    linear_over,
    log_over,
    number,
    path,
    rule,
    stage_bar,
    stems,
)
from gramfold.report.markup import (
    MissingPartError,
    clean,
    details,
    not_shown,
    pairs,
    paragraph,
    plot,
    reason_of,
    section,
    table,
    value,
)
from gramfold.report.sections.found import Found
from gramfold.runtime.counting import counted
from gramfold.types import Floats, NegativePart

_EIGENVALUES = 10
_BEYOND_MAP = 2  # eigenvalues that are shown at least after those of the map
_MOST_SHOWN = 30
_MANY_ROWS = 100_000  # beyond, no more eigenvalues are computed than the fit did
_WHOLE = 10_000  # rows up to which the negative part of an indefinite kernel is computed
_ROUNDING = 1e-12  # of the largest eigenvalue
_NARROW = 0.1  # relative eigengap below which axes may change places
_FRAME = Frame(340, 220)


@dataclass(frozen=True, eq=False)
class Read:
    """What of the spectrum is known."""

    values: Floats
    shown: int  # coordinates of the map
    leading: bool  # whether these are those of the first eigenvalues
    shares: Shares | None
    negative: NegativePart | None
    more: str = ""  # why no more of it was computed


def spectrum_section(found: Found) -> str:
    """Two charts, sentences and a table; then what only some methods have."""
    model = found.subject.model
    if model is None:
        raise MissingPartError(
            "the map was not made by gramfold, so that it has no kernel whose eigenvalues are known."
        )
    lead, parts = [], []
    try:
        read = read_spectrum(model, len(found.subject.Y))
    except GramfoldError as error:
        parts.append(not_shown(reason_of(error)))
    else:
        lead = [paragraph(words) for words in _sentences(read)]
        parts.append(f'<div class="panels two">{_chart("A", read)}{_chart("B", read)}</div>{_listed(read)}')
    parts += [_certificate(model), _stress(model)]
    return section("spectrum", "Spectrum", "".join(lead), "".join(parts))


def read_spectrum(model: Any, n: int) -> Read:
    """Of a fitted model; more than its fit computed, unless that would take long."""
    spectrum = getattr(model, "spectrum_", None)
    if spectrum is None:
        raise MissingPartError(f"{type(model).__name__} has no kernel, and so no eigenvalues.")
    places = getattr(model, "embedding_", None)  # clusters that are connected components have none
    shown = 0 if places is None else int(places.shape[1])
    count = min(max(_EIGENVALUES, shown + _BEYOND_MAP), _MOST_SHOWN)
    more = ""
    if n <= _MANY_ROWS:
        values = leading_values(model, count, type(model).__name__)
    else:
        values = np.asarray(spectrum.eigenvalues[:count], dtype=np.float64)
        more = "Of so many rows no more eigenvalues are computed than the fit did: model.leading_eigenvalues(10) does."
    negative = _negative(model, n)
    total = float("nan") if negative is None else float(negative.positive_total)
    shares = shares_among(values, total, type(model).__name__) if (values > 0).any() else None
    return Read(values, shown, getattr(spectrum, "taken", None) is None, shares, negative, more)


def _negative(model: Any, n: int) -> NegativePart | None:
    """The negative part of the kernel; None where it is not known, or takes long."""
    if not hasattr(model, "negative_part") or (n > _WHOLE and isinstance(getattr(model, "kernel_", None), GramKernel)):
        return None
    found: NegativePart = model.negative_part()
    return found


def _chart(letter: str, read: Read) -> str:
    log = letter == "B"
    at, values = np.arange(1, len(read.values) + 1), read.values
    if log:
        known = values > _ROUNDING * np.abs(values).max(initial=0.0)
        if not known.any():
            return plot("panel-B", "B", "Logarithmic", '<p class="missing">Not drawn: no eigenvalue is positive.</p>')
        at, values = at[known], values[known]
    scale = log_over(values) if log else linear_over(np.append(values, 0.0), zero=True)
    kind = "logarithmic" if log else "linear"
    listed = ", ".join(number(float(one)) for one in values)
    first = f"Eigenvalues 1 to {len(read.values)} of the kernel on a {kind} axis: {listed}. "
    words = f"{first}The first {read.shown} are those of the map." if read.leading and read.shown else first
    end = len(read.values) + 0.5
    axes = Axes(
        f"chart-{letter}",
        f"Panel {letter}: eigenvalues, {kind}",
        words,
        Linear(0.5, end),
        scale,
        "number",
        "eigenvalue",
        _FRAME,
    )
    points, inside = axes.place(at, values), (at <= read.shown) & read.leading
    if log:
        axes.add(path(points, "link"))
    else:
        base = float(axes.place(1, 0.0)[0, 1])
        axes.add(rule(axes.left, base, axes.right, base, "axis"), stems(points[inside], base, "stem in"))
        axes.add(stems(points[~inside], base, "stem"))
    axes.add(dots(points, "big"), dots(points[~inside], "hole"))
    return plot(f"panel-{letter}", letter, kind.capitalize(), axes.svg())


def _sentences(read: Read) -> list[str]:
    """Shares, eigengap and negative part, as HTML."""
    said = []
    p, values = read.shown, read.values
    if p == 0:
        said.append("There is no map, since the clusters are connected components.")
    elif read.leading and read.shares is not None and p <= len(values):
        held = float(np.maximum(read.shares.values[:p], 0.0).sum())
        of = "the sum of all positive eigenvalues" if read.shares.whole else f"the {len(values)} eigenvalues shown"
        first = "eigenvalue holds" if p == 1 else f"{p} eigenvalues hold"
        said.append(
            f"The first {first} {value('spectrum.held', held, percent(held))} of {of}. Filled: those of the map."
        )
    elif not read.leading:
        said.append("The map has not the first eigenvectors, but the independent ones among them.")
    if read.leading and len(values) > p > 0 and values[p - 1] > 0:
        gap = float(1.0 - values[p] / values[p - 1])
        narrow = ", so both may change places when rows change" if gap < _NARROW else ""
        shown = value("spectrum.eigengap", gap, percent(max(gap, 0.0)))
        said.append(f"Eigengap: the eigenvalue after that of the last coordinate is {shown} smaller{narrow}.")
    if read.negative is not None and read.negative.mass > 0:
        said.append(_negative_words(read.negative))
    if read.more:
        said.append(clean(read.more))
    return said


def _negative_words(negative: NegativePart) -> str:
    low, high = negative.interval
    between = "" if negative.exact else f" (95% interval {percent(low)} to {percent(high)})"
    return (
        f"The negative part of the spectrum is {value('spectrum.negative', negative.mass, percent(negative.mass))} of "
        f"the whole{between}, which no Euclidean map can show; the most negative eigenvalue is "
        f"{value('spectrum.most_negative', negative.most_negative, number(negative.most_negative))}."
    )


def _listed(read: Read) -> str:
    """All numbers of both charts."""
    whole = read.shares is not None and read.shares.whole
    heads = [
        "Number",
        "Eigenvalue",
        "Share of the positive" if whole else "Share of those shown",
        "Drawn",
        "On the map",
    ]
    rows, start = [], 0.0
    for j, one in enumerate(read.values):
        share = float("nan") if read.shares is None else float(read.shares.values[j])
        known = share if np.isfinite(share) else 0.0
        bar = stage_bar(min(start, 1.0), min(max(known, 0.0), max(1.0 - start, 0.0)), f"{percent(max(known, 0.0))}")
        start += max(known, 0.0)
        cells = [
            value(f"spectrum.{j + 1}", float(one), number(float(one), 4)),
            "not known" if np.isnan(share) else value(f"spectrum.share.{j + 1}", share, _share(share)),
            bar,
            "yes" if read.leading and j < read.shown else "no" if read.leading else "–",
        ]
        rows.append((str(j + 1), cells))
    return details(
        "The eigenvalues as a table", table("Leading eigenvalues of the kernel", heads, rows, kind="numbers")
    )


def _share(share: float) -> str:
    return percent(share) if share >= 0 else f"−{percent(-share)}"


def _certificate(model: Any) -> str:
    """Of a semidefinite program: how far its kernel may be from the best one."""
    certificate = getattr(model, "certificate_", None) if isinstance(model, Embedding) else None
    if certificate is None:
        return ""
    solution = model.model_.found.get("solution_")
    facts = {
        "variance of this kernel": value("certificate.primal", certificate.primal, number(certificate.primal, 6)),
        "no kernel has more than": value(
            "certificate.upper_bound", certificate.upper_bound, number(certificate.upper_bound, 6)
        ),
        "gap between both": value("certificate.gap", certificate.gap, number(certificate.gap, 2)),
        "largest error of a kept distance": value(
            "certificate.max_violation", certificate.max_violation, number(certificate.max_violation, 2)
        ),
        "kept distances": f"{len(certificate.pairs):,}",
    }
    if solution is not None:
        ended = "converged" if solution.converged else "not converged"
        facts["solver"] = clean(f"{solution.solver}, {counted(len(solution.steps), 'iteration')}, {ended}")
    words = (
        "Semidefinite embedding looks for the kernel of largest variance that keeps the distances between neighbours. "
        "The bound is proved, so that the gap says how far this kernel may be from the best."
    )
    return f"<h3>Certificate</h3>{paragraph(words)}{pairs(facts)}"


def _stress(model: Any) -> str:
    """Of ordinal scaling."""
    found = getattr(getattr(model, "model_", None), "found", {})
    if "stress_" not in found:
        return ""
    stress, steps = float(found["stress_"]), int(found["n_iter_"])
    words = (
        f"Kruskal's stress-1 is {value('stress', stress, number(stress, 4))} after {counted(steps, 'iteration')}: 0 "
        "where distances on the map have exactly the order of the dissimilarities."
    )
    along = np.asarray(found.get("stress_path_", ()), dtype=np.float64)
    if len(along) < 2:
        return f"<h3>Stress</h3>{paragraph(words)}"
    axes = Axes(
        "chart-stress",
        "Stress after each iteration",
        f"Stress falls from {number(float(along[0]))} to {number(float(along[-1]))} in {len(along) - 1} iterations",
        Linear(0.0, float(len(along) - 1)),
        linear_over(along, zero=True),
        "iteration",
        "stress",
        _FRAME,
    )
    axes.add(path(axes.place(np.arange(len(along)), along), "line"))
    chart = plot("panel-stress", "", "After each iteration", axes.svg())
    return f"<h3>Stress</h3>{paragraph(words)}{chart}"

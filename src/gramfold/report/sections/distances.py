"""Panels C to H of Ham, Lee, Mika, Schölkopf: distances on the map beside others, and contours of these on the map."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from gramfold.diagnostics import ComparedDistances, FeatureDistances
from gramfold.diagnostics.kernel_panels import DistancesFrom, Smoothed, Where, nearest_pairs
from gramfold.errors import GramfoldError, InputError
from gramfold.report.charts import (
    Axes,
    Frame,
    Linear,
    cells,
    contour,
    cross,
    dots,
    dots_by_value,
    linear_over,
    number,
    path,
)
from gramfold.report.markup import MissingPartError, clean, paragraph, plot, reason_of, section, sentence, value
from gramfold.report.sections.found import Found
from gramfold.types import Floats, Integers

_LEAD = (
    "Each dot is a pair of rows. Where a map is true to the data, or to the feature space of its kernel, dots lie "
    "along the line; r is their correlation. Neighbours tell of the small scale, all pairs of the large one."
)
_CONTOURED = (
    "G and H show the map, with rows coloured by their distance in feature space from one row (×) and contours of it: "
    "round contours, evenly spaced, are a map that shows all of feature space."
)
_FRAME = Frame(300, 230)
_MOST_DOTS = 4_000
_FEWEST_CONTOURED = 20  # rows, of which a contour says something
_BESIDE = 2  # panels
_MARGIN = 0.08  # of the map, around it
_WORDS = {"input": "in the data", "feature": "in feature space"}


def distances_section(found: Found) -> str:
    """All six panels; one that cannot be drawn says why."""
    panels: list[tuple[str, str, Callable[[], str]]] = [
        ("C", "All pairs against the data", lambda: _scatter("C", found.by_rows.everywhere, "input", "all pairs")),
        ("D", "Neighbours against the data", lambda: _local("D", found.by_rows, "input")),
        ("E", "All pairs against feature space", lambda: _of_feature("E", found)),
        ("F", "Neighbours against feature space", lambda: _local("F", _features(found), "feature")),
        ("G", "From a row at the boundary", lambda: _contours("G", found, "boundary")),
        ("H", "From a row at the centre", lambda: _contours("H", found, "centre")),
    ]
    drawn, missing = [], dict[str, list[str]]()
    for letter, title, draw in panels:
        try:
            drawn.append(draw())
        except GramfoldError as error:
            missing.setdefault(reason_of(error).rstrip("."), []).append(f"{letter} ({title[0].lower()}{title[1:]})")
    few = " two" if len(drawn) <= _BESIDE else ""  # then they stand side by side, else a topic is a column
    body = f'<div class="panels{few}">{"".join(drawn)}</div>' if drawn else ""
    body += "".join(_not_drawn(reason, titles) for reason, titles in missing.items())
    lead = paragraph(_LEAD) + paragraph(_CONTOURED) + paragraph(clean(_sampled(found)), "looked")
    return section("distances", "Distances", lead, body)


def _not_drawn(reason: str, titles: list[str]) -> str:
    """Which panels are missing, and why."""
    listed = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
    return paragraph(f"Not drawn: {clean(listed)}. {clean(sentence(reason))}", "missing")


def _features(found: Found) -> FeatureDistances:
    return found.distances


def _of_feature(letter: str, found: Found) -> str:
    return _scatter(letter, found.distances.everywhere, "feature", "all pairs")


def _local(letter: str, distances: FeatureDistances, to: Literal["input", "feature"]) -> str:
    pairs, called = nearest_pairs(distances)
    return _scatter(letter, pairs, to, called)


def _scatter(letter: str, compared: ComparedDistances, to: Literal["input", "feature"], called: str) -> str:
    """Pairs by their distances in two spaces, and the line of their slope."""
    x, y = getattr(compared, to), compared.map
    if not len(x):
        raise MissingPartError("No pairs of neighbours are known.")
    if np.isnan(x).all():
        raise MissingPartError(
            "Distances in the data are not known, because the model was fitted on precomputed values."
        )
    r, slope = compared.correlation("map", to), compared.slope("map", to)
    across, up = linear_over(x, zero=True), linear_over(y, zero=True)
    words = (
        f"{called[0].upper()}{called[1:]}: {len(x):,} pairs, distance on the map against distance {_WORDS[to]}; "
        f"correlation {number(r)}, slope through the origin {number(slope)}"
    )
    axes = Axes(
        f"chart-{letter}",
        f"Panel {letter}: {called}, map against {'data' if to == 'input' else 'feature space'}",
        words,
        across,
        up,
        f"distance {_WORDS[to]}",
        "distance on the map",
        _FRAME,
    )
    axes.add(cells(axes.place(x, y), axes.left, axes.top, axes.right - axes.left, axes.bottom - axes.top))
    if np.isfinite(slope) and slope > 0:
        end = min(across.high, up.high / slope)
        axes.add(path(axes.place([0.0, end], [0.0, slope * end]), "slope"))
    shown = (
        f"r = {value(f'distances.{letter}', r, f'{r:.2f}'.replace('-', '−'))}" if np.isfinite(r) else "r not defined"
    )
    where = "the data" if to == "input" else "feature space"
    return plot(
        f"panel-{letter}",
        letter,
        f'{clean(called[0].upper() + called[1:])} against {where}, <span class="once">{shown}</span>',
        axes.svg(),
    )


def _contours(letter: str, found: Found, where: Where) -> str:
    """The map with the distances from one of its rows."""
    from_row = DistancesFrom.of(found.distances, found.subject.Y, where)
    title = f"From a row at the {where} (row {from_row.row:,})"
    places = from_row.places
    if places.shape[1] == 1:
        return plot(f"panel-{letter}", letter, clean(title), _along_a_line(letter, from_row, where))
    places = places[:, :2]
    reason = ""
    axes = _map_axes(letter, from_row, where)
    some = _some(len(places))
    axes.add(dots_by_value(axes.place(*places[some].T), from_row.values[some]))
    try:
        smoothed = _smoothed(from_row)
    except InputError as error:
        reason = paragraph(f"No contours. {clean(sentence(reason_of(error)))}", "missing")
    else:
        x, y = axes.place(smoothed.x, smoothed.y[0])[:, 0], axes.place(smoothed.x[0], smoothed.y)[:, 1]
        axes.add(*(contour(x, y, smoothed.values, float(level)) for level in smoothed.levels))
    axes.add(cross(*axes.place(*from_row.place[:2])[0]))
    return plot(f"panel-{letter}", letter, clean(title), axes.svg() + _ramp(from_row.values), reason)


def _smoothed(from_row: DistancesFrom) -> Smoothed:
    if len(from_row.rows) < _FEWEST_CONTOURED:
        raise MissingPartError(f"Of {len(from_row.rows)} rows contours say nothing.")
    return Smoothed.of(from_row.places[:, :2], from_row.values)


def _map_axes(letter: str, from_row: DistancesFrom, where: Where) -> Axes:
    """Of equal scale: lengths on the map can be compared."""
    places = from_row.places[:, :2]
    low, high = places.min(axis=0), places.max(axis=0)
    middle, half = low / 2 + high / 2, (high / 2 - low / 2) * (1 + 2 * _MARGIN)
    half = np.where(half > 0, half, max(float(half.max()), 1.0) / 2)
    axes = _axes(letter, from_row, where, middle - half, middle + half)
    room = np.array([axes.right - axes.left, axes.bottom - axes.top])
    unit = float((half / room).max())  # of the map for half a pixel
    return _axes(letter, from_row, where, middle - unit * room, middle + unit * room)


def _axes(letter: str, from_row: DistancesFrom, where: Where, low: Floats, high: Floats) -> Axes:
    least, most = number(float(from_row.values.min())), number(float(from_row.values.max()))
    words = (
        f"The map, its {len(from_row.rows):,} rows coloured by the distance in feature space from row {from_row.row:,} "
        f"at the {where} of the map, from {least} to {most}, with contours"
    )
    across, up = (Linear(float(a), float(b)) for a, b in zip(low, high, strict=True))
    title = f"Panel {letter}: distances from a row at the {where}"
    return Axes(f"chart-{letter}", title, words, across, up, "first coordinate", "second coordinate", _FRAME)


def _along_a_line(letter: str, from_row: DistancesFrom, where: Where) -> str:
    """Of a map of one dimension: distance against coordinate."""
    places, some = from_row.places[:, 0], _some(len(from_row.rows))
    axes = Axes(
        f"chart-{letter}",
        f"Panel {letter}: distances from a row at the {where}",
        f"Distance in feature space from row {from_row.row:,} at the {where} of the map, against the coordinate",
        linear_over(places),
        linear_over(from_row.values, zero=True),
        "coordinate",
        "distance in feature space",
        _FRAME,
    )
    axes.add(dots(axes.place(places[some], from_row.values[some])))
    axes.add(cross(*axes.place(from_row.place[0], 0.0)[0]))
    return axes.svg()


def _ramp(values: Floats) -> str:
    """What the colours are."""
    from gramfold.report.charts.marks import RAMP

    steps = "".join(f'<i class="ramp-{j}"></i>' for j in range(RAMP))
    return (
        f'<p class="ramp"><span>{number(float(values.min()))}</span><span class="steps" aria-hidden="true">{steps}'
        f"</span><span>{number(float(values.max()))}</span></p>"
    )


def _some(count: int) -> Integers:
    """All, or so many drawn always in the same way."""
    if count <= _MOST_DOTS:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, _MOST_DOTS, replace=False))


def _sampled(found: Found) -> str:
    """How many rows the panels are of."""
    try:
        distances = found.distances
    except GramfoldError:
        try:
            distances = found.by_rows
        except GramfoldError:
            return ""
    n = len(found.subject.Y)
    known = "" if distances.n_rows == n else f" The kernel is that of {distances.n_rows:,} of {n:,} rows."
    if distances.sampled == distances.n_rows:
        return f"Pairs are those of all {distances.n_rows:,} rows.{known}"
    return f"Pairs are those of {distances.sampled:,} of {distances.n_rows:,} rows, drawn at random.{known}"

"""Summary lines of `embed` and `judge`: neighbours kept, faults of the map, the dimension of the data, the verdict."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gramfold.cli.in_words import lines_of

if TYPE_CHECKING:
    from gramfold.diagnostics import Fault, Faults, Judged, Measure
    from gramfold.neighbors.scales import LoudColumns

_LOOKED = 500  # rows that are looked at among more: a summary must not take longer than the map
_NEIGHBORS = 10


@dataclass(frozen=True)
class Trust:
    """How far a map can be believed: lines of a summary, and the same for programs."""

    lines: list[str]
    numbers: dict[str, Any]


def trust_in(model: Any, X: Any, coordinates: Any, names: list[str], judged: "Judged | None" = None) -> Trust:
    """What can be said of a map whose data are rows, or all distances; nothing of a graph, a kernel, or gaps.

    Of many rows a sample is judged, against all of them: that of `judged`, where a report has judged the map already.
    """
    import numpy as np

    from gramfold.diagnostics import Judged, distance_correlation
    from gramfold.diagnostics.four_faults import faults_of
    from gramfold.diagnostics.plain_words import FEWEST, verdict_of
    from gramfold.errors import InputError

    parameters = model.get_params()
    metric = parameters.get("metric", "euclidean")
    given = [name for name in ("kernel", "weights") if parameters.get(name) == "precomputed"]
    graph = metric == "precomputed" and hasattr(X, "nnz")
    placed = coordinates[~np.isnan(coordinates).any(axis=1)]
    gaps = isinstance(X, np.ndarray) and X.dtype != object and np.isnan(X).any()
    if given or graph or gaps or not len(placed):
        return Trust([], {})
    if len(placed) < FEWEST:
        return Trust([not_judged()], {})
    measure = {"metric": metric, "metric_params": parameters.get("metric_params")}
    if judged is None:
        sample = None if len(placed) <= _LOOKED else _LOOKED
        try:
            judged = Judged(X, coordinates, n_neighbors=usual_neighbors(len(placed)), sample=sample, **measure)
        except InputError as error:  # the metric sees no two rows apart, say; the map is written
            return Trust([f"verdict   none: {error}"], {"verdict": [], "not_judged": str(error)})
    looked = None if judged.exact else len(judged.rows)
    correlation = distance_correlation(judged).value
    shape = f"shape     rank correlation {correlation:.2f} of all distances with those in the data"
    found = faults_of(judged, every_row=False)
    said = verdict_of(judged, model, found, names or None)
    sampled = [] if looked is None else [f"judged    by {looked:,} of {len(placed):,} rows, drawn at random"]
    dimension, estimate = _dimension(X, measure)
    numbers = {
        "rows_judged": len(placed) if looked is None else looked,
        **faults_as_numbers(found),
        "distance_correlation": correlation,
        "dimension": estimate,
        "verdict": [one.text for one in said.sentences],
    }
    lines = [*sampled, *summary(found, len(placed)), shape, *dimension, *lines_of(said)]
    return Trust(lines, numbers)


def faults_as_numbers(found: "Faults") -> dict[str, Any]:
    """Neighbours kept, and each fault with its limit."""
    return {
        "neighbors_kept": found.kept.value,
        "neighbors_kept_interval": None if found.kept.interval is None else list(found.kept.interval),
        "faults": {one.name: {"value": one.total, "limit": one.threshold, "above": bool(one.named)} for one in found},
    }


def measure_as_numbers(measure: "Measure") -> dict[str, Any]:
    """A value, and its interval."""
    return {"value": measure.value, "interval": None if measure.interval is None else list(measure.interval)}


def usual_neighbors(n: int) -> int:
    """By how many neighbours a map of so many rows is judged: no more than a third of them."""
    return max(1, min(_NEIGHBORS, n // 3))


def summary(found: "Faults", n: int) -> list[str]:
    """Summary lines of a map of n rows: neighbours kept, the faults, and their limits."""
    from math import isnan

    from gramfold.diagnostics.four_faults import percent
    from gramfold.diagnostics.plain_words import FEW, undecided

    lines = [f"kept      {value_in_words(found.kept, '.0%')} of the nearest neighbours"]
    if n < FEW:
        lines.append(f"caution   {n} rows are few: each counts for much, and chance may change what is said")
    below: list[Fault] = []
    for fault in found:
        limit = percent(fault.threshold)
        if isnan(fault.total):
            lines.append(f"{fault.name:<9} {fault.words}")
        elif fault.interval is not None and undecided(fault):
            low, high = map(percent, fault.interval)
            lines.append(
                f"{fault.name:<9} {fault.words}; from the rows drawn it cannot be decided whether that is above the "
                f"limit of {limit}: {low} to {high}"
            )
        elif fault.named:
            # one digit more where the limit would read as the fault does
            alike = percent(fault.total) == limit
            above = f"{100 * fault.total:.2f}% is above the limit of {100 * fault.threshold:.2f}%"
            lines.append(
                f"{fault.name:<9} {fault.words}" + (f": {above}" if alike else f", above the limit of {limit}")
            )
        else:
            below.append(fault)
    if below:
        every = len(below) == len(list(found))
        start = "faults    none is above its limit" if every else "others    below their limits"
        lines.append(f"{start}: {_with_limits(below)}")
    return lines


def _with_limits(below: "list[Fault]") -> str:
    from gramfold.diagnostics.four_faults import percent

    first = f"{below[0].name} {percent(below[0].total)} (limit {percent(below[0].threshold)})"
    return ", ".join(
        [first, *(f"{fault.name} {percent(fault.total)} ({percent(fault.threshold)})" for fault in below[1:])]
    )


def not_judged() -> str:
    """The summary line in the place of faults, of so few rows that these cannot be told from chance."""
    from gramfold.diagnostics.plain_words import FEWEST

    return f"faults    not judged: fewer than {FEWEST} rows"


def value_in_words(measure: "Measure", form: str = ".3f") -> str:
    """A measure, with its interval if it has one."""
    if measure.interval is None:
        return f"{measure.value:{form}}"
    low, high = measure.interval
    return f"{measure.value:{form}} ({low:{form}} to {high:{form}})"


@contextmanager
def scales_told_by_name() -> Iterator[None]:
    """A fit in this block says nothing of loud columns, which it knows by number only: `loud_lines` does."""
    from gramfold.errors import ScaleWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)
        yield


def loud_lines(
    model: Any, X: Any, names: list[str], quiet: bool, given_graph: bool = False, option: str = ""
) -> list[str]:
    """A line on the few columns that a fit sees, or where no lines are shown a warning; `option` would scale them."""
    from gramfold.errors import ScaleWarning
    from gramfold.neighbors.loud import loud_columns
    from gramfold.runtime.warning import warn

    found = loud_columns(model, X, given_graph=given_graph)
    if found is not None and quiet:
        warn(found.sentence(names), ScaleWarning)
    return [f"{line}{option}" for line in _scale_lines(found, names)]


def scale_lines(X: Any, names: list[str], metric: Any) -> list[str]:
    """Say so where a few columns are nearly all that distances see."""
    import numpy as np

    from gramfold.neighbors.metrics import sees_units
    from gramfold.neighbors.scales import LoudColumns

    return _scale_lines(LoudColumns.of(X) if isinstance(X, np.ndarray) and sees_units(metric) else None, names)


def _scale_lines(found: "LoudColumns | None", names: list[str]) -> list[str]:
    return [] if found is None else [f"scales    {found.words(names)}"]


def _dimension(X: Any, measure: dict[str, Any]) -> tuple[list[str], float | None]:
    from gramfold.diagnostics import maximum_likelihood
    from gramfold.errors import InputError

    try:
        found = maximum_likelihood(X, sample=_LOOKED, **measure)
    except InputError as error:  # too few distinct rows, say
        return [f"dimension not estimated: {error}"], None
    low, high = found.interval or (found.value, found.value)
    corrected = "" if f"{found.best:.2g}" == f"{found.value:.2g}" else f", {found.best:.2g} if corrected for edges"
    corrected = ", too few rows to correct it" if found.beyond_correction else corrected
    line = f"dimension {found.value:.2g} ({low:.2g} to {high:.2g}){corrected}: see `gramfold dimension`"
    return [line], float(found.best)

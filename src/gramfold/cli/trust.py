"""Summary lines of `embed` and `judge`: neighbours kept, faults of the map, the dimension of the data, the verdict."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramfold.diagnostics import Faults, Measure
    from gramfold.neighbors.scales import LoudColumns

_LOOKED = 500  # rows that are looked at among more: a summary must not take longer than the map
_FEWEST = 50  # rows below which little can be told
_NEIGHBORS = 10


def trust_lines(model: Any, X: Any, coordinates: Any) -> list[str]:
    """What can be said of a map whose data are rows, or all distances; nothing of a graph, a kernel, or gaps."""
    import numpy as np

    from gramfold.cli.in_words import verdict_lines
    from gramfold.diagnostics import Judged, distance_correlation
    from gramfold.diagnostics.four_faults import faults_of

    parameters = model.get_params()
    metric = parameters.get("metric", "euclidean")
    given = [name for name in ("kernel", "weights") if parameters.get(name) == "precomputed"]
    graph = metric == "precomputed" and hasattr(X, "nnz")
    placed = coordinates[~np.isnan(coordinates).any(axis=1)]
    gaps = isinstance(X, np.ndarray) and X.dtype != object and np.isnan(X).any()
    if given or graph or gaps or not len(placed):
        return []
    if len(placed) < _FEWEST:
        return [f"faults    not judged: fewer than {_FEWEST} rows"]
    measure = {"metric": metric, "metric_params": parameters.get("metric_params")}
    looked = None if len(placed) <= _LOOKED else _LOOKED
    judged = Judged(X, coordinates, n_neighbors=_NEIGHBORS, sample=looked, **measure)
    shape = (
        f"shape     rank correlation {distance_correlation(judged).value:.2f} of all distances with those in the data"
    )
    found = faults_of(judged, every_row=False)
    return [*summary(found), shape, *_dimension(X, measure), *verdict_lines(judged, found, model)]


def summary(found: "Faults") -> list[str]:
    """Summary lines: neighbours kept, and the faults above their thresholds."""
    from gramfold.diagnostics.four_faults import percent

    lines = [f"kept      {value_in_words(found.kept, '.0%')} of the nearest neighbours"]
    named = [fault for fault in found if fault.named]
    lines += [f"{fault.name:<9} {fault.words}, above the limit of {percent(fault.threshold)}" for fault in named]
    if not named:
        lines.append("faults    none is above its limit")
    return lines


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


def loud_lines(model: Any, X: Any, names: list[str], quiet: bool, given_graph: bool = False) -> list[str]:
    """A line on the few columns that a fit sees, or where no lines are shown a warning."""
    from gramfold.errors import ScaleWarning
    from gramfold.neighbors.loud import loud_columns
    from gramfold.runtime.warning import warn

    found = loud_columns(model, X, given_graph=given_graph)
    if found is not None and quiet:
        warn(found.sentence(names), ScaleWarning)
    return _scale_lines(found, names)


def scale_lines(X: Any, names: list[str], metric: Any) -> list[str]:
    """Say so where a few columns are nearly all that distances see."""
    import numpy as np

    from gramfold.neighbors.metrics import sees_units
    from gramfold.neighbors.scales import LoudColumns

    return _scale_lines(LoudColumns.of(X) if isinstance(X, np.ndarray) and sees_units(metric) else None, names)


def _scale_lines(found: "LoudColumns | None", names: list[str]) -> list[str]:
    return [] if found is None else [f"scales    {found.words(names)}"]


def _dimension(X: Any, measure: dict[str, Any]) -> list[str]:
    from gramfold.diagnostics import maximum_likelihood
    from gramfold.errors import InputError

    try:
        found = maximum_likelihood(X, sample=_LOOKED, **measure)
    except InputError as error:  # too few distinct rows, say
        return [f"dimension not estimated: {error}"]
    low, high = found.interval or (found.value, found.value)
    corrected = "" if f"{found.best:.2g}" == f"{found.value:.2g}" else f", {found.best:.2g} if corrected for edges"
    corrected = ", too few rows to correct it" if found.beyond_correction else corrected
    return [f"dimension {found.value:.2g} ({low:.2g} to {high:.2g}){corrected}: see `gramfold dimension`"]

"""Summary lines of `embed`: neighbours kept, faults of the map, the dimension of the data, the verdict."""

from typing import Any

_LOOKED = 500  # rows that are looked at among more: a summary must not take longer than the map
_FEWEST = 50  # rows below which little can be told
_NEIGHBORS = 10
_COLUMNS, _DOMINANT = 3, 0.9  # of so many columns or more one has most of the variance


def trust_lines(model: Any, X: Any, coordinates: Any) -> list[str]:
    """What can be said of a map whose data are rows, or all distances; nothing of a graph, a kernel, or gaps."""
    import numpy as np

    from gramfold.cli.in_words import verdict_lines
    from gramfold.cli.judge import summary
    from gramfold.diagnostics import Judged, distance_correlation
    from gramfold.diagnostics.four_faults import faults_of

    parameters = model.get_params()
    metric = parameters.get("metric", "euclidean")
    given = [name for name in ("kernel", "weights") if parameters.get(name) == "precomputed"]
    graph = metric == "precomputed" and hasattr(X, "nnz")
    placed = coordinates[~np.isnan(coordinates).any(axis=1)]
    gaps = isinstance(X, np.ndarray) and X.dtype != object and np.isnan(X).any()
    if given or graph or gaps or not len(placed) or not np.ptp(placed, axis=0).any():
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


def scale_lines(X: Any, names: list[str], metric: Any) -> list[str]:
    """Say so where one column is nearly all that Euclidean distances see."""
    import numpy as np

    if metric != "euclidean" or not isinstance(X, np.ndarray) or X.dtype == object or X.shape[1] < _COLUMNS:
        return []
    variances = np.nanvar(X / (float(np.nanmax(np.abs(X))) or 1.0), axis=0)
    share = float(variances.max() / variances.sum()) if variances.any() else 0.0
    if share < _DOMINANT:
        return []
    name = names[int(np.argmax(variances))]
    return [f"scales    column '{name}' has {share:.1%} of the variance: standardise columns whose units differ"]


def _dimension(X: Any, measure: dict[str, Any]) -> list[str]:
    from gramfold.diagnostics import maximum_likelihood
    from gramfold.errors import InputError

    try:
        found = maximum_likelihood(X, sample=_LOOKED, **measure)
    except InputError as error:  # too few distinct rows, say
        return [f"dimension not estimated: {error}"]
    low, high = found.interval or (found.value, found.value)
    corrected = "" if f"{found.best:.2g}" == f"{found.value:.2g}" else f", {found.best:.2g} if corrected for edges"
    return [f"dimension {found.value:.2g} ({low:.2g} to {high:.2g}){corrected}: see `gramfold dimension`"]

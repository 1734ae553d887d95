"""All measures of a map at once."""

from collections.abc import Callable
from functools import partial
from typing import Any

from gramfold.diagnostics.coranking import r_nx_area
from gramfold.diagnostics.density import density_preservation
from gramfold.diagnostics.described import described
from gramfold.diagnostics.distance_stress import residual_variance, stress
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.labels import neighborhood_purity, require_labels_in_order, silhouette
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.rank_correlation import distance_correlation
from gramfold.diagnostics.rank_errors import continuity, trustworthiness
from gramfold.diagnostics.shared_neighbors import lcmc, r_nx
from gramfold.diagnostics.triplets import triplet_accuracy
from gramfold.errors import UndefinedMeasureError, UndefinedMeasureWarning
from gramfold.neighbors.metrics import MetricName
from gramfold.runtime.warning import warn

_MEASURES = (
    trustworthiness,
    continuity,
    lcmc,
    r_nx,
    r_nx_area,
    distance_correlation,
    residual_variance,
    stress,
    triplet_accuracy,
    density_preservation,
)


@described
def measures(
    X: Any,
    Y: Any = None,
    labels: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> dict[str, Measure]:
    """All measures of a map, by name, from one neighbour search in the data and one on the map.

    No single number decides: trustworthiness alone is high on collapsed maps, continuity alone on maps that bring
    strangers together, and measures of all distances see the large shape only. A measure that is not defined for these
    rows is NaN, with a warning that says why.

    Parameters
    ----------
    {shared}
    labels : array-like of shape (n_rows,), optional
        The label of each row; where they are given, ``neighborhood_purity`` (on the map),
        ``neighborhood_purity_in_data`` and ``silhouette`` (on the map) are computed too.
    {options}

    Returns
    -------
    dict of str to Measure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramfold import PCA
    >>> from gramfold.diagnostics import measures
    >>> X, species = load_iris(return_X_y=True)
    >>> found = measures(X, PCA(2).fit_transform(X), species)
    >>> found["trustworthiness"], found["silhouette"]
    (Measure(0.983), Measure(0.5344))
    """
    require_labels_in_order(X, Y, labels)
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    asked: dict[str, Callable[[], Measure]] = {each.__name__: partial(each, judged) for each in _MEASURES}
    if labels is not None:
        asked["neighborhood_purity"] = partial(neighborhood_purity, judged, labels=labels)
        asked["neighborhood_purity_in_data"] = partial(neighborhood_purity, judged, labels=labels, on="data")
        asked["silhouette"] = partial(silhouette, judged, labels=labels)
    return {name: _defined(name, measure) for name, measure in asked.items()}


def _defined(name: str, measure: Callable[[], Measure]) -> Measure:
    try:
        return measure()
    except UndefinedMeasureError as error:
        warn(f"{name} is NaN: {error}", UndefinedMeasureWarning)
        return Measure(float("nan"))

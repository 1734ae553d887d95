"""Which fits depend on the units of the columns, and what they say of columns that drown the others."""

from collections.abc import Sequence
from typing import Any

from gramfold.errors import ScaleWarning
from gramfold.neighbors.metrics import sees_units
from gramfold.neighbors.scales import LoudColumns
from gramfold.runtime.warning import warn

_IN_PARTS = "of a Dask collection with X = (X - X.mean(axis=0)) / X.std(axis=0); gramfold embed does it by itself"


def loud_columns(estimator: Any, X: Any, *, given_graph: bool = False) -> LoudColumns | None:
    """The few columns of rows, as they were read, that are nearly all that a fit sees; None where it sees no units."""
    return LoudColumns.of(X) if units_count(estimator, given_graph=given_graph) else None


def units_count(estimator: Any, *, given_graph: bool = False) -> bool:
    """Whether a fit depends on the units of the columns.

    Units count wherever distances or variances are measured: not in the classes or the weighted graph that LPP may be
    given, in precomputed values, and in distances that have units of their own.
    """
    values = [getattr(estimator, name, None) for name in ("metric", "kernel", "weights", "graph")]
    given = given_graph or any(isinstance(one, str) and one in ("precomputed", "classes") for one in values)
    metric, kernel = getattr(estimator, "metric", "euclidean"), getattr(estimator, "kernel", "linear")
    free = given or estimator.unit_free or not sees_units(metric)
    return not (free or not isinstance(kernel, str) or kernel == "cosine")


def warn_of_loud_columns(
    estimator: Any, X: Any, names: Sequence[str] | None, *, given_graph: bool, in_parts: bool = False
) -> None:
    """Say so where few columns are nearly all that a fit sees; `in_parts`: of rows that scikit-learn would gather."""
    found = loud_columns(estimator, X, given_graph=given_graph)
    if found is not None:
        warn(found.sentence(names, _IN_PARTS) if in_parts else found.sentence(names), ScaleWarning)

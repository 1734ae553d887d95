"""Choose a search structure by the input, the metric and the predicted cost."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import ApproximationWarning, InputError
from gramfold.neighbors.approximate import SmallWorldIndex, faiss_installed
from gramfold.neighbors.duplicates import Collapse, collapse_distances, collapse_rows, no_duplicates
from gramfold.neighbors.exact import BlockedIndex, TreeIndex
from gramfold.neighbors.index import Index, VectorIndex
from gramfold.neighbors.join import plan
from gramfold.neighbors.leading import plan_without_bounds
from gramfold.neighbors.metrics import Metric, MetricName, make_metric
from gramfold.neighbors.precomputed import DistanceIndex, GraphIndex, TransformerIndex, rounding_of, settled_distances
from gramfold.neighbors.sparse_index import SparseRowsIndex
from gramfold.neighbors.sparse_sketch import SketchIndex
from gramfold.runtime.costs import COSTS, SearchCosts
from gramfold.runtime.warning import warn
from gramfold.types import Floats


def build_index(
    X: Any,
    *,
    metric: MetricName,
    metric_params: Mapping[str, Any] | None,
    search: Any,
    n_neighbors: int,
    radius: float | None,
    n_jobs: int | None,
    random_state: np.random.RandomState,
    costs: SearchCosts = COSTS.search,
) -> tuple[Index, Collapse]:
    """Search structure of the distinct rows of X, and the groups of duplicate rows."""
    if metric == "precomputed":
        if issparse(X):
            return GraphIndex.of(X), no_duplicates(X.shape[0])
        distances = settled_distances(X, costs)
        collapse = collapse_distances(distances, rounding_of(X))
        _check_k(n_neighbors, radius, len(collapse))
        return DistanceIndex.of(distances, collapse.first, float(X.diagonal().max()), costs), collapse
    measure = make_metric(metric, metric_params, X)  # its scales count every row
    collapse = collapse_rows(measure.prepare(X))  # for the cosine metric rows of one direction are the same
    points = X if len(collapse) == X.shape[0] else X[collapse.first]
    if not isinstance(search, str):
        return TransformerIndex.of(search, exact_index(points, measure, n_jobs, costs)), collapse
    _check_k(n_neighbors, radius, len(collapse))
    index = rows_index(
        points,
        measure,
        search=search,
        n_neighbors=n_neighbors,
        radius=radius,
        n_jobs=n_jobs,
        random_state=random_state,
        costs=costs,
    )
    return index, collapse


def rows_index(
    points: Any,
    measure: Metric,
    *,
    search: str,
    n_neighbors: int,
    radius: float | None,
    n_jobs: int | None,
    random_state: np.random.RandomState,
    costs: SearchCosts = COSTS.search,
) -> VectorIndex:
    """Search structure of distinct rows: exact, or approximate where that is asked for or exact is predicted slow."""
    slow = search == "auto" and _exact_is_slow(points, measure, n_neighbors, radius, costs)
    if issparse(points) and search == "approximate":
        sketched = SketchIndex.of(points, measure, n_jobs, random_state, costs)
        return sketched.measured(n_neighbors, random_state)
    if search == "approximate" or slow:
        index = SmallWorldIndex.of(points, measure, n_jobs, costs).measured(n_neighbors, random_state)
        if search == "auto":
            warn(
                f"neighbours of {len(points):,} rows in {points.shape[1]} dimensions were found approximately "
                f"(recall {index.recall:.3f} on a sample): pass search='approximate' to accept this, or "
                "search='exact' for exact neighbours, which takes longer.",
                ApproximationWarning,
            )
        return index
    return exact_index(points, measure, n_jobs, costs)


def exact_index(points: Any, metric: Metric, n_jobs: int | None, costs: SearchCosts = COSTS.search) -> VectorIndex:
    """A k-d tree in few dimensions, a blocked exact search in many, and one of products for sparse rows."""
    if issparse(points):
        return SparseRowsIndex(points, metric, n_jobs, costs=costs)
    tree = metric.family in {"euclidean", "minkowski"} and points.shape[1] <= costs.tree_columns
    return (TreeIndex if tree else BlockedIndex)(points, metric, n_jobs, costs=costs)


def _exact_is_slow(points: Floats, metric: Metric, k: int, radius: float | None, costs: SearchCosts) -> bool:
    n, d = points.shape
    if issparse(points):
        return False  # products of sparse rows are quick
    if metric.family != "euclidean" or radius is not None or d <= costs.tree_columns or not faiss_installed():
        return False
    approximate = costs.approximate_row + costs.approximate_column * d
    if n / 2 * plan_without_bounds(d, costs).cost <= approximate:  # a pair serves two rows
        return False
    rows = metric.prepare(points)
    return bool(n / 2 * plan(rows, rows, k, costs).cost > approximate)


def _check_k(n_neighbors: int, radius: float | None, n: int) -> None:
    if radius is None and n_neighbors >= n:
        if n == 1:
            raise InputError("all rows are equal, so none has a neighbour: check that the right columns were selected.")
        raise InputError(
            f"n_neighbors={n_neighbors}, but there are only {n} distinct rows, so each has at most {n - 1} neighbours: "
            f"use n_neighbors <= {n - 1} or more rows."
        )

"""The parameters that all measures share, and those of all estimators of the dimension, described once."""

from collections.abc import Callable
from typing import Any, TypeVar

_OF_MAPS = """X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns), fitted estimator, or Judged
        The data; with ``metric="precomputed"`` the matrix of all distances. A `Judged` has data, map and all other
        arguments, and shares its neighbour searches among measures. Of rows in partitions (Dask, files that are
        streamed) 10,000 are drawn, and compared with each other.
    Y : array-like of shape (n_rows, n_components), optional
        The map, however it was made. Rows with NaN are left out. None where X is a `Judged`, and where it is a fitted
        estimator whose ``embedding_`` is meant."""

_OPTIONS = """n_neighbors : int, default=10
        Number of neighbours of each row; of no effect on measures of all distances.
    metric : str or callable, default="euclidean"
        Distance in the data; distances on the map are Euclidean.
    sample : int, optional
        Number of rows whose distances from all others are computed: by default all of up to 3,000, and 1,000 drawn at
        random among more.
    random_state : int, default=0
        Seed of what is drawn."""

_ROWS = """X : array-like or sparse matrix of shape (n_rows, n_features), or fitted model
        Rows; distances between all of them with ``metric="precomputed"``; or a fitted model of gramfold, for its rows.
        Copies of a row count once. Of rows in partitions (Dask, files that are streamed) 10,000 are drawn."""

_SEARCH = """metric : str or callable, default="euclidean"
        Distance between rows, as of `Isomap`.
    metric_params : dict, default=None
        Keyword arguments of the metric.
    sample : int or None, default=20000
        Rows whose neighbours are searched, among all rows; None: of all, as with ``metric="precomputed"``.
    level : float, default=0.9
        Confidence of the interval.
    random_state : int, RandomState instance or None, default=0
        Draws the sample.
    n_jobs : int, default=None
        Threads; None: all."""

_PIECES = {"shared": _OF_MAPS, "options": _OPTIONS, "rows": _ROWS, "search": _SEARCH}

Function = TypeVar("Function", bound=Callable[..., Any])


def described(function: Function) -> Function:
    """Put the shared parameters into the documentation of a function, in the place of their names in braces."""
    for name, piece in _PIECES.items():
        if function.__doc__ is not None:
            function.__doc__ = function.__doc__.replace(f"{{{name}}}", piece)
    return function

"""The parameters that all measures share, described once."""

from collections.abc import Callable
from typing import Any, TypeVar

_SHARED = """X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns), fitted estimator, or Judged
        The data; with ``metric="precomputed"`` the matrix of all distances. A `Judged` has data, map and all other
        arguments, and shares its neighbour searches among measures.
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

Function = TypeVar("Function", bound=Callable[..., Any])


def described(function: Function) -> Function:
    """Put the shared parameters into the documentation of a measure."""
    if function.__doc__ is not None:
        function.__doc__ = function.__doc__.replace("{shared}", _SHARED).replace("{options}", _OPTIONS)
    return function

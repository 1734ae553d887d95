"""What a fitted estimator says of rows, said of rows in partitions: of each row lazily, or as a mean over all."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from gramfold.neighbors.partitioned import is_partitioned

Way = TypeVar("Way", bound=Callable[..., Any])


def by_partition(way: Way) -> Way:
    """A method that answers for each row by itself: of rows in partitions it answers where these are."""
    _, first, *_ = signature(way).parameters  # the rows, or coordinates

    @wraps(way)
    def answered(self: Any, *args: Any, **options: Any) -> Any:
        if not is_partitioned(args[0] if args else options.get(first)):
            return way(self, *args, **options)
        from gramfold.distributed import place_partitions

        given = signature(way).bind(self, *args, **options).arguments
        del given["self"]
        return place_partitions(self, way.__name__, given.pop(first), **given)

    return cast(Way, answered)


def mean_by_partition(score: Way) -> Way:
    """A `score` that is a mean over rows: of rows in partitions it is the mean over all."""

    @wraps(score)
    def scored(self: Any, X: Any, y: Any = None) -> float:
        if not is_partitioned(X):
            return float(score(self, X, y))
        total, n = score_sum(self, X)
        return total / n

    return cast(Way, scored)


def score_sum(estimator: Any, X: Any) -> tuple[float, int]:
    """Its `score` of rows in partitions, as a sum over them, and how many they are."""
    from gramfold.distributed import score_sum as summed

    return summed(estimator, X)

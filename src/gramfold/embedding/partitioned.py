"""Whether what a user passes is a table in partitions: asked of every X, before anything that knows Dask is loaded."""

from os import PathLike
from typing import Any


def is_partitioned(X: Any) -> bool:
    """Whether it is: a Dask collection, rows that were opened for streaming, or a path to files."""
    return is_dask(X) or getattr(type(X), "in_partitions", False) or isinstance(X, str | PathLike)


def is_dask(X: Any) -> bool:
    """Whether it is a Dask array or dataframe."""
    home = type(X).__module__
    return home.startswith(("dask.", "dask_expr.")) and hasattr(X, "__dask_graph__")

"""Whether what a user passes is a table in partitions: asked of every X, before anything that knows Dask is loaded."""

import os
from collections.abc import Callable
from functools import wraps
from glob import has_magic
from inspect import unwrap
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gramfold.neighbors.columns import is_dask
from gramfold.runtime.memory import available_memory

_IN_PARTS = {".parquet", ".pq", ".npy"}  # endings of files that are read in parts
_TOO_LARGE = 0.5  # of the free memory: a mapped array that takes more of it is streamed


def is_partitioned(X: Any) -> bool:
    """Whether it is: a Dask collection, rows that were opened, files of parts, or an array mapped from a large file."""
    return is_dask(X) or _is_opened(X) or _names_parts(X) or _is_large_map(X)


def outside_containers(transform: Callable[..., Any]) -> Callable[..., Any]:
    """`transform` as scikit-learn has wrapped it, but for Dask, whose lazy rows its containers would gather."""

    @wraps(transform)
    def placed(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if is_dask(X) or (_is_opened(X) and X.lazy):
            return unwrap(transform)(self, X, *args, **kwargs)
        return transform(self, X, *args, **kwargs)

    return placed


def _is_opened(X: Any) -> bool:
    return getattr(type(X), "in_partitions", False) is True  # those of gramfold.distributed


def _names_parts(X: Any) -> bool:
    if not isinstance(X, str | PathLike):
        return False
    text = os.fspath(X)
    if not isinstance(text, str):  # a path of bytes
        return False
    if text.endswith(("/", os.sep)):  # a folder, whether it is there or not
        return True
    # not Path.is_dir, which raises for text that is too long for a path
    return Path(text).suffix.lower() in _IN_PARTS or has_magic(text) or os.path.isdir(text)  # noqa: PTH112


def _is_large_map(X: Any) -> bool:
    return isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > _TOO_LARGE * available_memory()

"""Which files the partitions of a Dask dataframe are read from, for errors that name them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def files_of_parts(frame: Any, parts: Sequence[Any]) -> tuple[str, ...] | None:
    """The file of each partition (several are joined by commas); None where no Parquet files are read.

    Dask has no question for it: the names are found among the arguments of its tasks. Where a version of Dask keeps
    them elsewhere they are not known.
    """
    if not any("Parquet" in type(one).__name__ for one in frame.expr.walk()):
        return None
    found = tuple(", ".join(dict.fromkeys(_files(part.dask[part.key]))) for part in parts)
    return found if all(found) else None


def _files(task: Any) -> Iterator[str]:
    if isinstance(task, str):
        if task.endswith((".parquet", ".pq")):
            yield task
    elif isinstance(task, Mapping):
        for one in task.values():
            yield from _files(one)
    elif isinstance(task, list | tuple):
        for one in task:
            yield from _files(one)
    elif hasattr(task, "fragment"):  # of pyarrow, as Dask sends it
        yield str(task.fragment.path)
    else:  # a task within the task
        for name in ("args", "kwargs", "value"):
            if hasattr(type(task), name) or name in getattr(task, "__slots__", ()):
                yield from _files(getattr(task, name))

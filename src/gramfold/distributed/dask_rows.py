"""Rows of a Dask array or dataframe: partitions are tasks, and stay where Dask has them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.utils.validation import _get_feature_names

from gramfold.distributed.blocks import BlockReader, float_dtype
from gramfold.distributed.parquet_parts import files_of_parts
from gramfold.distributed.partitions import Partitions, Work, picked
from gramfold.distributed.running import computed, current_client, key_of, on_worker, persisted, where
from gramfold.errors import GramfoldError, InputError, MemoryForecastError
from gramfold.neighbors.columns import require_numeric_types, require_table, types_of
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import Integers

_FAN_IN = 8  # results that one task merges


class DaskRows(Partitions):
    """See the module."""

    lazy = True
    collection: Any = None  # that the partitions are of, where they are of one

    def __init__(self, parts: Sequence[Any], reader: BlockReader, client: Any = None, stages: Stages = SILENT) -> None:
        self.parts, self.reader, self.client, self.stages = list(parts), reader, client, stages

    @classmethod
    def of(cls, X: Any, *, gaps: bool = False, client: Any = None, stages: Stages = SILENT) -> "DaskRows":
        """Of a collection of numbers; nothing is computed."""
        collection = in_rows(X)
        require_numeric(collection)
        parts = np.ravel(collection.to_delayed()).tolist()
        found = cls(parts, reader_of(collection, parts, gaps=gaps), client, stages)
        found.collection = collection
        return found

    def __len__(self) -> int:
        return len(self.parts)

    def each(self, name: str, work: Work, *shared: Any, own: Sequence[Any] | None = None) -> list[Any]:
        return computed(self.tasks(name, work, *shared, own=own), name, self.client, self.stages, reader=self.reader)

    def total(
        self,
        name: str,
        work: Work,
        merge: Callable[[Any, Any], Any],
        *shared: Any,
        own: Sequence[Any] | None = None,
    ) -> Any:
        tasks = self.tasks(name, work, *shared, own=own)
        steps = [task.key for task in tasks]
        whole = [merged_tasks(tasks, merge, name)]
        return computed(whole, name, self.client, self.stages, reader=self.reader, steps=steps)[0]

    def tasks(self, name: str, work: Work, *shared: Any, own: Sequence[Any] | None = None) -> list[Any]:
        """The same as tasks, of which nothing runs yet."""
        from dask import delayed

        token, files, sizes = uuid4().hex[:16], self.reader.labels, vars(self).get("sizes")
        # what all need is one task: the arguments of each are looked through one by one
        common = (replace(self.reader, labels=None), work, shared)
        sent = delayed(common, name=key_of(name, token, "shared"), pure=False, traverse=False)
        run = delayed(_worked, pure=False, traverse=False)
        return [
            run(
                part,
                i,
                None if files is None else files[i],
                None if sizes is None else int(sizes[i]),
                sent,
                None if own is None else (own[i],),
                dask_key_name=key_of(name, token, i),
            )
            for i, part in enumerate(self.parts)
        ]

    @contextmanager
    def kept(self, numbers: Integers | None = None) -> Iterator["DaskRows"]:
        """The rows as they were read, or those of these ascending numbers, held by the workers.

        A lost one is read again. Without a cluster nothing is held.
        """
        if numbers is None:
            tasks = self.tasks("read", _itself)
        else:
            places = self.places_of(numbers)
            tasks = self.tasks("rows", picked, own=places)
        client = current_client() if self.client is None else self.client
        with nullcontext(tasks) if client is None else persisted(tasks, client) as held:
            kept = DaskRows(held, replace(self.reader.unnamed(), held=True), client, self.stages)
            if numbers is not None:
                kept.sizes = np.array([len(one) for one in places], dtype=np.intp)
            elif "sizes" in vars(self):
                kept.sizes = self.sizes
            yield self if client is None and numbers is None else kept


def _itself(rows: Any) -> Any:
    return rows


def _worked(
    block: Any,
    number: int,
    file: str | None,
    size: int | None,
    common: tuple[BlockReader, Work, tuple[Any, ...]],
    own: Any,
) -> Any:
    reader, work, shared = common
    if block is None and reader.held:  # without rows
        return None
    return on_worker(_on_rows, block, number, reader.knowing(number, file), size, work, (*shared, *(own or ())))


def _on_rows(
    block: Any, number: int, reader: BlockReader, size: int | None, work: Work, arguments: tuple[Any, ...]
) -> Any:
    try:
        rows = reader.read(block, number)
        if size is not None and len(rows) != size:
            raise InputError(
                f"{reader.named(number)} has {len(rows):,} rows, and had {size:,} when it was read before, but a fit "
                "reads the same rows several times: pass X.persist(), or write X to files first."
            )
        return work(rows, *arguments) if len(rows) else None
    except GramfoldError:
        raise
    except MemoryError as error:
        raise MemoryForecastError(
            f"{reader.named(number)} needs more memory than {where()} has ({error}): use smaller partitions, or fewer "
            "threads for each worker."
        ) from error


def merged_tasks(tasks: Sequence[Any], merge: Callable[[Any, Any], Any], name: str) -> Any:
    """One task for all of these: a tree over their order."""
    from dask import delayed

    token, level, run = uuid4().hex[:16], 0, delayed(_merged, pure=False, traverse=False)
    tasks = list(tasks)
    while len(tasks) > 1 or level == 0:
        groups = [tasks[i : i + _FAN_IN] for i in range(0, len(tasks), _FAN_IN)]
        tasks = [
            run(merge, *group, dask_key_name=key_of(f"{name}-sum", token, f"{level}-{i}"))
            for i, group in enumerate(groups)
        ]
        level += 1
    return tasks[0]


def _merged(merge: Callable[[Any, Any], Any], *results: Any) -> Any:
    found = [one for one in results if one is not None]
    while len(found) > 1:
        pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
        found = [merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return found[0] if found else None


def reader_of(X: Any, parts: Sequence[Any] | None = None, *, gaps: bool = False) -> BlockReader:
    """Of the partitions of a collection with whole rows in each; those of a dataframe that reads files have names."""
    dtype = float_dtype([one for _, one in _types(X)])
    if not is_frame(X):
        return BlockReader(None, int(X.shape[1]), dtype, gaps)
    found = _get_feature_names(X._meta)  # noqa: SLF001  Dask's word for it
    names = None if found is None else tuple(found)
    files = files_of_parts(X, X.to_delayed() if parts is None else parts)
    return BlockReader(names, len(X.columns), dtype, gaps, files, tuple(X.columns))


def require_numeric(X: Any) -> None:
    """Raise an error for columns that Dask knows to hold no numbers, before any partition is read."""
    require_numeric_types(_types(X), X)


def _types(X: Any) -> list[tuple[Any, Any]]:
    """Name and type of each column."""
    return list(zip(X.columns, X.dtypes, strict=True)) if is_frame(X) else [(j, X.dtype) for j in range(X.shape[1])]


def is_frame(X: Any) -> bool:
    """Whether it has named columns."""
    return hasattr(X, "columns")


def in_rows(X: Any) -> Any:
    """The collection with whole rows in each partition."""
    if not isinstance(getattr(X, "ndim", None), int):
        raise InputError(
            f"X is a Dask {type(X).__name__}, which has no rows and columns: pass a Dask array or dataframe "
            "(dask.array.from_delayed, dask.dataframe.from_delayed)."
        )
    if X.ndim == 1 and hasattr(X, "to_frame"):
        raise InputError(
            f"Expected 2D array, got 1D: X is a Dask {type(X).__name__}, and a table has columns: pass X.to_frame()."
        )
    if is_frame(X):
        require_table(X._meta, least_rows=0)  # noqa: SLF001  Dask's word for it
        types_of(X._meta)  # noqa: SLF001  which reports columns of the same name
        return X
    if X.ndim != 2:
        raise InputError(
            f"X is a Dask array of {X.ndim} dimension{'s' * (X.ndim != 1)}, but a table has 2: pass an array of shape "
            "(n_samples, n_features)."
        )
    if np.isnan(X.shape[1]):
        raise InputError("the number of columns of X is unknown: pass an array whose columns are known.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})

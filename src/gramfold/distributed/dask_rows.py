"""Rows of a Dask array or dataframe: partitions are tasks, and stay where Dask has them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np

from gramfold.distributed.blocks import BlockReader, float_dtype
from gramfold.distributed.parquet_parts import files_of_parts
from gramfold.distributed.partitions import Partitions, Work, picked
from gramfold.distributed.running import computed, current_client, key_of, on_worker, persisted, where
from gramfold.errors import GramfoldError, InputError, MemoryForecastError
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import Integers

_FAN_IN = 8  # results that one task merges


class DaskRows(Partitions):
    """See the module."""

    lazy = True  # of whose places nothing is computed before it is asked for
    collection: Any = None  # that the partitions are of, where they are of one

    def __init__(self, parts: Sequence[Any], reader: BlockReader, client: Any = None, stages: Stages = SILENT) -> None:
        self.parts, self.reader, self.client, self.stages = list(parts), reader, client, stages

    @classmethod
    def of(cls, X: Any, *, gaps: bool = False, client: Any = None, stages: Stages = SILENT) -> "DaskRows":
        """Of a collection; nothing is computed."""
        collection = in_rows(X)
        parts = collection.to_delayed()
        if not is_frame(X):
            reader = BlockReader(None, int(X.shape[1]), float_dtype([X.dtype]), gaps)
            found = cls(parts.ravel().tolist(), reader, client, stages)
        else:
            names, files = tuple(map(str, X.columns)), files_of_parts(X, parts)
            reader = BlockReader(names, len(names), float_dtype(list(X.dtypes)), gaps, files)
            found = cls(parts, reader, client, stages)
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

        token, files = uuid4().hex[:16], self.reader.labels
        # what all need is one task: the arguments of each are looked through one by one
        common = (replace(self.reader, labels=None), work, shared)
        sent = delayed(common, name=key_of(name, token, "shared"), pure=False, traverse=False)
        run = delayed(_worked, pure=False, traverse=False)
        return [
            run(
                part,
                i,
                None if files is None else files[i],
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
            kept = DaskRows(held, replace(self.reader, names=None), client, self.stages)
            if numbers is not None:
                kept.sizes = np.array([len(one) for one in places], dtype=np.intp)
            elif "sizes" in vars(self):
                kept.sizes = self.sizes
            yield self if client is None and numbers is None else kept


def _itself(rows: Any) -> Any:
    return rows


def _worked(
    block: Any, number: int, file: str | None, common: tuple[BlockReader, Work, tuple[Any, ...]], own: Any
) -> Any:
    if block is None:  # kept, and without rows
        return None
    reader, work, shared = common
    return on_worker(_on_rows, block, number, reader.knowing(number, file), work, (*shared, *(own or ())))


def _on_rows(block: Any, number: int, reader: BlockReader, work: Work, arguments: tuple[Any, ...]) -> Any:
    try:
        rows = reader.read(block, number)
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


def is_frame(X: Any) -> bool:
    """Whether it has named columns."""
    return hasattr(X, "columns")


def in_rows(X: Any) -> Any:
    """The collection with whole rows in each partition."""
    if is_frame(X):
        return X
    if X.ndim != 2:
        raise InputError(
            f"X is a Dask array of {X.ndim} dimension{'s' * (X.ndim != 1)}, but a table has 2: pass an array of shape "
            "(n_samples, n_features)."
        )
    if np.isnan(X.shape[1]):
        raise InputError("the number of columns of X is unknown: pass an array whose columns are known.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})

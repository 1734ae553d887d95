"""Rows on disk that are read a batch at a time: Parquet files, and arrays that are mapped into memory.

While one batch is worked on by all threads, the next is read. Two of them and what is made of one are in memory.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from gramfold.distributed.blocks import BlockReader, float_dtype
from gramfold.distributed.partitions import Partitions, Work
from gramfold.errors import InputError
from gramfold.io.arrow import pandas_index
from gramfold.runtime.memory import available_memory
from gramfold.runtime.progress import SILENT, Stages

_SHARE = 8  # of the limit that one batch takes: two are in memory, with what is made of one
_MOST_BYTES = 256e6  # of a batch: from there on larger ones are no faster
_DEFAULT_SHARE = 0.25  # of the memory that is free


def batch_bytes(memory_limit: float | None) -> float:
    """Size of a batch under this limit in bytes; None: a quarter of the memory that is free."""
    limit = _DEFAULT_SHARE * available_memory() if memory_limit is None else memory_limit
    return min(limit / _SHARE, _MOST_BYTES)


class Batches(Partitions):
    """See the module."""

    rows_each: int  # in a batch, at most

    def __init__(self, reader: BlockReader, stages: Stages = SILENT) -> None:
        self.reader, self.stages = reader, stages

    @abstractmethod
    def block(self, number: int) -> Any:
        """Read one batch."""

    def each(self, name: str, work: Work, *shared: Any, own: Sequence[Any] | None = None) -> list[Any]:
        return list(self._worked(name, work, shared, own))

    def total(
        self,
        name: str,
        work: Work,
        merge: Callable[[Any, Any], Any],
        *shared: Any,
        own: Sequence[Any] | None = None,
    ) -> Any:
        found = (one for one in self._worked(name, work, shared, own) if one is not None)
        first = next(found, None)
        return first if first is None else reduce(merge, found, first)

    def _worked(self, name: str, work: Work, shared: Any, own: Sequence[Any] | None) -> Iterator[Any]:
        for number, rows in self._read(name):
            yield work(rows, *shared, *(() if own is None else (own[number],))) if len(rows) else None

    def _read(self, name: str) -> Iterator[tuple[int, Any]]:
        """Batches, each read while the one before it is worked on."""
        with ThreadPoolExecutor(1, thread_name_prefix="gramfold-read") as pool:
            coming = pool.submit(self._rows, 0) if len(self) else None
            for number in self.stages.bar(range(len(self)), len(self), name):
                assert coming is not None
                rows = coming.result()
                coming = pool.submit(self._rows, number + 1) if number + 1 < len(self) else None
                yield number, rows

    def _rows(self, number: int) -> Any:
        return self.reader.read(self.block(number), number)


def limit_like(rows: Batches) -> float:
    """The memory limit under which another table of the same columns is read in batches of as many rows."""
    return float(_SHARE * 8 * rows.rows_each * max(1, rows.width))


class ArrayRows(Batches):
    """Rows of an array that is mapped into memory (`numpy.load(path, mmap_mode="r")`)."""

    def __init__(self, X: np.ndarray, memory_limit: float | None = None, *, gaps: bool = False) -> None:
        if X.ndim != 2:
            raise InputError(f"X is an array of shape {X.shape}, but a table has rows and columns.")
        super().__init__(BlockReader(None, X.shape[1], float_dtype([X.dtype]), gaps))
        self._array = X
        self.rows_each = max(1, int(batch_bytes(memory_limit) // (8 * max(1, X.shape[1]))))
        self.sizes = np.diff([*range(0, len(X), self.rows_each), len(X)])

    def __len__(self) -> int:
        return ceil(len(self._array) / self.rows_each)

    def block(self, number: int) -> Any:
        return np.asarray(self._array[number * self.rows_each : (number + 1) * self.rows_each])


@dataclass(frozen=True)
class Piece:
    """Some rows of a Parquet file."""

    file: int  # its number
    groups: tuple[int, ...]  # row groups that they are in
    first: int  # among the rows of these
    count: int


class ParquetRows(Batches):
    """Rows of Parquet files, one file after the other."""

    def __init__(
        self,
        files: Sequence[Path],
        memory_limit: float | None = None,
        *,
        columns: Sequence[str] | None = None,
        gaps: bool = False,
    ) -> None:
        import pyarrow.parquet as pq

        self.files = tuple(files)
        about = [pq.ParquetFile(file) for file in self.files]
        schema = about[0].schema_arrow
        index = pandas_index(schema)  # which names rows, and is no data
        names = tuple([name for name in schema.names if name not in index] if columns is None else columns)
        types = [schema.field(name).type.to_pandas_dtype() for name in names]
        self.rows_each = rows_each = max(1, int(batch_bytes(memory_limit) // (8 * max(1, len(names)))))
        self.pieces = tuple(piece for i, one in enumerate(about) for piece in pieces_of(i, one.metadata, rows_each))
        labels = tuple(str(self.files[piece.file]) for piece in self.pieces)
        super().__init__(BlockReader(names, len(names), float_dtype(types), gaps, labels))
        self.sizes = np.array([piece.count for piece in self.pieces], dtype=np.intp)

    def __len__(self) -> int:
        return len(self.pieces)

    def block(self, number: int) -> Any:
        import pyarrow.parquet as pq

        piece = self.pieces[number]
        file = pq.ParquetFile(self.files[piece.file])
        names = [name for name in (self.reader.names or ()) if name in file.schema_arrow.names]
        return file.read_row_groups(list(piece.groups), columns=names).slice(piece.first, piece.count)


def pieces_of(file: int, metadata: Any, rows_each: int) -> Iterator[Piece]:
    """Row groups of a file in pieces of at most so many rows; a row group that is longer is cut."""
    groups: list[int] = []
    count = 0
    for group in range(metadata.num_row_groups):
        size = metadata.row_group(group).num_rows
        if groups and count + size > rows_each:
            yield Piece(file, tuple(groups), 0, count)
            groups, count = [], 0
        if size > rows_each:
            for first in range(0, size, rows_each):
                yield Piece(file, (group,), first, min(rows_each, size - first))
            continue
        groups, count = [*groups, group], count + size
    if groups:
        yield Piece(file, tuple(groups), 0, count)

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
from gramfold.distributed.unchanged import fingerprint, readable, require_unchanged
from gramfold.errors import InputError
from gramfold.neighbors.arrow_tables import pandas_index
from gramfold.neighbors.columns import require_numeric_types
from gramfold.runtime.memory import available_memory
from gramfold.runtime.progress import SILENT, Stages

_SHARE = 8  # of the limit that one batch takes: two are in memory, with what is made of one
_MOST_BYTES = 256e6  # of a batch: from there on larger ones are no faster
_DEFAULT_SHARE = 0.25  # of the memory that is free
_LEAST_ROWS = 10  # of a batch


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


def require_batches(limit: float | None, width: int) -> None:
    """Raise an error for a limit in bytes within which rows of this width would be read a few at a time."""
    least = float(_SHARE * 8 * width * _LEAST_ROWS)
    if limit is not None and limit < least:
        raise InputError(
            f"memory_limit={limit:g} bytes is too little: rows of {width:,} column{'s' * (width != 1)} need at least "
            f"{least:,.0f}, and are read fast from some megabytes on."
        )


def limit_like(rows: Batches) -> float:
    """The memory limit under which another table of the same columns is read in batches of as many rows."""
    return float(_SHARE * 8 * rows.rows_each * max(1, rows.width))


class ArrayRows(Batches):
    """Rows of an array that is mapped into memory (`numpy.load(path, mmap_mode="r")`)."""

    def __init__(self, X: np.ndarray, memory_limit: float | None = None, *, gaps: bool = False) -> None:
        if X.ndim != 2:
            raise InputError(f"X is an array of shape {X.shape}, but a table has rows and columns.")
        super().__init__(BlockReader(None, X.shape[1], float_dtype([X.dtype]), gaps))
        self._array, file = X, getattr(X, "filename", None)
        self._file = None if file is None or not Path(file).exists() else Path(file)
        self._mark = None if self._file is None else fingerprint(self._file)
        self.rows_each = max(1, int(batch_bytes(memory_limit) // (8 * max(1, X.shape[1]))))
        self.sizes = np.diff([*range(0, len(X), self.rows_each), len(X)])

    def __len__(self) -> int:
        return ceil(len(self._array) / self.rows_each)

    def block(self, number: int) -> Any:
        rows = self._array[number * self.rows_each : (number + 1) * self.rows_each]
        if self._file is None or self._mark is None:
            return np.asarray(rows)
        # whoever has mapped it for writing may write, but not cut it short
        own = getattr(self._array, "mode", "r") != "r"
        require_unchanged(self._file, (self._mark[0], fingerprint(self._file)[1]) if own else self._mark)
        return np.array(rows)  # read now, while the file is known to be whole


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
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.files = tuple(files)
        self.marks = tuple(map(fingerprint, self.files))
        about = []
        for path in self.files:
            with readable(path), pq.ParquetFile(path) as file:
                about.append((file.metadata, file.schema_arrow))
        self.schemas = tuple(schema for _, schema in about)
        schema = self.schemas[0]
        index = pandas_index(schema)  # which names rows, and is no data
        names = tuple([name for name in schema.names if name not in index] if columns is None else columns)
        absent = next((name for name in names if name not in schema.names), None)
        if absent is not None:
            shown = ", ".join(f"'{name}'" for name in schema.names if name not in index)
            raise InputError(f"'{self.files[0]}' has no column '{absent}': it has {shown}; choose among its columns.")
        types = [np.float32 if pa.types.is_float32(schema.field(name).type) else np.float64 for name in names]
        self.rows_each = rows_each = max(1, int(batch_bytes(memory_limit) // (8 * max(1, len(names)))))
        self.pieces = tuple(piece for i, (one, _) in enumerate(about) for piece in pieces_of(i, one, rows_each))
        labels = tuple(str(self.files[piece.file]) for piece in self.pieces)
        super().__init__(BlockReader(names, len(names), float_dtype(types), gaps, labels))
        self.sizes = np.array([piece.count for piece in self.pieces], dtype=np.intp)

    def __len__(self) -> int:
        return len(self.pieces)

    def block(self, number: int) -> Any:
        import pyarrow.parquet as pq

        piece = self.pieces[number]
        path = self.files[piece.file]
        require_unchanged(path, self.marks[piece.file])
        names = [name for name in (self.reader.names or ()) if name in self.schemas[piece.file].names]
        with readable(path), pq.ParquetFile(path) as file:
            return file.read_row_groups(list(piece.groups), columns=names).slice(piece.first, piece.count)

    def require_numeric(self) -> None:
        """Raise an error for columns of any file that hold no numbers, before rows are read."""
        for path, schema in zip(self.files, self.schemas, strict=True):
            known = [(name, schema.field(name).type) for name in self.reader.names or () if name in schema.names]
            require_numeric_types(known, schema, f"'{path}'")


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

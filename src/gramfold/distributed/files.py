"""Files whose rows are written anew, a file for a file: Parquet files, or one .npy file.

A file is known by its size and the time of its last change: what does not fit these is not what was begun with.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from gramfold.distributed.opening import files_of
from gramfold.distributed.unchanged import fingerprint, mapped, readable, require_unchanged
from gramfold.errors import InputError
from gramfold.io.codes import without_codes
from gramfold.io.columns import NOTHING, Columns, kind_of
from gramfold.io.reading import Reading
from gramfold.io.selection import numbered
from gramfold.neighbors.arrow_tables import pandas_index
from gramfold.runtime.progress import Stages
from gramfold.types import Plain

ARRAY = ".npy"


class BadPartitionError(InputError):
    """A file cannot be used beside the others."""


@dataclass(frozen=True, eq=False)
class InputFile(Plain):
    """A file as it was when the work began."""

    path: Path
    size: int  # bytes
    modified: int  # nanoseconds
    rows: int
    schema: Any  # pyarrow.Schema
    index: tuple[str, ...] = ()  # columns that are no data unless they are asked for

    @classmethod
    def of(cls, path: Path) -> "InputFile":
        """Read what the file says of itself."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        size, modified = fingerprint(path)
        if path.suffix == ARRAY:
            array = mapped(path, BadPartitionError)
            if array.ndim != 2:
                raise BadPartitionError(
                    f"'{path}' holds an array of shape {array.shape}, but a table has rows and columns: save one."
                )
            kind = pa.from_numpy_dtype(array.dtype)
            return cls(path, size, modified, len(array), pa.schema([(x, kind) for x in numbered(array.shape[1])]))
        with readable(path, BadPartitionError), pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            return cls(path, size, modified, file.metadata.num_rows, schema, tuple(pandas_index(schema)))

    @property
    def name(self) -> str:
        """Of the file that is written for it."""
        return output_name(self.path)

    @property
    def mark(self) -> list[int]:
        """What changes where the file does."""
        return [self.size, self.modified]

    def empty(self) -> Columns:
        """Its columns without rows."""
        return self.columns(self.schema.empty_table())

    def columns(self, table: Any, codes: Sequence[str] = ()) -> Columns:
        """Some of its rows; a column of nothing is one of missing numbers."""
        import pyarrow as pa

        arrays = {
            j: column.cast(pa.float64()) if pa.types.is_null(column.type) else column
            for j, column in enumerate(table.columns)
        }
        names = list(table.column_names)
        found = Columns(self.path, names, Reading("parquet"), arrays, aside=[one for one in self.index if one in names])
        return without_codes(found, codes) if codes else found

    def batches(self, rows_each: int, names: Sequence[str]) -> Iterator[Any]:
        """Tables of at most so many rows, in order, with these columns; one without rows if there are none."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = list(names)
        self.require_unchanged()
        some = False
        with readable(self.path, BadPartitionError):
            if self.path.suffix == ARRAY:
                array, places = mapped(self.path, BadPartitionError), [self.schema.names.index(name) for name in names]
                for start in range(0, self.rows, rows_each):
                    rows = np.asarray(array[start : start + rows_each])
                    yield pa.table({name: rows[:, j] for name, j in zip(names, places, strict=True)})
                    some = True
            else:
                with pq.ParquetFile(self.path, pre_buffer=False) as file:  # which would read all of it at once
                    for batch in file.iter_batches(rows_each, columns=names):
                        yield pa.Table.from_batches([batch]).select(names)
                        some = True
        self.require_unchanged()
        if not some:
            yield self.schema.empty_table().select(names)

    def told_batches(self, rows_each: int, names: Sequence[str], stages: Stages) -> Iterable[Any]:
        """The same; who looks on is told how many are read."""
        return stages.bar(self.batches(rows_each, names), ceil(self.rows / rows_each), self.name)

    def require_unchanged(self) -> None:
        """Raise an error if the file is not what it was."""
        require_unchanged(self.path, self.mark)


def output_name(path: Path) -> str:
    """Of the file that is written for an input file."""
    return path.with_suffix(".parquet").name if path.suffix == ARRAY else path.name


def input_files(source: Path) -> list[Path]:
    """The files of a path, a folder or a pattern, of which each has a name of its own."""
    files = files_of(source)
    seen: dict[str, Path] = {}
    for file in files:
        other = seen.setdefault(file.name, file)
        if other is not file:
            raise InputError(
                f"'{other}' and '{file}' have the same name, and would be written to the same file: rename one, or map "
                "the folders one by one."
            )
    return files


def usual(files: Sequence[InputFile]) -> InputFile:
    """The first of those with the columns that most of them have: what the others are compared with."""
    columns = [frozenset((name, kind_of(file.schema.field(name).type)) for name in file.schema.names) for file in files]
    (most, _), *_ = Counter(columns).most_common(1)
    return files[columns.index(most)]


def require_alike(first: InputFile, other: InputFile, names: Sequence[str] | None = None, *, exact: bool) -> None:
    """Raise an error if a file has other columns than the first, or other kinds of values in them; nothing is of any.

    `names` are those that count; None: all. Whole numbers and fractions are both numbers, unless `exact`.
    """
    has, ours = set(other.schema.names), first.schema.names if names is None else names
    absent = next((name for name in ours if name not in has), None)
    if absent is not None:
        raise BadPartitionError(f"'{other.path}' has no column '{absent}', which '{first.path}' has: {_ALIKE}.")
    more = None if names is not None else next((name for name in other.schema.names if name not in ours), None)
    if more is not None:
        raise BadPartitionError(f"'{other.path}' has a column '{more}' that '{first.path}' does not have: {_ALIKE}.")
    for name in ours:
        mine, theirs = first.schema.field(name).type, other.schema.field(name).type
        kinds = (kind_of(mine), kind_of(theirs))
        if mine != theirs and NOTHING not in kinds and (exact or kinds[0] != kinds[1]):
            raise BadPartitionError(
                f"'{other.path}' has {theirs} in column '{name}', where '{first.path}' has {mine}: {_ALIKE}."
            )


_ALIKE = "give all files the same columns, or use --on-bad-partition skip"

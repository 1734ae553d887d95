"""One pass over all rows before anything is decided: files that cannot be used are found, and rows are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.distributed.files import BadPartitionError, InputFile
from gramfold.distributed.partitions import distinct_draws
from gramfold.errors import InputError
from gramfold.io.columns import FLAG, NUMBER
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import Integers

_OR_SKIP = "or leave the file out with --on-bad-partition skip"


def inside_files(files: Sequence[InputFile], numbers: Integers) -> list[Integers]:
    """Ascending numbers of rows that are counted through all files, as numbers within each."""
    ends = np.cumsum([file.rows for file in files])
    starts = ends - [file.rows for file in files]
    return [numbers[(numbers >= a) & (numbers < b)] - a for a, b in zip(starts, ends, strict=True)]


def numbers_drawn(n: int, count: int, seed: int) -> Integers:
    """`count` of n rows drawn at random, ascending; all of them if they are no more."""
    return np.arange(n) if n <= count else np.sort(distinct_draws(n, count, np.random.RandomState(seed)))


def rows_drawn(files: Sequence[InputFile], numbers: Integers, rows_each: int) -> Any:
    """The rows of these ascending numbers, with all columns of the first file."""
    import pyarrow as pa

    parts, names = [], files[0].schema.names
    for file, inside in zip(files, inside_files(files, numbers), strict=True):
        start = 0
        for table in file.batches(rows_each, names):
            here = inside[(inside >= start) & (inside < start + len(table))] - start
            parts.append(table.take(pa.array(here, pa.int64())))
            start += len(table)
    return pa.concat_tables(parts, promote_options="permissive")


def rows_named(files: Sequence[InputFile], by: str, wanted: Any, rows_each: int) -> tuple[Any, Integers]:
    """The rows that have the `wanted` values in a column, in their order, and their numbers through all files.

    A value that no row has, or several have, is an error.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names, kind = files[0].schema.names, files[0].schema.field(by).type
    kind = kind if kind == wanted.type and pa.types.is_integer(kind) else pa.string()
    wanted, parts, places, numbers, start = wanted.cast(kind), [], [], [], 0
    for file in files:
        for table in file.batches(rows_each, names):
            at = pc.index_in(table[by].cast(kind), value_set=wanted)
            known = pc.is_valid(at)
            parts.append(table.filter(known))
            places.append(at.filter(known).to_numpy())
            numbers.append(start + np.flatnonzero(known.to_numpy()))
            start += len(table)
    found = np.concatenate(places)
    counts = np.bincount(found, minlength=len(wanted))
    if (counts != 1).any():
        odd = int(np.argmax(counts != 1))
        rows = "no row" if counts[odd] == 0 else f"{counts[odd]:,} rows"
        raise InputError(
            f"'{files[0].path.parent}' has {rows} with '{wanted[odd]}' in column '{by}', by which rows are matched: "
            "give each row of the table one row of the map."
        )
    order = np.argsort(found)
    return pa.concat_tables(parts, promote_options="permissive").take(order), np.concatenate(numbers)[order]


@dataclass(frozen=True)
class Surveying:
    """What is asked of every file."""

    names: Sequence[str]  # columns that may be data
    ids: str | None  # column that names the rows
    rows_each: int  # of a batch
    codes: Sequence[str]  # values that stand for missing ones
    gaps: bool  # whether values may be missing
    skip: bool  # whether a file that cannot be used is no error

    def __call__(self, file: InputFile, inside: Integers, *, stages: Stages = SILENT) -> Any:
        """The rows of these numbers, and of each column with gaps the first that has one; or why it is left out."""
        try:
            return self._drawn(file, inside, stages)
        except BadPartitionError as error:
            if not self.skip:
                raise
            return str(error)

    def _drawn(self, file: InputFile, inside: Integers, stages: Stages) -> Any:
        import pyarrow as pa

        start, parts = 0, []
        with_gaps: set[str] = set()
        ids = [] if self.ids is None else [self.ids]
        for table in file.told_batches(self.rows_each, list(dict.fromkeys([*self.names, *ids])), stages):
            if self.ids is not None and table[self.ids].null_count:
                raise BadPartitionError(
                    f"'{file.path}' has rows without a value in column '{self.ids}', which names them: fill it in, "
                    f"{_OR_SKIP}."
                )
            known = inside[(inside >= start) & (inside < start + len(table))] - start
            rows = {*known.tolist(), *self._first_gaps(file, table.select(self.names), start, with_gaps)}
            parts.append(table.select(self.names).take(pa.array(sorted(rows), pa.int64())))
            start += len(table)
        return pa.concat_tables(parts)

    def _first_gaps(self, file: InputFile, table: Any, start: int, with_gaps: set[str]) -> list[int]:
        """Rows that have the first gap of a column; an error for a value that cannot be used."""
        columns, found = file.columns(table, self.codes), []
        for j, name in enumerate(self.names):
            if columns.kind(j) not in (NUMBER, FLAG):
                continue
            values = columns.table_of([j])[:, 0]
            odd = np.isinf(values) if self.gaps else ~np.isfinite(values)
            if odd.any():
                row = int(np.argmax(odd))
                raise BadPartitionError(
                    f"'{file.path}' has {'a missing' if np.isnan(values[row]) else 'an infinite'} value in column "
                    f"'{name}', row {start + row} counted from 0: correct it, leave out the column with --skip, "
                    f"{_OR_SKIP}."
                )
            missing = np.isnan(values)
            if missing.any() and name not in with_gaps:
                with_gaps.add(name)
                found.append(int(np.argmax(missing)))
        return found

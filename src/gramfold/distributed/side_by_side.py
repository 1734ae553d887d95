"""Several tables of the same rows in the same partitions, read as one whose columns are theirs side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramfold.distributed.batches import Batches, limit_like
from gramfold.distributed.blocks import BlockReader
from gramfold.distributed.dask_rows import DaskRows
from gramfold.distributed.opening import partitions_of
from gramfold.distributed.partitions import Partitions
from gramfold.errors import InputError
from gramfold.neighbors.columns import is_dask
from gramfold.types import Floats


def side_by_side(rows: Partitions, others: Sequence[Any], name: str) -> Partitions:
    """The rows, and those of other tables of the same columns, which the user passed by this name."""
    tables = [rows, *(_like(one, rows) for one in others)]
    for table in tables[1:]:
        if isinstance(table, DaskRows) != isinstance(rows, DaskRows):
            raise InputError(f"X and {name} are not both Dask collections: pass both in the same way.")
        if len(table) != len(rows):
            raise InputError(
                f"X has {len(rows)} partitions and {name} has {len(table)}: give both the same partitions, with the "
                "same rows in each."
            )
        if table.width != rows.width:
            raise InputError(f"X has {rows.width} columns and {name} has {table.width}: pass the same columns of both.")
    readers = tuple(table.reader for table in tables)
    joined = BlockReader(None, rows.width * len(tables), np.result_type(*(one.dtype for one in readers)))
    if isinstance(rows, DaskRows):
        from dask import delayed

        join = delayed(_joined, pure=False, traverse=False)
        parts = zip(*(table.parts for table in tables if isinstance(table, DaskRows)), strict=True)
        tasks = [join(readers, name, number, *blocks) for number, blocks in enumerate(parts)]
        return DaskRows(tasks, joined, rows.client, rows.stages)
    return _BatchesSideBySide([table for table in tables if isinstance(table, Batches)], joined, name)


def _like(table: Any, rows: Partitions) -> Partitions:
    """Another table, cut as these rows are where that can be chosen."""
    if isinstance(rows, Batches):
        return partitions_of(table, memory_limit=limit_like(rows), stages=rows.stages)
    if is_dask(table) and hasattr(table, "chunks") and table.shape[0] == rows.n_rows:
        table = table.rechunk({0: tuple(map(int, rows.sizes))})
    return partitions_of(table, stages=rows.stages)


class _BatchesSideBySide(Batches):
    def __init__(self, tables: Sequence[Batches], reader: BlockReader, name: str) -> None:
        super().__init__(reader, tables[0].stages)
        self._tables, self._name = tables, name

    def __len__(self) -> int:
        return len(self._tables[0])

    def block(self, number: int) -> Any:
        readers = [table.reader for table in self._tables]
        return _joined(readers, self._name, number, *(table.block(number) for table in self._tables))


def _joined(readers: Sequence[BlockReader], name: str, number: int, *blocks: Any) -> Floats:
    """One partition of all."""
    parts = [reader.read(block, number) for reader, block in zip(readers, blocks, strict=True)]
    for part in parts[1:]:
        if len(part) != len(parts[0]):
            raise InputError(
                f"{readers[0].named(number)} has {len(parts[0]):,} rows in X and {len(part):,} in {name}: give both "
                "the same partitions, with the same rows in each."
            )
    return np.hstack(parts)

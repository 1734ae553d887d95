"""The same rows drawn from several tables, some of them in partitions: what diagnostics look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.distributed.opening import partitions_of
from gramfold.distributed.partitions import Partitions, distinct_draws
from gramfold.errors import InputError
from gramfold.neighbors.columns import numeric_table
from gramfold.neighbors.partitioned import is_partitioned
from gramfold.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Together:
    """See the module."""

    n_rows: int  # of each table
    numbers: Integers  # (m,) of the rows that were drawn, ascending
    tables: tuple[Any, ...]  # these rows of each table, with the names of its columns where it has some


def drawn_together(tables: Mapping[str, Any], count: int, rng: np.random.RandomState) -> Together:
    """At most `count` rows, the same of each of these tables; their names are those of arguments.

    Rows of the first must be complete. Later ones may have gaps: rows without a place on a map.
    """
    opened = {
        name: partitions_of(table, gaps=i > 0) if is_partitioned(table) else _in_memory(table, name)
        for i, (name, table) in enumerate(tables.items())
    }
    first, n = next(iter(opened)), 0
    for name, rows in opened.items():
        size = rows.n_rows if isinstance(rows, Partitions) else rows.shape[0]
        if name == first:
            n = size
        elif size != n:
            raise InputError(
                f"{first} has {n:,} rows and {name} has {size:,}, so they cannot be compared row by row: pass tables "
                "of the same rows, in the same order."
            )
    numbers = _drawn(n, count, rng)
    return Together(n, numbers, tuple(_taken(rows, numbers) for rows in opened.values()))


def _drawn(n: int, count: int, rng: np.random.RandomState) -> Integers:
    return np.arange(n) if count >= n else np.sort(distinct_draws(n, count, rng))


def _in_memory(table: Any, name: str) -> Any:
    return numeric_table(table, least_rows=1, name=name)


def _taken(rows: Any, numbers: Integers) -> Any:
    if not isinstance(rows, Partitions):
        return rows.iloc[numbers] if hasattr(rows, "iloc") else rows[numbers]
    found: Floats = rows.take(numbers)
    names = rows.reader.names
    if names is None:
        return found
    import pyarrow as pa

    return pa.table({name: np.ascontiguousarray(found[:, j]) for j, name in enumerate(names)})

"""One pass over all rows before anything is decided: what cannot be used, where gaps are, and a sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.distributed.files import BadPartitionError, InputFile
from gramfold.io.columns import FLAG, NUMBER
from gramfold.runtime.progress import beat
from gramfold.types import Integers


@dataclass(frozen=True, eq=False)
class Survey:
    """Of one file."""

    drawn: Any  # pyarrow.Table: rows that were drawn, and of each column with gaps the first that has one
    gaps: dict[str, int]  # missing values of each column of numbers that has some


def surveyed(
    file: InputFile, inside: Integers, names: Sequence[str], rows_each: int, codes: Sequence[str], *, gaps: bool
) -> Survey:
    """Read the file once; `inside` are the numbers of the rows to draw, and `gaps` whether values may be missing."""
    import pyarrow as pa

    start, found, drawn = 0, dict.fromkeys(names, 0), []
    for table in file.batches(rows_each, names):
        columns = file.columns(table, codes)
        chosen = set((inside[(inside >= start) & (inside < start + len(table))] - start).tolist())
        for j, name in enumerate(names):
            if columns.kind(j) not in (NUMBER, FLAG):
                continue
            values = columns.table_of([j])[:, 0]
            if np.isinf(values).any():
                raise _odd(file, "an infinite value", name, start + int(np.argmax(np.isinf(values))))
            missing = np.isnan(values)
            if not missing.any():
                continue
            first = int(np.argmax(missing))
            if not gaps:
                raise _odd(file, "a missing value", name, start + first)
            if not found[name]:
                chosen.add(first)
            found[name] += int(missing.sum())
        drawn.append(table.take(pa.array(sorted(chosen), pa.int64())))
        start += len(table)
        beat()
    return Survey(pa.concat_tables(drawn), {name: count for name, count in found.items() if count})


def _odd(file: InputFile, what: str, name: str, row: int) -> BadPartitionError:
    return BadPartitionError(
        f"'{file.path}' has {what} in column '{name}', row {row} counted from 0: correct it, leave the column out with "
        "--skip, or the file with --on-bad-partition skip."
    )

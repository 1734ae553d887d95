"""One partition as an array: what it should hold, and one sentence where it holds something else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.embedding.reading import check_finite
from gramfold.errors import InputError
from gramfold.neighbors.columns import numeric_table, quiet, types_of
from gramfold.types import Floats, Plain


@dataclass(frozen=True, eq=False)
class BlockReader(Plain):
    """What every partition should be."""

    names: tuple[str, ...] | None  # of the columns
    width: int
    dtype: np.dtype[Any]  # float64 or float32
    gaps: bool = False  # whether NaN is a missing value, which the method knows what to do with
    labels: Sequence[str] | Mapping[int, str] | None = None  # the file of each partition

    def named(self, number: int) -> str:
        """The partition in an error."""
        file = "" if self.labels is None else f" ('{self.labels[number]}')"
        return f"partition {number}{file}"

    def knowing(self, number: int, file: str | None) -> "BlockReader":
        """The same, which knows the file of one partition."""
        return self if file is None else replace(self, labels={number: file})

    def read(self, block: Any, number: int) -> Floats:
        """The rows (m, d) of a partition."""
        what = self.named(number)
        if issparse(block):
            raise InputError(f"{what} is a sparse matrix, but partitions are read as dense rows: pass dense blocks.")
        self._check_columns(block, what)
        rows = np.asarray(numeric_table(block, least_rows=0, name=what))
        if rows.shape[1] != self.width:
            raise InputError(
                f"{what} has {rows.shape[1]} columns, but the first partition has {self.width}: give every partition "
                "the same columns."
            )
        rows = np.ascontiguousarray(rows, dtype=self.dtype)
        check_finite(rows, what, allow_missing=self.gaps, names=self.names)
        return quiet(rows) if self.gaps else rows

    def _check_columns(self, block: Any, what: str) -> None:
        own = [name for name, _ in types_of(block)]
        if self.names is None or not own or own == list(self.names):
            return
        absent = [name for name in self.names if name not in own]
        if absent:
            raise InputError(
                f"{what} has no column '{absent[0]}', which the first partition has: give every partition the same "
                "columns."
            )
        first = next(j for j, name in enumerate(own) if j == len(self.names) or name != self.names[j])
        raise InputError(
            f"{what} has column '{own[first]}' in place {first}, unlike the first partition: give every partition the "
            "same columns in the same order."
        )


def float_dtype(dtypes: Sequence[Any]) -> np.dtype[Any]:
    """In which columns of these types are read: float32 where all are, else float64."""
    return np.dtype(np.float32 if dtypes and all(one == np.float32 for one in dtypes) else np.float64)

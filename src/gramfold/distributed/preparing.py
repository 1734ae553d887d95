"""Rows of files as a method sees them: columns chosen, units made alike, gaps filled in, a batch at a time.

Which columns and which steps was decided on a sample. Means and standard deviations are those of all rows, by

    n = n_a + n_b,   mean = mean_a + (n_b/n) δ,   s = s_a + s_b + (n_a n_b/n) δ²,   δ = mean_b − mean_a

for each column, of the values that are known.  Chan, Golub, LeVeque, The American Statistician 37 (1983).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from gramfold.distributed.batches import ArrayRows, Batches, ParquetRows
from gramfold.distributed.blocks import BlockReader
from gramfold.distributed.files import ARRAY, InputFile
from gramfold.distributed.partitions import Partitions
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import Floats


class PreparedRows(Batches):
    """See the module."""

    def __init__(
        self,
        files: Sequence[InputFile],
        names: Sequence[str],
        dtype: Any,
        memory_limit: float,
        *,
        codes: Sequence[str] = (),
        complete: bool = False,
        steps: Sequence[Any] = (),
        stages: Stages = SILENT,
    ) -> None:
        self.files, self.names, self.codes = list(files), list(names), tuple(codes)
        self.complete, self.steps = complete, tuple(steps)  # whether rows with gaps are left out
        self.source: ParquetRows | ArrayRows
        if files[0].path.suffix == ARRAY:
            self.source = ArrayRows(np.load(files[0].path, mmap_mode="r"), memory_limit, gaps=True)
        else:
            paths = [file.path for file in files]
            self.source = ParquetRows(paths, memory_limit, columns=names, gaps=True)
        super().__init__(BlockReader(None, len(names), np.dtype(dtype), labels=self.source.reader.labels), stages)
        if not complete:
            blocks = range(len(self.source))
            known = isinstance(self.source, ParquetRows)
            self.sizes = self.source.sizes if known else np.array([len(self.source.block(one)) for one in blocks])

    def __len__(self) -> int:
        return len(self.source)

    def block(self, number: int) -> Any:
        import pyarrow as pa

        found = self.source.block(number)
        file = self.files[self.source.pieces[number].file if isinstance(self.source, ParquetRows) else 0]
        if isinstance(found, np.ndarray):
            found = pa.table({name: found[:, file.schema.names.index(name)] for name in self.names})
        columns = file.columns(found.select(self.names), self.codes)
        rows = columns.table_of(range(len(self.names))).astype(self.dtype, copy=False)
        if self.complete:
            rows = rows[~np.isnan(rows).any(axis=1)]
        if len(rows):
            for step in self.steps:
                rows = step.transform(rows)
        return rows


def on_cluster(rows: Batches, client: Any) -> Partitions:
    """The same rows, each batch read and prepared by a task."""
    from dask import delayed

    from gramfold.distributed.dask_rows import DaskRows
    from gramfold.distributed.running import key_of

    own = uuid4().hex[:16]
    sent = delayed(rows, name=key_of("files", own, 0), pure=False, traverse=False)
    run = delayed(_block, pure=False, traverse=False)
    parts = [run(sent, number, dask_key_name=key_of("read", own, number)) for number in range(len(rows))]
    found = DaskRows(parts, rows.reader, client, rows.stages)
    if "sizes" in vars(rows):
        found.sizes = rows.sizes
    return found


def _block(rows: Batches, number: int) -> Any:
    return rows.block(number)


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Of the known values of each column."""

    n: Floats  # (d,)
    mean: Floats  # (d,)
    squares: Floats  # (d,) Σ (x − mean)²

    @property
    def variance(self) -> Floats:
        """(d,) of all known values."""
        return self.squares / np.maximum(self.n, 1)

    @property
    def constant(self) -> Any:
        """(d,) whether a column is one value, up to rounding, as scikit-learn's StandardScaler has it."""
        eps = np.finfo(np.float64).eps
        return self.variance <= self.n * eps * self.variance + np.square(self.n * self.mean * eps)


def column_moments(rows: Floats) -> ColumnMoments:
    """Of some rows, NaN at gaps."""
    known = ~np.isnan(rows)
    n = known.sum(axis=0).astype(np.float64)
    mean = np.where(known, rows, 0).sum(axis=0, dtype=np.float64) / np.maximum(n, 1)
    return ColumnMoments(n, mean, np.square(np.where(known, rows - mean, 0)).sum(axis=0, dtype=np.float64))


def merged_columns(a: ColumnMoments, b: ColumnMoments) -> ColumnMoments:
    """Of both."""
    n, apart = a.n + b.n, b.mean - a.mean
    share = b.n / np.maximum(n, 1)
    return ColumnMoments(n, a.mean + share * apart, a.squares + b.squares + a.n * share * np.square(apart))


def by_all_rows(steps: Sequence[Any], rows: Partitions) -> list[str]:
    """Give steps that were fitted to a sample the means and standard deviations of all rows; which, in words."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import RobustScaler, StandardScaler

    known = [one for one in steps if isinstance(one, StandardScaler) or getattr(one, "strategy", None) == "mean"]
    if not known:
        return []
    found: ColumnMoments = rows.total("scales", column_moments, merged_columns)
    middle, said = found.mean[None], []
    for step in steps:
        if isinstance(step, StandardScaler):
            step.mean_, step.var_ = found.mean, found.variance
            step.scale_ = np.where(found.constant, 1.0, np.sqrt(found.variance))
            step.n_samples_seen_ = int(found.n.max())
            said.append("means and standard deviations")
        elif isinstance(step, SimpleImputer) and step.strategy == "mean":
            step.statistics_ = middle[0].copy()
            said.append("the means that gaps are filled in with")
        elif not isinstance(step, RobustScaler):
            break
        middle = step.transform(middle)
    return said

"""Squared distances of rows, by a metric or as X holds them: what scaling methods make their kernels of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from gramfold.kernels.streamed import StreamedRows
from gramfold.neighbors.metrics import Metric, MetricName, degree, make_metric
from gramfold.neighbors.precomputed import check_distances, settled_distances
from gramfold.neighbors.units import Unit
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import StopFlag, blocks, run_blocks
from gramfold.types import Floats, Plain

_ENTRIES_PER_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False)
class StreamedSquares(StreamedRows):
    """D² between all rows, which are measured anew for every product."""

    distances: "Distances"

    def block(self, left: Any, right: Any) -> Floats:
        return self.distances.squares(left, right, n_jobs=1)

    def strip(self, part: slice, stop: StopFlag) -> Iterator[tuple[slice, Floats]]:
        for rows, squared in super().strip(part, stop):
            if rows.start >= part.start:
                own = np.arange(rows.start, rows.stop)
                squared[own - rows.start, own - part.start] = 0.0
            yield rows, squared

    def take(self, rows: np.ndarray) -> Floats:
        squared = super().take(rows)
        squared[np.arange(len(rows)), rows] = 0.0
        return squared

    def diagonal(self) -> Floats:
        return np.zeros(len(self))


@dataclass(frozen=True, eq=False)
class Distances(Plain):
    """How far apart rows are."""

    metric: Metric | None  # None where rows hold their distances already
    unit: Unit
    degree: float  # the power of the unit that distances come in

    @classmethod
    def of(cls, X: Any, metric: MetricName, metric_params: Mapping[str, Any] | None) -> Self:
        """By this metric, whose scales count every row of X."""
        power = degree(metric, metric_params)
        unit = Unit() if power is None else Unit.of_rows(X)
        given = isinstance(metric, str) and metric == "precomputed"
        return cls(None if given else make_metric(metric, metric_params, unit.inward(X)), unit, power or 0)

    def measured(self, X: Any) -> Any:
        """Training rows in the unit; distances are checked, and returned without their rounding."""
        X = self.unit.inward(X)
        if self.metric is not None:
            return X
        check_distances(X)
        return settled_distances(X)

    def row(self, rows: Any, number: int) -> Floats:
        """Distances of all rows from one of them."""
        return np.asarray(rows[number] if self.metric is None else self.between(rows[[number]], rows))

    def between(self, one: Any, rows: Any) -> Floats:
        """Distances (n,) of rows from one row (1, d)."""
        assert self.metric is not None
        return np.asarray(self.metric.block(one, rows)[0])

    def outermost(self, rows: Any, middle: Any = None) -> int:
        """A row far from the others, whatever their order: farthest from a row (1, d) amid them."""
        if self.metric is None:
            return int(np.argmax(rows.sum(axis=1)))
        return int(np.argmax(self.between(self.metric.middle(rows) if middle is None else middle, rows)))

    def squares(
        self,
        rows: Any,
        others: Any,
        n_jobs: int | None,
        stages: Stages = SILENT,
        dtype: DTypeLike = np.float64,
    ) -> Floats:
        """Squared distances (m, n_others) of rows to others; precomputed rows hold their distances already."""
        width = rows.shape[1] if self.metric is None else others.shape[0]
        squared = np.empty((rows.shape[0], width), dtype=dtype)

        def work(part: slice) -> None:
            distances = rows[part] if self.metric is None else self.metric.block(rows[part], others)
            with np.errstate(over="ignore"):  # the centring of the kernel tells of it
                squared[part] = np.square(distances, dtype=np.float64)

        parts = blocks(rows.shape[0], max(1, _ENTRIES_PER_BLOCK // width))
        run_blocks(work, parts, n_jobs, stages=stages, what="distances")
        return squared

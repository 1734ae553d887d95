"""The engine of the methods whose kernel is made of distances between rows:  K = −½ H D² H."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gramfold.embedding.degenerate import Data, all_distances
from gramfold.embedding.kernel_embedding import KernelEmbedding
from gramfold.embedding.parameters import method, parameter
from gramfold.neighbors.metrics import Metric, MetricName, degree, make_metric
from gramfold.neighbors.precomputed import check_distances, settled_distances
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats

_ENTRIES_PER_BLOCK = 1_000_000


@method
class DistanceEmbedding(KernelEmbedding):
    """Engine of classical scaling and its landmark form; not used by itself."""

    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""A metric of scipy.spatial.distance, a function of two rows, or "precomputed": a square matrix of
        distances.""",
    )
    metric_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="More arguments of the metric."
    )

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _degree(self) -> float | None:
        return degree(self.metric, self.metric_params)

    @property
    def _row_metric(self) -> Metric:
        return self._metric

    def _to_compare(self, X: Any) -> Data | None:
        return all_distances(X) if self._precomputed else super()._to_compare(X)

    def _measure(self, X: Any) -> Any:
        """Make the metric of the rows, or check the distances that they hold; returned without their rounding."""
        if self._precomputed:
            check_distances(X)
            return settled_distances(X)
        self._metric: Metric = make_metric(self.metric, self.metric_params, X)
        return X

    def _squares(self, rows: Floats, others: Floats, stages: Stages, dtype: DTypeLike = np.float64) -> Floats:
        """Squared distances (m, n_others) of rows to others; precomputed rows hold their distances already."""
        width = rows.shape[1] if self._precomputed else len(others)
        squared = np.empty((len(rows), width), dtype=dtype)

        def work(part: slice) -> None:
            distances = rows[part] if self._precomputed else self._metric.block(rows[part], others)
            with np.errstate(over="ignore"):  # the centring of the kernel tells of it
                squared[part] = np.square(distances, dtype=np.float64)

        parts = blocks(len(rows), max(1, _ENTRIES_PER_BLOCK // width))
        run_blocks(work, parts, self.n_jobs, stages=stages, what="distances")
        return squared

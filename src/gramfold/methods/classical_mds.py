"""Classical multidimensional scaling: kernel PCA on centred squared distances.

    K = −½ H D² H;    y(x) = Λ^-½ Vᵀ k_c(x, ·) with k(x, j) = −½ d(x, j)²

Torgerson, Psychometrika 17 (1952); Gower, Biometrika 53 (1966); Burges, section 2.2.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gramfold.embedding import KernelEmbedding, Piece, method, parameter
from gramfold.extension.project import project
from gramfold.kernels.gram import GramKernel, centered_gram
from gramfold.neighbors.metrics import Metric, MetricName, make_metric
from gramfold.neighbors.precomputed import check_distances
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats

_ENTRIES_PER_BLOCK = 1_000_000


@method
class ClassicalMDS(KernelEmbedding):
    """Classical multidimensional scaling of any distances.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import ClassicalMDS
    >>> towns = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> places = ClassicalMDS(metric="precomputed").fit_transform(towns)
    >>> bool(np.isclose(np.linalg.norm(places[1] - places[2]), 5.0))
    True
    """

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

    def _kernel(self, rows: Any, stages: Stages) -> GramKernel:
        if self._precomputed:
            check_distances(rows)
        else:
            self._metric: Metric = make_metric(self.metric, self.metric_params, rows)
        squared = np.empty((len(rows), len(rows)), dtype=rows.dtype)
        self._squares(rows, rows, squared, stages)
        return centered_gram(squared, scale=-0.5)

    def _place(self, piece: Piece, new: Any) -> Floats:
        places = np.empty((len(new), self.n_components))
        for part in blocks(len(new), max(1, _ENTRIES_PER_BLOCK // len(piece.source))):
            squared = np.empty((len(new[part]), len(piece.source)))
            self._squares(new[part], piece.source, squared, Stages())
            places[part] = project(piece.kernel.cross(squared), piece.kernel, piece.spectrum)
        return places

    def _squares(self, left: Floats, right: Floats, out: Floats, stages: Stages) -> None:
        def work(part: slice) -> None:
            distances = left[part] if self._precomputed else self._metric.block(left[part], right)
            out[part] = np.square(distances, dtype=np.float64)

        parts = blocks(len(left), max(1, _ENTRIES_PER_BLOCK // len(right)))
        run_blocks(work, parts, self.n_jobs, stages=stages, what="distances")

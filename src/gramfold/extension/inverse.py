"""The way back: a place on the map is rebuilt from the data rows whose places surround it.

x(y) = Σ_j w_j x_j,   w the barycentric weights of y among its nearest places on the map
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramfold.kernels.reconstruction import weight_matrix
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric
from gramfold.types import Floats, Neighbors

_EUCLIDEAN = Metric("euclidean", "euclidean")
_REG = 1e-3
_SPARE_NEIGHBORS = 8  # beyond the dimension: enough to smooth, few enough to stay local
_SAMPLE = 500


class LocalInverse:
    """Barycentric pre-images.

    `error` is the root mean square misfit of training rows rebuilt without themselves, relative to their spread.
    """

    def __init__(self, places: Floats, rows: Any, n_jobs: int | None) -> None:
        self.rows = rows
        self.index = TreeIndex(np.asarray(places, dtype=np.float64), _EUCLIDEAN, n_jobs)
        self.k = min(places.shape[1] + _SPARE_NEIGHBORS, len(places) - 1)
        self.error = self._leave_one_out()

    def __call__(self, places: Floats) -> Any:
        """Data rows that belong to these places."""
        return self._weights(places, self.index.nearest(places, self.k)) @ self.rows

    def _weights(self, places: Floats, nearest: Neighbors) -> csr_array:
        return weight_matrix(nearest, self.index.query_grams(places), _REG, places.shape[1])

    def _leave_one_out(self) -> float:
        n = self.index.size
        sample = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)
        places = self.index.points[sample]
        found = self.index.nearest(places, self.k + 1)
        found = found.keep(found.indices != sample[found.rows])
        truth = self.rows[sample]
        misfit = _frobenius(self._weights(places, found) @ self.rows - truth)
        spread = _spread(truth, np.asarray(self.rows.mean(axis=0)).ravel())
        return misfit / spread if spread > 0 else 0.0


def _spread(rows: Any, mean: Floats) -> float:
    """‖rows − mean‖, without making sparse rows dense."""
    if not issparse(rows):
        return _frobenius(rows - mean)
    squared = _frobenius(rows) ** 2 - 2 * float((rows @ mean).sum()) + rows.shape[0] * float(mean @ mean)
    return float(np.sqrt(max(squared, 0.0)))


def _frobenius(matrix: Any) -> float:
    values = matrix.data if issparse(matrix) else matrix
    return float(np.linalg.norm(np.asarray(values, dtype=np.float64)))

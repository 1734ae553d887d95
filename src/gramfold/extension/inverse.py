"""The way back: a place on the map is rebuilt from the data rows whose places surround it.

x(y) = Σ_j w_j x_j,   w the barycentric weights of y among its nearest places on the map
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.extension.judging import frobenius, judged_sample, relative
from gramfold.kernels.reconstruction import weight_matrix
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric
from gramfold.types import Floats, Neighbors

_EUCLIDEAN = Metric("euclidean", "euclidean")
_REG = 1e-3
_SPARE_NEIGHBORS = 8  # beyond the dimension: enough to smooth, few enough to stay local


class LocalInverse:
    """Barycentric pre-images."""

    def __init__(self, places: Floats, rows: Any, n_jobs: int | None) -> None:
        self.rows = rows
        self.index = TreeIndex(np.asarray(places, dtype=np.float64), _EUCLIDEAN, n_jobs)
        self.k = min(places.shape[1] + _SPARE_NEIGHBORS, len(places) - 1)

    def __call__(self, places: Floats) -> Any:
        """Data rows that belong to these places."""
        return self._weights(places, self.index.nearest(places, self.k)) @ self.rows

    def _weights(self, places: Floats, nearest: Neighbors) -> csr_array:
        return weight_matrix(nearest, self.index.query_grams(places), _REG, places.shape[1])

    def judge(self) -> float:
        """Root mean square misfit of training rows rebuilt without themselves, relative to their spread."""
        sample = judged_sample(self.index.size)
        places = self.index.points[sample]
        found = self.index.nearest(places, self.k + 1)
        found = found.keep(found.indices != sample[found.rows])
        truth = self.rows[sample]
        return relative(frobenius(self._weights(places, found) @ self.rows - truth), truth, self.rows)

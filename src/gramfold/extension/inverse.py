"""The way back: a place on the map is rebuilt from the data rows whose places surround it.

x(y) = Σ_j w_j x_j,   w the barycentric weights of y among its k nearest places on the map

More neighbours smooth noise away and blur what is sharp: k is the one with the least error of rows left out.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.extension.extrapolation import EUCLIDEAN
from gramfold.extension.judging import frobenius, judged_sample, relative
from gramfold.kernels.reconstruction import weight_matrix
from gramfold.neighbors.exact import TreeIndex
from gramfold.types import Floats, Neighbors

_REG = 1e-3
_SPARE_NEIGHBORS = (1, 2, 4, 8)  # beyond the dimension: from no more than span it, to enough to smooth


class LocalInverse:
    """Barycentric pre-images."""

    def __init__(self, places: Floats, rows: Any, n_jobs: int | None) -> None:
        self.rows = rows
        self.index = TreeIndex(np.asarray(places, dtype=np.float64), EUCLIDEAN, n_jobs)
        counts = {min(places.shape[1] + spare, len(places) - 1) for spare in _SPARE_NEIGHBORS}
        self._errors = {k: self._left_out(k) for k in sorted(counts)}
        self.k = min(self._errors, key=lambda k: self._errors[k])

    def __call__(self, places: Floats) -> Any:
        """Data rows that belong to these places."""
        return self._weights(places, self.index.nearest(places, self.k)) @ self.rows

    def _weights(self, places: Floats, nearest: Neighbors) -> csr_array:
        return weight_matrix(nearest, self.index.query_grams(places), _REG, places.shape[1])

    def judge(self) -> float:
        """Root mean square misfit of training rows rebuilt without themselves, relative to their spread."""
        return self._errors[self.k]

    def _left_out(self, k: int) -> float:
        sample = judged_sample(self.index.size)
        places = self.index.points[sample]
        found = self.index.nearest(places, k + 1)
        found = found.keep(found.indices != sample[found.rows])
        truth = self.rows[sample]
        return relative(frobenius(self._weights(places, found) @ self.rows - truth), truth, self.rows)

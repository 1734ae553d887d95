"""The way back: a place on the map is rebuilt from the data rows whose places surround it.

x(y) = Σ_j w_j x_j,   w the barycentric weights of y among its k nearest places on the map,   Σ w = 1,  Σ|w| ≤ l

More neighbours smooth noise away and blur what is sharp: k is the one with the least error of rows left out. Without
negative weights (l = 1) no value leaves the range of the rows. Negative ones go on in a straight line beyond the
neighbours: right on a smooth sheet, while of pictures they make what is no picture. They are allowed where rows left
out are clearly better rebuilt with them, and no place is extrapolated farther than these were: l is their largest Σ|w|.
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
# Of the error without negative weights. With them it is 0.93 of that and more on tables and pictures (digits, USPS,
# faces, cells, wine, iris, teapots), and 0.4 to 0.85 on rolls.
_CLEARLY = 0.9


class LocalInverse:
    """Barycentric pre-images."""

    def __init__(self, places: Floats, rows: Any, n_jobs: int | None, *, reg: float = _REG) -> None:
        self.rows, self.reg = rows, reg
        self.index = TreeIndex(np.asarray(places, dtype=np.float64), EUCLIDEAN, n_jobs)
        self._sample = judged_sample(self.index.size)
        counts = {min(places.shape[1] + spare, len(places) - 1) for spare in _SPARE_NEIGHBORS}
        convex, signed = (min((self._left_out(k, limit), k) for k in counts) for limit in (1.0, np.inf))
        extrapolating = signed[0] < _CLEARLY * convex[0]
        self._error, self.k = signed if extrapolating else convex
        tried = abs(self._weights_left_out(self.k, np.inf)).sum(axis=1)
        self.limit = float(tried.max()) if extrapolating else 1.0

    def __call__(self, places: Floats) -> Any:
        """Data rows that belong to these places."""
        return self._weights(places, self.index.nearest(places, self.k), self.limit) @ self.rows

    def _weights(self, places: Floats, nearest: Neighbors, limit: float) -> csr_array:
        return weight_matrix(nearest, self.index.query_grams(places), self.reg, places.shape[1], limit=limit)

    def judge(self) -> float:
        """Root mean square misfit of training rows rebuilt without themselves, relative to their spread."""
        return self._error

    def _left_out(self, k: int, limit: float) -> float:
        truth = self.rows[self._sample]
        return relative(frobenius(self._weights_left_out(k, limit) @ self.rows - truth), truth, self.rows)

    def _weights_left_out(self, k: int, limit: float) -> csr_array:
        """Of the rows that are judged, each among the others."""
        places = self.index.points[self._sample]
        found = self.index.nearest(places, k + 1)
        return self._weights(places, found.keep(found.indices != self._sample[found.rows]), limit)

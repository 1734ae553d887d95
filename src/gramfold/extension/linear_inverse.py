"""The way back from a linear map: the rows that are linear in their places and nearest to the data.

    x(y) = mean + yᵀ B,   B = (YᵀY)† Yᵀ (X − 1 meanᵀ): least squares over the training rows

For principal components B is the axes themselves.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.extension.judging import judged_sample
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

_ENTRIES_PER_BLOCK = 1_000_000
_SINGLED_OUT = 1e-8  # 1 − leverage of a row that has a direction to itself: without it nothing leads there


class LinearInverse:
    """Least squares pre-images."""

    def __init__(self, points: Any, mean: Floats, places: Floats, pulled: Floats) -> None:
        """`pulled` is (X − 1 meanᵀ)ᵀ Y, (d, p)."""
        self.mean = mean
        self._points, self._places = points, places
        gram = places.T @ places
        # of columns of length 1: the accuracy of B does not depend on how large a coordinate is
        lengths = np.sqrt(np.diag(gram))
        lengths = np.where(lengths > 0, lengths, 1.0)
        self._solve = np.linalg.pinv(gram / np.outer(lengths, lengths), hermitian=True) / np.outer(lengths, lengths)
        self.rows = self._solve @ pulled.T

    def __call__(self, places: Floats) -> Floats:
        """Data rows that belong to these places."""
        return np.asarray(self.mean + places @ self.rows)

    def judge(self) -> float:
        """Root mean square misfit of training rows rebuilt by what the others say, relative to their spread.

        A residual r of leverage h becomes r / (1 − h), the same directions held.
        """
        points, places, n = self._points, self._places, len(self._places)
        sample = judged_sample(n)
        misfit = spread = 0.0
        for part in blocks(len(sample), max(1, _ENTRIES_PER_BLOCK // len(self.mean))):
            some = sample[part]
            moved = (points[some].toarray() if issparse(points) else points[some]) - self.mean
            residuals = np.square(moved - places[some] @ self.rows).sum(axis=1)
            squares = np.square(moved).sum(axis=1)
            left = 1.0 - 1.0 / n - ((places[some] @ self._solve) * places[some]).sum(axis=1)  # 1 − leverage
            alone = left < _SINGLED_OUT
            misfit += float(np.where(alone, squares, residuals / np.where(alone, 1.0, left) ** 2).sum())
            spread += float(squares.sum())
        return float(np.sqrt(misfit / spread)) if spread > 0 else 0.0

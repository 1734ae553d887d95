"""The way back from a linear map: the rows that are linear in their places and nearest to the data.

    x(y) = mean + yᵀ B,   B = (YᵀMY)† YᵀM (X − 1 meanᵀ): least squares over the training rows, of the mass M

For principal components B is the axes themselves.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.extension.judging import judged_sample
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

_ENTRIES_PER_BLOCK = 1_000_000
_SINGLED_OUT = 1e-8  # 1 − leverage of a row that has a direction to itself: without it nothing leads there


class LinearInverse:
    """Least squares pre-images."""

    def __init__(
        self,
        points: Any,
        mean: Floats,
        places: Floats,
        pulled: Floats,
        mass: Floats | None = None,
        gram: Floats | None = None,
    ) -> None:
        """`pulled` is (X − 1 meanᵀ)ᵀ M Y, (d, p); `mass` (n,) that of the rows, None: 1 each.

        `gram` is YᵀMY, where these rows are not all that `pulled` is of.
        """
        self.mean = mean
        mass = np.ones(len(places)) if mass is None else mass
        self._points, self._places, self._mass = points, places, mass
        gram = places.T @ (mass[:, None] * places) if gram is None else gram
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

        A residual r of leverage h becomes r / (1 − h), the same directions held. Of a row that is there several times
        one is left out.
        """
        points, places, n = self._points, self._places, float(self._mass.sum())
        sample = judged_sample(len(places))
        misfit = spread = 0.0
        for part in beats(blocks(len(sample), max(1, _ENTRIES_PER_BLOCK // len(self.mean)))):
            some = sample[part]
            moved = (points[some].toarray() if issparse(points) else points[some]) - self.mean
            residuals = np.square(moved - places[some] @ self.rows).sum(axis=1)
            squares = np.square(moved).sum(axis=1)
            leverage = 1.0 / n + ((places[some] @ self._solve) * places[some]).sum(axis=1)
            left = 1.0 - np.minimum(self._mass[some], 1.0) * leverage
            alone = left < _SINGLED_OUT
            misfit += float(self._mass[some] @ np.where(alone, squares, residuals / np.where(alone, 1.0, left) ** 2))
            spread += float(self._mass[some] @ squares)
        return float(np.sqrt(misfit / spread)) if spread > 0 else 0.0

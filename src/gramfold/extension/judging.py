"""How good a way back is: rows that it has not seen, rebuilt from their places.

error = ‖rebuilt − row‖ / ‖row − mean row‖, both over all judged rows
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.types import Floats

_FOLDS = 5
_SAMPLE = 500  # rows judged at most
_SEED = 0


def judged_sample(n: int) -> np.ndarray:
    """The rows that are judged: all, or a few hundred evenly spaced."""
    return np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)


def cross_validated(fit: Callable[[Floats, Any], Callable[[Floats], Any]], places: Floats, rows: Any) -> float:
    """The error of rows left out of a fit, in five turns: each row is left out once."""
    n = len(places)
    # drawn, not in turn: rows in some order would leave out whole stretches of it
    fold = np.random.default_rng(_SEED).permutation(n) % min(_FOLDS, n)
    judged = judged_sample(n)
    misfit = 0.0
    for turn in range(fold.max() + 1):
        left = judged[fold[judged] == turn]
        if left.size:
            way = fit(places[fold != turn], rows[fold != turn])
            misfit += frobenius(way(places[left]) - rows[left]) ** 2
    return relative(np.sqrt(misfit), rows[judged], rows)


def relative(misfit: float, judged: Any, rows: Any) -> float:
    """A misfit of the judged rows as a share of their spread about the mean of all rows."""
    spread = _spread(judged, np.asarray(rows.mean(axis=0, dtype=np.float64)).ravel())
    return float(misfit) / spread if spread > 0 else 0.0


def _spread(rows: Any, mean: Floats) -> float:
    """‖rows − mean‖, without making sparse rows dense."""
    if not issparse(rows):
        return frobenius(rows - mean)
    squared = frobenius(rows) ** 2 - 2 * float((rows @ mean).sum()) + rows.shape[0] * float(mean @ mean)
    return float(np.sqrt(max(squared, 0.0)))


def frobenius(matrix: Any) -> float:
    """√Σ a_ij² in float64."""
    values = matrix.data if issparse(matrix) else matrix
    return float(np.linalg.norm(np.asarray(values, dtype=np.float64)))

"""The derivative of a map whose formula has none, by regression on the training rows around a row.

Among the k training rows nearest to x, with X̃ and Ỹ their columns and coordinates less the means of these rows,

    J = Ỹᵀ (X̃ X̃ᵀ + R·1)⁻¹ X̃,    R = 0.001 trace(X̃ X̃ᵀ)

the slopes of least ridge. Directions in which the neighbours do not differ have the slope 0: rows on a manifold say
nothing of what happens off it. Training rows and not `transform` of rows beside x are used, because such a map is
constant, or jumps, between them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.kernels.reconstruction import ridges
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.search import exact_index
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

NEAREST = 30  # some dimensions of a map can be told from so many, and they are near where rows are a thousand
_RIDGE = 1e-3  # as the weights of locally linear embedding have
_ENTRIES_PER_BLOCK = 2_000_000


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of a map at some rows."""

    values: Floats  # (m, p, d)
    exact: bool  # of the formula; else by local regression


def local_slopes(X: Any, points: Any, places: Floats, metric: Metric, n_jobs: int | None) -> Floats:
    """Slopes (m, p, d) at the rows of X of the places (n, p) of points (n, d)."""
    count = min(NEAREST, points.shape[0])
    lists = exact_index(points, metric, n_jobs).nearest(X, count).indices.reshape(-1, count)
    found = np.empty((X.shape[0], places.shape[1], X.shape[1]))
    for some in beats(blocks(X.shape[0], max(1, _ENTRIES_PER_BLOCK // (count * X.shape[1])))):
        near = lists[some]
        rows = points[near.ravel()]
        rows = np.asarray(rows.toarray() if issparse(rows) else rows, dtype=np.float64).reshape(*near.shape, -1)
        found[some] = ridge_slopes(rows, places[near])
    return found


def ridge_slopes(rows: Floats, places: Floats) -> Floats:
    """Slopes (b, p, d) of places (b, k, p) by rows (b, k, d)."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    places = places - places.mean(axis=1, keepdims=True)
    grams = rows @ rows.transpose(0, 2, 1)
    ridge = ridges(np.trace(grams, axis1=1, axis2=2), _RIDGE)
    duals = np.linalg.solve(grams + ridge[:, None, None] * np.eye(rows.shape[1]), places)  # (b, k, p)
    return np.asarray(duals.transpose(0, 2, 1) @ rows)

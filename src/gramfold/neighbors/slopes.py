"""Derivatives of distances with respect to a row.

    euclidean      ∇d = (x − p) / d
    cosine         d = 1 − uᵀv, u = x / |x|, v = p / |p|:    ∇d = (uᵀv u − v) / |x|
    correlation    the same of centred rows
    minkowski      ∇d = sign(x − p) |x − p|^(q−1) / d^(q−1)

At distance 0 they are taken as 0: of the squares, and of Gaussians, that is what they are.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramfold.neighbors.metrics import SYNONYMS, Metric
from gramfold.types import Floats, Neighbors

_WITH_SLOPES = {"euclidean", "cosine", "correlation", "cityblock"}
_ENTRIES_PER_BLOCK = 2_000_000


def named_with_slopes(name: Any, params: Mapping[str, Any] | None) -> bool:
    """Whether `has_slopes` will hold for the metric of this name."""
    if not isinstance(name, str):
        return False
    plain = SYNONYMS.get(name.lower(), name.lower())
    if plain == "minkowski":
        return bool(np.isfinite(float((params or {}).get("p", 2.0))))
    return not params and plain in _WITH_SLOPES


def has_slopes(metric: Metric | None) -> bool:
    """Whether the derivative of this metric is known."""
    if metric is None:
        return False
    return metric.family == "euclidean" or (metric.family == "minkowski" and bool(np.isfinite(metric.p)))


def summed_slopes(metric: Metric, rows: Any, points: Any, met: Neighbors, weights: Floats) -> Floats:
    """Σ_j w_ja ∇d(x, p_j) over the points that each row meets, (m, q, d); weights are (pairs, q)."""
    x = dense_rows(rows)
    used, local = np.unique(met.indices, return_inverse=True)
    if metric.family == "minkowski":
        return _minkowski(metric.p, x, points[used], met, local, weights)
    if metric.name != "euclidean":
        return _angular(metric, x, points[used], met, local, weights)
    over = np.divide(1.0, met.distances, out=np.zeros(len(met.distances)), where=met.distances > 0)
    return summed_differences(x, points[used], met.indptr, local, weights * over[:, None])


def summed_differences(x: Floats, points: Any, indptr: Any, indices: Any, weights: Floats) -> Floats:
    """Σ_j w_ja (x − p_j), (m, q, d), over lists of points."""
    origin = np.zeros(x.shape[1]) if issparse(points) else x.mean(axis=0)  # shorter rows round less
    x = x - origin
    points = points if issparse(points) else points.astype(np.float64) - origin
    shape = (len(x), points.shape[0])
    found = np.empty((len(x), weights.shape[1], x.shape[1]))
    for axis, column in enumerate(weights.T):
        lists = csr_array((column, indices, indptr), shape=shape)
        found[:, axis] = np.asarray(lists.sum(axis=1))[:, None] * x - _dense(lists @ points)
    return found


def dense_rows(rows: Any) -> Floats:
    """A few rows as a dense array in float64: their derivatives are dense."""
    return np.asarray(rows.toarray() if issparse(rows) else rows, dtype=np.float64)


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if issparse(values) else values)


def _angular(metric: Metric, x: Floats, points: Any, met: Neighbors, local: Any, weights: Floats) -> Floats:
    centered = x - x.mean(axis=1, keepdims=True) if metric.name == "correlation" else x
    lengths = np.linalg.norm(centered, axis=1, keepdims=True)
    u, v = centered / lengths, metric.prepare(points)
    found = np.empty((len(x), weights.shape[1], x.shape[1]))
    for axis, column in enumerate(weights.T):
        pulled = _dense(csr_array((column, local, met.indptr), shape=(len(x), v.shape[0])) @ v)
        found[:, axis] = ((u * pulled).sum(axis=1, keepdims=True) * u - pulled) / lengths
    return found


def _minkowski(p: float, x: Floats, points: Floats, met: Neighbors, local: Any, weights: Floats) -> Floats:
    found = np.zeros((len(x), weights.shape[1], x.shape[1]))
    over = np.divide(1.0, met.distances, out=np.zeros(len(met.distances)), where=met.distances > 0)
    weights = weights * (over[:, None] > 0)
    step = max(1, _ENTRIES_PER_BLOCK // x.shape[1])
    for i in range(len(x)):
        for start in range(met.indptr[i], met.indptr[i + 1], step):
            some = slice(start, min(start + step, met.indptr[i + 1]))
            away = x[i] - points[local[some]]
            slopes = np.sign(away) * (np.abs(away) * over[some, None]) ** (p - 1.0)
            found[i] += weights[some].T @ slopes
    return found

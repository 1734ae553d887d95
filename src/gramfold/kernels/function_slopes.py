"""Derivatives of kernel functions with respect to a row:  Σ_j w_j ∇k(x, p_j).

rbf        ∇k = −2γ k (x − p)              linear     ∇k = p
poly       ∇k = aγ (γ xᵀp + c)^(a−1) p     sigmoid    ∇k = γ (1 − tanh²(γ xᵀp + c)) p
cosine     ∇k = (v − uᵀv u) / |x|, u = x / |x|, v = p / |p|
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.kernels.functions import NAMES, RowKernel
from gramfold.neighbors.slopes import dense_rows
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

_ENTRIES_PER_BLOCK = 1_000_000


def has_kernel_slopes(name: Any) -> bool:
    """Whether the derivative of the kernel of this name is known."""
    return isinstance(name, str) and name in NAMES


def kernel_slopes(function: RowKernel, rows: Any, points: Any, weights: Floats) -> Floats:
    """Σ_j w_ja ∇k(x, p_j) over all points, (m, q, d); weights are (points, q)."""
    found = np.empty((rows.shape[0], weights.shape[1], rows.shape[1]))
    for some in beats(blocks(rows.shape[0], max(1, _ENTRIES_PER_BLOCK // points.shape[0]))):
        found[some] = _slopes(function, rows[some], points, weights)
    return found


def _slopes(function: RowKernel, rows: Any, points: Any, weights: Floats) -> Floats:
    x, gamma = dense_rows(rows), function.gamma or 0.0
    points = points.astype(np.float64, copy=False)
    if function.name == "rbf":
        values = function(rows, points)
        return np.stack([_toward(values * column, x, points, -2.0 * gamma) for column in weights.T], axis=1)
    if function.name == "cosine":
        return _cosine(x, points, weights)
    outer = np.ones((len(x), points.shape[0]))
    if function.name != "linear":
        products = rows.astype(np.float64, copy=False) @ points.T
        inner = gamma * (products.toarray() if issparse(products) else products) + function.coef0
        outer = gamma * (1.0 - np.tanh(inner) ** 2)
        if function.name == "poly":
            outer = gamma * function.degree * inner ** (function.degree - 1.0)
    return np.stack([np.asarray((outer * column) @ points) for column in weights.T], axis=1)


def _toward(pulls: Floats, x: Floats, points: Any, factor: float) -> Floats:
    """Factor · Σ_j a_j (x − p_j)."""
    return np.asarray(factor * (pulls.sum(axis=1, keepdims=True) * x - pulls @ points))


def _cosine(x: Floats, points: Any, weights: Floats) -> Floats:
    from sklearn.preprocessing import normalize

    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    over = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    u, pulled = x * over, np.asarray((normalize(points).T @ weights).T)  # (q, d)
    along = u @ pulled.T  # (m, q)
    return np.asarray((pulled[None] - along[:, :, None] * u[:, None]) * over[:, :, None])

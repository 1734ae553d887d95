"""Weights that rebuild a point from its neighbours, as local linear embedding does.

    minimise |x − Σ_j w_j x_j|² with Σ w = 1:   (G + R·1) w ∝ 1,   G_jl = ⟨x_j − x, x_l − x⟩,  R = reg · trace G

Roweis, Saul, Science 290 (2000); always in float64.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from gramfold.kernels.local import solve_locally
from gramfold.types import Floats, Integers, Neighbors

# With more neighbours than dimensions G is singular: a ridge above its rounding picks the smallest of the weights.
_LEAST_REG = 1e-13


def ridges(traces: Floats, reg: float) -> Floats:
    """The ridge R of local Gram matrices with these traces."""
    return np.where(traces > 0, max(reg, _LEAST_REG) * traces, 1.0)


def barycentric_weights(grams: Floats, reg: float) -> Floats:
    """Weights (b, k) that sum to one, from local Gram matrices (b, k, k)."""
    ridge = ridges(np.trace(grams, axis1=1, axis2=2), reg)
    b, k = grams.shape[:2]
    weights = np.linalg.solve(grams + ridge[:, None, None] * np.eye(k), np.ones((b, k, 1)))[..., 0]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def weight_matrix(
    neighbors: Neighbors,
    grams: Callable[[Integers, Integers], Floats],
    reg: float,
    width: int,
    n_jobs: int | None = None,
) -> csr_array:
    """W (m, n): row i rebuilds point i from its neighbours. `width` is how many numbers a neighbour has."""
    weights = np.empty(len(neighbors.indices))

    def work(rows: Integers, places: Integers) -> None:
        weights[places] = barycentric_weights(grams(rows, neighbors.indices[places]), reg)

    solve_locally(work, neighbors, width, n_jobs)
    shape = (len(neighbors), neighbors.n_vertices)
    return csr_array((weights, neighbors.indices, neighbors.indptr), shape=shape)


def reconstruction_root(weights: csr_array, mass: Floats) -> csr_array:
    """R = diag(mass)^½ (I − W): RᵀR is the cost of not being rebuilt by one's neighbours."""
    from scipy.sparse import diags_array, eye_array

    return csr_array(diags_array(np.sqrt(mass)) @ (eye_array(weights.shape[0]) - weights))

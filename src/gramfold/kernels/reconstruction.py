"""Weights that rebuild a point from its neighbours, as local linear embedding does.

    minimise |x − Σ_j w_j x_j|² with Σ w = 1:   (G + R·1) w ∝ 1,   G_jl = ⟨x_j − x, x_l − x⟩,  R = reg · trace G

Roweis, Saul, Science 290 (2000); always in float64.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers, Neighbors

_ENTRIES_PER_BLOCK = 2_000_000
# With more neighbours than dimensions G is singular: a ridge above its rounding picks the smallest of the weights.
_LEAST_REG = 1e-13


def barycentric_weights(grams: Floats, reg: float) -> Floats:
    """Weights (b, k) that sum to one, from local Gram matrices (b, k, k)."""
    traces = np.trace(grams, axis1=1, axis2=2)
    ridge = np.where(traces > 0, max(reg, _LEAST_REG) * traces, 1.0)
    b, k = grams.shape[:2]
    weights = np.linalg.solve(grams + ridge[:, None, None] * np.eye(k), np.ones((b, k, 1)))[..., 0]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def weight_matrix(
    neighbors: Neighbors, grams: Callable[[Integers, Integers], Floats], reg: float, width: int
) -> csr_array:
    """W (m, n): row i rebuilds point i from its neighbours. `width` is how many numbers a neighbour has."""
    weights = np.empty(len(neighbors.indices))
    counts = neighbors.counts
    for count in np.unique(counts[counts > 0]):  # lists of one length are solved together
        rows = np.flatnonzero(counts == count)
        for part in blocks(len(rows), max(1, _ENTRIES_PER_BLOCK // int(count * (count + width)))):
            places = neighbors.indptr[rows[part]][:, None] + np.arange(count)
            local = grams(rows[part], neighbors.indices[places])
            weights[places] = barycentric_weights(local, reg)
    shape = (len(neighbors), neighbors.n_vertices)
    return csr_array((weights, neighbors.indices, neighbors.indptr), shape=shape)


def reconstruction_penalty(weights: csr_array, mass: Floats) -> csr_array:
    """M = (I − W)ᵀ diag(mass) (I − W): the cost of not being rebuilt by one's neighbours."""
    from scipy.sparse import diags_array, eye_array

    rest = csr_array(eye_array(weights.shape[0]) - weights)
    return csr_array(rest.T @ diags_array(mass) @ rest)

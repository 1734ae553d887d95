"""Weights that rebuild a point from its neighbours, as local linear embedding does.

    minimise |x − Σ_j w_j x_j|² with Σ w = 1:   (G + R·1) w ∝ 1,   G_jl = ⟨x_j − x, x_l − x⟩,  R = reg · trace G
    with w ≥ 0 too, A = G + R·1:   w ∝ z,   z ≥ 0,   A z ≥ 1,   zᵀ (A z − 1) = 0

Roweis, Saul, Science 290 (2000); Júdice, Pires, Computers & Operations Research 21 (1994). Always in float64.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from gramfold.kernels.local import ENTRIES_PER_BLOCK, solve_locally
from gramfold.types import Floats, Integers, Neighbors

# With more neighbours than dimensions G is singular: a ridge above its rounding picks the smallest of the weights.
_LEAST_REG = 1e-13
_ROUNDING = 1e-12
_EXPONENTS = (-1000, 1000)
_ROUNDS = 1_000
_PATIENCE = 5  # rounds of changing all wrong signs at once without fewer of them, before one is changed at a time


def ridges(traces: Floats, reg: float) -> Floats:
    """The ridge R of local Gram matrices with these traces."""
    return np.where(traces > 0, max(reg, _LEAST_REG) * traces, 1.0)


def barycentric_weights(grams: Floats, reg: float, limit: float = np.inf) -> Floats:
    """Weights (b, k) that sum to one, from local Gram matrices (b, k, k).

    Where Σ|w| would be above `limit` ≥ 1 they are drawn towards the best weights ≥ 0 until it is not.
    """
    b, k = grams.shape[:2]
    traces = np.trace(grams, axis1=1, axis2=2)
    sizes = np.ldexp(1.0, np.clip(-np.frexp(traces)[1], *_EXPONENTS))  # powers of two: no digit changes
    ridged = sizes[:, None, None] * grams + ridges(sizes * traces, reg)[:, None, None] * np.eye(k)
    weights = np.linalg.solve(ridged, np.ones((b, k, 1)))[..., 0]
    weights /= weights.sum(axis=1, keepdims=True)
    norms = np.abs(weights).sum(axis=1)
    over = np.flatnonzero((norms > limit) & (weights < 0).any(axis=1))
    if over.size:
        within = _convex_weights(ridged[over])
        share = (limit - 1.0) / (norms[over] - 1.0)
        weights[over] = within + share[:, None] * (weights[over] - within)
    return np.asarray(weights)


def barycentric_slopes(grams: Floats, values: Floats, reg: float) -> Floats:
    """Weights (b, k, q) of the differences δ_j in the derivative of Σ_j w_j y_j, for values y (b, k, q).

    z + 2 reg (zᵀw) 1  with  z = (G + R·1)⁻¹ (y − Σ w y):  see extension/barycentric.py.
    """
    traces = np.trace(grams, axis1=1, axis2=2)
    ridged = grams + ridges(traces, reg)[:, None, None] * np.eye(grams.shape[1])
    weights = np.linalg.solve(ridged, np.ones((*grams.shape[:2], 1)))
    weights /= weights.sum(axis=1, keepdims=True)  # (b, k, 1)
    z = np.linalg.solve(ridged, values - (weights * values).sum(axis=1, keepdims=True))
    share = np.where(traces > 0, max(reg, _LEAST_REG), 0.0)[:, None, None]
    return np.asarray(z + 2.0 * share * (z * weights).sum(axis=1, keepdims=True))


def _convex_weights(matrices: Floats) -> Floats:
    """The w ≥ 0 with Σ w = 1 and the least wᵀ A w, (b, k), for positive definite matrices (b, k, k)."""
    b, k = matrices.shape[:2]
    free, z = np.ones((b, k), dtype=bool), np.empty((b, k))
    fewest, patience = np.full(b, k + 1), np.full(b, _PATIENCE)
    asking = np.arange(b)
    for _ in range(_ROUNDS):
        if not asking.size:
            break
        some, used = matrices[asking], free[asking]
        reduced = np.where(used[:, :, None] & used[:, None, :], some, 0.0) + ~used[:, :, None] * np.eye(k)
        z[asking] = np.linalg.solve(reduced, used[:, :, None].astype(np.float64))[..., 0]
        slack = (some @ z[asking][:, :, None])[..., 0] - 1.0
        wrong = np.where(used, z[asking] < 0.0, slack < -_ROUNDING)
        count = wrong.sum(axis=1)
        fewer = count < fewest[asking]
        fewest[asking] = np.minimum(count, fewest[asking])
        patience[asking] = np.where(fewer, _PATIENCE, patience[asking] - 1)
        # the last of them alone: slow, but it comes to an end
        last = np.arange(k) == k - 1 - np.argmax(wrong[:, ::-1], axis=1)[:, None]
        free[asking] ^= wrong & (last | (patience[asking] > 0)[:, None])
        asking = asking[count > 0]
    z = np.maximum(z, 0.0)  # where rounding made two answers alternate, either will do
    return np.asarray(z / z.sum(axis=1, keepdims=True))


def weight_matrix(
    neighbors: Neighbors,
    grams: Callable[[Integers, Integers], Floats],
    reg: float,
    width: int,
    n_jobs: int | None = None,
    limit: float = np.inf,
    *,
    entries_per_block: int = ENTRIES_PER_BLOCK,
) -> csr_array:
    """W (m, n): row i rebuilds point i from its neighbours. `width` is how many numbers a neighbour has.

    No row has a Σ|w| above `limit`.
    """
    weights = np.empty(len(neighbors.indices))

    def work(rows: Integers, places: Integers) -> None:
        weights[places] = barycentric_weights(grams(rows, neighbors.indices[places]), reg, limit)

    solve_locally(work, neighbors, width, n_jobs, entries_per_block=entries_per_block)
    shape = (len(neighbors), neighbors.n_vertices)
    return csr_array((weights, neighbors.indices, neighbors.indptr), shape=shape)


def reconstruction_root(weights: csr_array, mass: Floats) -> csr_array:
    """R = diag(mass)^½ (I − W): RᵀR is the cost of not being rebuilt by one's neighbours."""
    from scipy.sparse import diags_array, eye_array

    return csr_array(diags_array(np.sqrt(mass)) @ (eye_array(weights.shape[0]) - weights))

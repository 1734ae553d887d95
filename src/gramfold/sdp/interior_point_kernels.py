"""Compiled: the operations of the interior-point method on constraints that are pairs, b_e = e_i − e_j.

A vertex numbered N, one past the last row of X, is the ground: its row and column are zero and are not stored.
"""

import numpy as np

from gramfold.runtime.compiled import inline, kernel


@inline
def _difference(matrix, i, j, out):
    """Fill out = row i − row j, then 0 for the ground."""
    n = matrix.shape[0]
    if i == n:
        for q in range(n):
            out[q] = -matrix[j, q]
    elif j == n:
        for q in range(n):
            out[q] = matrix[i, q]
    else:
        for q in range(n):
            out[q] = matrix[i, q] - matrix[j, q]
    out[n] = 0.0


@kernel
def schur_rows(X, inverse, left, right, first, last, out):
    """Fill out[e, f] = (b_e X b_f)(b_e Z⁻¹ b_f) for the rows e in [first, last) and f ≥ e."""
    n, m = X.shape[0], left.size
    of_x, of_inverse = np.empty(n + 1), np.empty(n + 1)
    for e in range(first, last):
        _difference(X, left[e], right[e], of_x)
        _difference(inverse, left[e], right[e], of_inverse)
        for f in range(e, m):
            i, j = left[f], right[f]
            out[e, f] = (of_x[i] - of_x[j]) * (of_inverse[i] - of_inverse[j])


@kernel
def quadratic(matrix, left, right, out):
    """Fill out[e] = b_e A b_e, A symmetric."""
    n = matrix.shape[0]
    for e in range(left.size):
        i, j = left[e], right[e]
        if i == n:
            out[e] = matrix[j, j]
        elif j == n:
            out[e] = matrix[i, i]
        else:
            out[e] = matrix[i, i] + matrix[j, j] - matrix[i, j] - matrix[j, i]


@kernel
def add_weighted(weights, left, right, out):
    """Add to out Σ_e w_e b_e b_eᵀ."""
    n = out.shape[0]
    for e in range(left.size):
        i, j, weight = left[e], right[e], weights[e]
        if i < n:
            out[i, i] += weight
        if j < n:
            out[j, j] += weight
        if i < n and j < n:
            out[i, j] -= weight
            out[j, i] -= weight


@kernel
def weighted_times(weights, left, right, matrix, out):
    """Fill out = (Σ_e w_e b_e b_eᵀ) A."""
    n = matrix.shape[0]
    row = np.empty(n + 1)
    out[:] = 0.0
    for e in range(left.size):
        i, j, weight = left[e], right[e], weights[e]
        _difference(matrix, i, j, row)
        if i < n:
            for q in range(n):
                out[i, q] += weight * row[q]
        if j < n:
            for q in range(n):
                out[j, q] -= weight * row[q]


@kernel
def mirror(matrix):
    """Copy the upper triangle to the lower one."""
    n, size = matrix.shape[0], 32  # tiles, so that both sides stay in the cache
    for first in range(0, n, size):
        for start in range(first, n, size):
            for i in range(first, min(first + size, n)):
                for j in range(max(start, i + 1), min(start + size, n)):
                    matrix[j, i] = matrix[i, j]


@kernel
def symmetrize(matrix):
    """Replace A by (A + Aᵀ) / 2."""
    n, size = matrix.shape[0], 32
    for first in range(0, n, size):
        for start in range(first, n, size):
            for i in range(first, min(first + size, n)):
                for j in range(max(start, i + 1), min(start + size, n)):
                    middle = 0.5 * (matrix[i, j] + matrix[j, i])
                    matrix[i, j] = middle
                    matrix[j, i] = middle

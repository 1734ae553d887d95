"""The slow plain reference for random walks on a graph."""

import numpy as np


def commute_times(W: np.ndarray) -> np.ndarray:
    """Of the discrete random walk: hitting times h(i→j) = 1 + Σ_k p_ik h(k→j), there and back."""
    n = len(W)
    P = W / W.sum(axis=1, keepdims=True)
    hitting = np.zeros((n, n))
    for j in range(n):
        others = np.delete(np.arange(n), j)
        hitting[others, j] = np.linalg.solve(np.eye(n - 1) - P[np.ix_(others, others)], np.ones(n - 1))
    return hitting + hitting.T

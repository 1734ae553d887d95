"""The measures as their formulas say, row by row over whole matrices: slow and plain."""

import numpy as np
from scipy.spatial.distance import cdist


def ranks(distances):
    """Of each row's others, 1 for the nearest and the lower number first at a tie; 0 for the row itself."""
    found = np.zeros(distances.shape, dtype=int)
    for i, row in enumerate(distances):
        others = sorted((d, j) for j, d in enumerate(row) if j != i)
        for rank, (_, j) in enumerate(others, start=1):
            found[i, j] = rank
    return found


def trustworthiness(D, E, k):
    n = len(D)
    in_data, on_map = ranks(D), ranks(E)
    penalty = [
        sum(in_data[i, j] - k for j in range(n) if j != i and on_map[i, j] <= k < in_data[i, j]) for i in range(n)
    ]
    return 1 - 2 / (k * (2 * n - 3 * k - 1)) * np.array(penalty)


def q_nx(D, E, k):
    in_data, on_map = ranks(D), ranks(E)
    both = (in_data >= 1) & (in_data <= k) & (on_map >= 1) & (on_map <= k)
    return both.sum(axis=1) / k


def r_nx_curve(D, E):
    n = len(D)
    larger = np.maximum(ranks(D), ranks(E))
    scales = np.arange(1, n - 1)
    q = np.array([np.mean(((larger >= 1) & (larger <= k)).sum(axis=1)) / k for k in scales])
    return scales, q, ((n - 1) * q - scales) / (n - 1 - scales)


def triplets(D, E):
    n, found = len(D), []
    for i in range(n):
        d, e = np.delete(D[i], i), np.delete(E[i], i)
        first, second = np.sign(d[:, None] - d), np.sign(e[:, None] - e)
        kept = np.where(first == second, 1.0, np.where((first == 0) | (second == 0), 0.5, 0.0))
        found.append((kept.sum() - (n - 1)) / ((n - 1) * (n - 2)))
    return np.array(found)


def log_radii(D, k):
    nearest = np.sort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, :k]
    return np.log((nearest**2).mean(axis=1))


def purity(D, labels, k):
    near = (ranks(D) >= 1) & (ranks(D) <= k)
    return np.array([np.mean(labels[near[i]] == labels[i]) for i in range(len(D))])


def distances(X, Y):
    return cdist(X, X), cdist(Y, Y)

"""Graphs with lengths whose unfolding is known, and random ones."""

import numpy as np
from scipy.spatial.distance import pdist, squareform


def path(lengths: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Points on a chain."""
    return np.column_stack([np.arange(len(lengths)), np.arange(1, len(lengths) + 1)]), np.asarray(lengths, dtype=float)


def straight(lengths: list[float]) -> float:
    """Variance of the chain pulled straight, which is its optimum."""
    places = np.concatenate([[0.0], np.cumsum(lengths)])
    return float(((places - places.mean()) ** 2).sum())


def nearest_pairs(points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of k nearest neighbours, with the chain of all points added so that the graph is connected."""
    D = squareform(pdist(points))
    near = np.argsort(D, axis=1)[:, 1 : k + 1]
    n = len(points)
    chosen = {tuple(sorted((i, int(j)))) for i in range(n) for j in near[i]}
    chosen |= {(i, i + 1) for i in range(n - 1)}
    pairs = np.array(sorted(chosen))
    return pairs, D[pairs[:, 0], pairs[:, 1]]


def curved(n: int, seed: int, noise: float = 0.05) -> np.ndarray:
    """Points along a spiral, one after the other, with some height."""
    random = np.random.default_rng(seed)
    turn = np.sort(random.uniform(1.0, 8.0, n))
    points = np.column_stack([turn * np.cos(turn), turn * np.sin(turn), random.uniform(0, 3, n)])
    return points + noise * random.standard_normal(points.shape)

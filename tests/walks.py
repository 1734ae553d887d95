"""The slow plain references for random walks on a graph: solved, and walked."""

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


def walked_commute_times(W: np.ndarray, i: int, j: int, *, walkers: int, seed: int) -> tuple[float, float]:
    """The mean number of steps from i to j and back of simulated walkers, and its standard error."""
    rng = np.random.default_rng(seed)
    cumulative = np.cumsum(W / W.sum(axis=1, keepdims=True), axis=1)
    steps = np.zeros(walkers)
    for start, goal in ((i, j), (j, i)):
        place = np.full(walkers, start)
        under_way = np.arange(walkers)
        while under_way.size:
            draws = rng.random(under_way.size)
            place[under_way] = np.minimum((cumulative[place[under_way]] < draws[:, None]).sum(axis=1), len(W) - 1)
            steps[under_way] += 1
            under_way = under_way[place[under_way] != goal]
    return float(steps.mean()), float(steps.std() / np.sqrt(walkers))

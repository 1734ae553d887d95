"""Slow plain versions: a margin and its error by loops over pairs."""

import numpy as np
from scipy.spatial.distance import cdist


def nearest(table, k):
    """The k nearest other rows of each row, the lower number first at a tie."""
    away = cdist(table, table)
    np.fill_diagonal(away, -1.0)
    return np.argsort(away, axis=1, kind="stable")[:, 1 : k + 1]


def pair_values(kind, rows, places, k, labels):
    """What each ordered pair (i, j) adds to the measure: {(i, j): value}, their mean is the measure."""
    n = len(rows)
    in_data, on_map = nearest(rows, k), nearest(places, k)
    if kind == "clusters":
        return {(i, int(j)): float(labels[i] == labels[j]) for i in range(n) for j in on_map[i]}
    chance = k / (n - 1)
    return {(i, int(j)): (float(j in on_map[i]) - chance) / (1 - chance) for i in range(n) for j in in_data[i]}


def margin_variance(first, second):
    """Sum of the products of what ordered pairs add to the difference, over pairs that share a row."""
    pairs = sorted({*first, *second})
    means = [np.mean(list(one.values())) for one in (first, second)]
    added = {
        pair: sum(
            sign * (one[pair] - mean) / len(one)
            for one, mean, sign in zip((first, second), means, (1, -1), strict=True)
            if pair in one
        )
        for pair in pairs
    }
    total = 0.0
    for a in pairs:
        for b in pairs:
            shared = (a[0] == b[0]) + (a[1] == b[1]) + (a[0] == b[1]) + (a[1] == b[0])
            # a pair shares two rows with itself, but its own square counts once
            total += added[a] * added[b] * (1 if a == b else shared)
    return total

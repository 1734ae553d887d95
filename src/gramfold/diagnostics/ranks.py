"""Ranks of rows by distance: 1 is the nearest other row, and at a tie the lower number is first."""

import numpy as np

from gramfold.types import Floats, Integers


def ranks_of(distances: Floats, own: Integers, asked: Integers) -> Integers:
    """Ranks (b, k) of the rows asked for, (b, k), in rows of distances (b, n); `own` is the number of each row."""
    distances[np.arange(len(own)), own] = np.inf  # not a neighbour of itself
    limits = np.take_along_axis(distances, asked, axis=1)
    ascending = np.sort(distances, axis=1)
    ranks = np.empty(asked.shape, dtype=np.intp)
    for row, (values, limit) in enumerate(zip(ascending, limits, strict=True)):
        nearer = np.searchsorted(values, limit, side="left")
        tied = np.searchsorted(values, limit, side="right") - nearer > 1
        ranks[row] = nearer + 1
        for place in np.flatnonzero(tied):
            ranks[row, place] += np.count_nonzero(distances[row, : asked[row, place]] == limit[place])
    return ranks


def all_ranks(distances: Floats, own: Integers) -> Integers:
    """Ranks (b, n) of all rows; each row itself has rank 0."""
    distances[np.arange(len(own)), own] = -np.inf
    order = np.argsort(distances, axis=1)
    ascending = np.take_along_axis(distances, order, axis=1)
    tied = np.flatnonzero((ascending[:, 1:] == ascending[:, :-1]).any(axis=1))
    order[tied] = np.argsort(distances[tied], axis=1, kind="stable")  # several times slower
    ranks = np.empty(distances.shape, dtype=np.intp)
    np.put_along_axis(ranks, order, np.arange(distances.shape[1])[None, :], axis=1)
    return ranks

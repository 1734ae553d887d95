"""Landmarks by k-means of rows in partitions: centres of a sample, and of all rows the one nearest each centre."""

from typing import Any

import numpy as np

from gramfold.distributed.landmarks import random_numbers
from gramfold.distributed.partitions import Partitions
from gramfold.kernels.landmarks import ROWS_PER_CENTER, centers_of
from gramfold.runtime.threads import openmp_threads
from gramfold.types import Floats, Integers


def kmeans_numbers(rows: Partitions, count: int, rng: np.random.RandomState, among: Integers | None = None) -> Integers:
    """The numbers of the rows nearest the centres, ascending; fewer where one is nearest to two centres."""
    if among is not None and len(among) <= count:
        return among
    seen = rows.take(random_numbers(rows, ROWS_PER_CENTER * count, rng, among))
    centers = centers_of(seen, count, rng).astype(rows.dtype)
    found = [one for one in rows.each("nearest", _nearest, centers, own=rows.starts.tolist()) if one is not None]
    lengths = np.stack([one[0] for one in found])  # (partitions, centres)
    numbers = np.stack([one[1] for one in found])
    return np.unique(numbers[lengths.argmin(axis=0), np.arange(len(centers))])


def _nearest(rows: Floats, centers: Floats, start: int) -> tuple[Any, Any]:
    """Of one partition: how near its nearest row is to each centre, and the number of this row."""
    from sklearn.metrics import pairwise_distances_argmin_min

    with openmp_threads():
        places, lengths = pairwise_distances_argmin_min(centers, rows)
    return lengths, start + places

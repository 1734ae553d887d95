"""Distances of pairs and the smallest entries of each row in plain NumPy: as `distance_kernels`, to the bit."""

import numpy as np

from gramfold.runtime.plain import prefer_plain
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers

_ENTRIES_PER_BLOCK = 200_000
_ENTRY = 6e-9  # seconds of a difference, squared and added
_LOOKED = 1.5e-8  # seconds of an entry among which the smallest are found


def plain_pairs(count: int, columns: int) -> bool:
    """Whether so many pairs of rows are measured sooner without compiled kernels."""
    return prefer_plain("gramfold.neighbors.distance_kernels", _ENTRY * count * max(columns, 8), 0.6)


def plain_smallest(entries: int) -> bool:
    """The same for the smallest of so many entries."""
    return prefer_plain("gramfold.neighbors.distance_kernels", _LOOKED * entries, 1.5)


def pair_lengths(left: Floats, i: Integers, right: Floats, j: Integers, out: Floats) -> None:
    """out[p] = |left[i[p]] − right[j[p]]|, from four sums over every fourth column."""
    d = left.shape[1]
    whole = d - d % 4
    for part in blocks(len(i), max(1, _ENTRIES_PER_BLOCK // max(d, 1))):
        squares = left[i[part]].astype(np.float64) - right[j[part]]
        np.square(squares, out=squares)
        # one after the other, as the kernel adds them up: NumPy's `sum` takes them in pairs
        sums = np.einsum("pck->pk", squares[:, :whole].reshape(len(squares), -1, 4))
        for column in range(whole, d):
            sums[:, 0] += squares[:, column]
        out[part] = np.sqrt((sums[:, 0] + sums[:, 1]) + (sums[:, 2] + sums[:, 3]))


def smallest(values: Floats, indices: Integers, kept: Floats) -> None:
    """The `indices.shape[1]` smallest entries of each row and their columns, ascending, the first at a tie."""
    k = indices.shape[1]
    for part in blocks(len(values), max(1, _ENTRIES_PER_BLOCK // values.shape[1])):
        block = values[part]
        limit = np.partition(block, k - 1, axis=1)[:, k - 1]
        rows, columns = np.nonzero(block <= limit[:, None])
        order = np.lexsort((columns, block[rows, columns], rows))
        first = np.searchsorted(rows, np.arange(len(block)))  # rows ascend, before the sort and after it
        chosen = order[first[:, None] + np.arange(k)]
        indices[part], kept[part] = columns[chosen], block[rows[chosen], columns[chosen]]

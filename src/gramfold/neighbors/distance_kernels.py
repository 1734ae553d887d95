"""Compiled: distances of pairs from differences, and the smallest entries of each row."""

import numpy as np

from gramfold.runtime.compiled import kernel


@kernel
def pair_lengths(left, i, right, j, out):
    """out[p] = |left[i[p]] − right[j[p]]|, summed in one order whatever the batch."""
    for p in range(i.size):
        total = 0.0
        for c in range(left.shape[1]):
            difference = np.float64(left[i[p], c]) - np.float64(right[j[p], c])
            total += difference * difference
        out[p] = np.sqrt(total)


@kernel
def smallest(values, indices, kept):
    """The `indices.shape[1]` smallest entries of each row and where they are, ascending."""
    k = indices.shape[1]
    for row in range(values.shape[0]):
        filled = 0
        for column in range(values.shape[1]):
            value = values[row, column]
            if filled == k and value >= kept[row, k - 1]:
                continue
            place = min(filled, k - 1)
            while place > 0 and kept[row, place - 1] > value:
                kept[row, place] = kept[row, place - 1]
                indices[row, place] = indices[row, place - 1]
                place -= 1
            kept[row, place] = value
            indices[row, place] = column
            filled = min(filled + 1, k)

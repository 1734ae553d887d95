"""Compiled: distances of pairs from differences, and the smallest entries of each row."""

import numpy as np

from gramfold.runtime.compiled import inline, kernel


@inline
def enter(indices, values, index, value):
    """Put an entry in its place in an ascending list; the last falls out."""
    place = values.size - 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        indices[place] = indices[place - 1]
        place -= 1
    values[place] = value
    indices[place] = index


@kernel
def pair_lengths(left, i, right, j, out):
    """out[p] = |left[i[p]] − right[j[p]]|, summed in one order whatever the batch."""
    d = left.shape[1]
    whole = d - d % 4
    for p in range(i.size):
        a, b = left[i[p]], right[j[p]]
        first = second = third = fourth = 0.0  # four sums keep the processor busy where one would wait for itself
        for c in range(0, whole, 4):
            first += (np.float64(a[c]) - np.float64(b[c])) ** 2
            second += (np.float64(a[c + 1]) - np.float64(b[c + 1])) ** 2
            third += (np.float64(a[c + 2]) - np.float64(b[c + 2])) ** 2
            fourth += (np.float64(a[c + 3]) - np.float64(b[c + 3])) ** 2
        for c in range(whole, d):
            first += (np.float64(a[c]) - np.float64(b[c])) ** 2
        out[p] = np.sqrt((first + second) + (third + fourth))


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


@kernel
def meet(products, left, right, left_start, right_start, indices, squares):
    """Rows of two tiles meet: who is nearer than the last of a row's list enters it, on both sides.

    `products` holds x·y, `left` and `right` |x|² and |y|²; a tile that meets itself is entered once.
    """
    last = squares.shape[1] - 1
    alone = left_start == right_start
    reach = squares[right_start : right_start + right.size, last].copy()
    for r in range(left.size):
        i = left_start + r
        for c in range(right.size):
            value = left[r] + right[c] - 2 * products[r, c]
            if value < squares[i, last]:
                enter(indices[i], squares[i], right_start + c, value)
            if value < reach[c] and not alone:
                enter(indices[right_start + c], squares[right_start + c], i, value)
                reach[c] = squares[right_start + c, last]

"""Compiled: distances of pairs from differences, and the smallest entries of each row."""

import numpy as np

from gramfold.runtime.compiled import inline, kernel

COLUMNS_AT_ONCE = 32


@inline
def enter(indices, values, index, value):
    """Insert an entry into an ascending list, and drop the last one."""
    place = values.size - 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        indices[place] = indices[place - 1]
        place -= 1
    values[place] = value
    indices[place] = index


@kernel
def pair_lengths(left, i, right, j, out):
    """out[p] = |left[i[p]] − right[j[p]]|, summed in an order that does not depend on the batch."""
    d = left.shape[1]
    whole = d - d % 4
    for p in range(i.size):
        a, b = left[i[p]], right[j[p]]
        first = second = third = fourth = 0.0  # four independent sums are faster than one
        for c in range(0, whole, 4):
            first += np.square(np.float64(a[c]) - np.float64(b[c]))
            second += np.square(np.float64(a[c + 1]) - np.float64(b[c + 1]))
            third += np.square(np.float64(a[c + 2]) - np.float64(b[c + 2]))
            fourth += np.square(np.float64(a[c + 3]) - np.float64(b[c + 3]))
        for c in range(whole, d):
            first += np.square(np.float64(a[c]) - np.float64(b[c]))
        out[p] = np.sqrt((first + second) + (third + fourth))


@kernel
def pair_products(left, i, right, j, out):
    """out[p] = left[i[p]]·right[j[p]]."""
    for p in range(i.size):
        out[p] = np.dot(left[i[p]], right[j[p]])


@kernel
def smallest(values, indices, kept):
    """The `indices.shape[1]` smallest entries of each row and their columns, ascending."""
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
def meet(products, certain, left, right, left_norms, right_norms, left_start, right_start, both, indices, squares):
    """Update the neighbour lists of two tiles of rows: those of the left tile, or of `both`.

    A row enters a list if it is nearer than the last entry. `products` holds x·y or, if not `certain`, upper bounds of
    x·y; then the products of pairs that may enter a list are computed.
    """
    height, width = products.shape
    last = squares.shape[1] - 1
    reach = np.full(width, -np.inf, dtype=np.float32)
    if both:
        for c in range(width):
            reach[c] = squares[right_start + c, last]
    for r in range(height):
        i = left_start + r
        norm, own = left_norms[r], squares[i, last]
        for start in range(0, width, COLUMNS_AT_ONCE):
            stop = min(start + COLUMNS_AT_ONCE, width)
            there, norms, theirs = products[r, start:stop], right_norms[start:stop], reach[start:stop]
            within = 0
            for c in range(stop - start):  # only a count, so that the loop is vectorised
                value = norm + norms[c] - 2 * np.float64(there[c])
                if value < own:
                    within += 1
                if value < theirs[c]:
                    within += 1
            if within == 0:
                continue
            for c in range(stop - start):
                value = norm + norms[c] - 2 * np.float64(there[c])
                if value < own or value < theirs[c]:
                    j = right_start + start + c
                    if not certain:
                        value = norm + norms[c] - 2 * np.float64(np.dot(left[r], right[start + c]))
                    if value < own:
                        enter(indices[i], squares[i], j, value)
                        own = squares[i, last]
                    if value < theirs[c]:
                        enter(indices[j], squares[j], i, value)
                        theirs[c] = squares[j, last]


@kernel
def see(products, left_norms, right_norms, left_reach, right_reach, i, j, count):
    """Indices (r, c) with |x|² + |y|² − 2 x·y ≤ the larger of two squared radii, and their number in `count`.

    At most i.size of them are stored.
    """
    height, width = products.shape
    met = 0
    for r in range(height):
        norm, own = left_norms[r], left_reach[r]
        for start in range(0, width, COLUMNS_AT_ONCE):
            stop = min(start + COLUMNS_AT_ONCE, width)
            there, norms, theirs = products[r, start:stop], right_norms[start:stop], right_reach[start:stop]
            within = 0
            for c in range(stop - start):
                value = norm + norms[c] - 2 * np.float64(there[c])
                if value <= own:
                    within += 1
                if value <= theirs[c]:
                    within += 1
            if within == 0:
                continue
            for c in range(stop - start):
                value = norm + norms[c] - 2 * np.float64(there[c])
                if value <= own or value <= theirs[c]:
                    if met < i.size:
                        i[met], j[met] = r, start + c
                    met += 1
    count[0] = met

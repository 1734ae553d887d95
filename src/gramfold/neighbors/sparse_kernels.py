"""Compiled: products, distances and local Gram matrices of sparse rows, whose columns are ascending."""

import numpy as np

from gramfold.neighbors.distance_kernels import COLUMNS_AT_ONCE, enter
from gramfold.runtime.compiled import inline, kernel


@kernel
def row_squares(indptr, data, out):
    """out[i] = |x_i|², summed from the first entry to the last."""
    for i in range(indptr.size - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += np.square(np.float64(data[p]))
        out[i] = total


@inline
def squared_difference(a_columns, a_values, b_columns, b_values):
    """|a − b|²; of rows without a common column −(|a|² + |b|²), with the squares as `row_squares` gives them."""
    total, first, second = 0.0, 0.0, 0.0
    p, q, common = 0, 0, False
    while p < a_columns.size and q < b_columns.size:
        if a_columns[p] < b_columns[q]:
            square = np.square(np.float64(a_values[p]))
            total += square
            first += square
            p += 1
        elif a_columns[p] > b_columns[q]:
            square = np.square(np.float64(b_values[q]))
            total += square
            second += square
            q += 1
        else:
            total += np.square(np.float64(a_values[p]) - np.float64(b_values[q]))
            common = True
            p += 1
            q += 1
    while p < a_columns.size:
        square = np.square(np.float64(a_values[p]))
        total += square
        first += square
        p += 1
    while q < b_columns.size:
        square = np.square(np.float64(b_values[q]))
        total += square
        second += square
        q += 1
    return total if common else -(first + second)


@inline
def distance_of(square, unit):
    """The distance that belongs to a squared difference: Euclidean or, of rows of unit length, cosine."""
    if unit:
        return 1.0 if square < 0.0 else 0.5 * square  # no common column: exactly 1
    return np.sqrt(np.abs(square))


@kernel
def pair_distances(
    left_indptr, left_indices, left_data, i, right_indptr, right_indices, right_data, j, unit, out
):  # fmt: skip
    """out[p] = distance of rows left[i[p]] and right[j[p]], from differences."""
    for p in range(i.size):
        a, b = left_indptr[i[p]], left_indptr[i[p] + 1]
        c, d = right_indptr[j[p]], right_indptr[j[p] + 1]
        square = squared_difference(left_indices[a:b], left_data[a:b], right_indices[c:d], right_data[c:d])
        out[p] = distance_of(square, unit)


@kernel
def add_products(indptr, indices, data, column_starts, column_rows, column_values, out):
    """out[r, j] += x_r·y_j over the columns that `column_*` (CSC) hold of the rows y."""
    for r in range(indptr.size - 1):
        row = out[r]
        for p in range(indptr[r], indptr[r + 1]):
            value, column = data[p], indices[p]
            for t in range(column_starts[column], column_starts[column + 1]):
                row[column_rows[t]] += value * column_values[t]


@kernel
def least_bounds(products, twice, slack, squares, lengths, indices, bounds):
    """The `indices.shape[1]` least of |y_j|² − 2 x_r·y_j − slack_r |y_j| of each row r, ascending.

    `twice` times `products` is 2 x·y.
    """
    k = indices.shape[1]
    n = products.shape[1]
    for r in range(products.shape[0]):
        bounds[r, :] = np.inf
        for start in range(0, n, COLUMNS_AT_ONCE):
            stop = min(start + COLUMNS_AT_ONCE, n)
            there, norms, long = products[r, start:stop], squares[start:stop], lengths[start:stop]
            last, within = bounds[r, k - 1], 0
            for c in range(stop - start):  # only a count, so that the loop is vectorised
                if norms[c] - twice * there[c] - slack[r] * long[c] < last:
                    within += 1
            if within == 0:
                continue
            for c in range(stop - start):
                value = norms[c] - twice * there[c] - slack[r] * long[c]
                if value < bounds[r, k - 1]:
                    enter(indices[r], bounds[r], start + c, value)


@kernel
def pairs_within(products, twice, slack, own, squares, lengths, reach, reaches, i, j, count):
    """Pairs (r, j) that may have |x − y|² ≤ the larger of two squared radii, and their number in `count`.

    At most i.size of them are stored; `own` are |x_r|², `reach` and `reaches` the squared radii.
    """
    met = 0
    for r in range(products.shape[0]):
        for c in range(products.shape[1]):
            value = own[r] + squares[c] - twice * products[r, c] - slack[r] * lengths[c]
            if value <= reach[r] or value <= reaches[c]:
                if met < i.size:
                    i[met], j[met] = r, c
                met += 1
    count[0] = met


@kernel
def exact_nearest(
    indptr, indices, data, products, slack, own, limit, nonnegative,
    others_indptr, others_indices, others_data, squares, lengths, unit, found, distances,
):  # fmt: skip
    """The nearest `found.shape[1]` rows of each row, from float64 products, whatever ties there are.

    `limit` is a squared length within which there are as many. Of rows without negative entries a product of 0 says
    that there is no common column.
    """
    k = found.shape[1]
    for r in range(indptr.size - 1):
        a, b = indptr[r], indptr[r + 1]
        distances[r, :] = np.inf
        for c in range(products.shape[1]):
            value = own[r] + squares[c] - 2 * products[r, c] - slack[r] * lengths[c]
            if value > limit[r]:
                continue
            if nonnegative and products[r, c] == 0.0:
                distance = 1.0 if unit else np.sqrt(own[r] + squares[c])
            else:
                start, stop = others_indptr[c], others_indptr[c + 1]
                square = squared_difference(
                    indices[a:b], data[a:b], others_indices[start:stop], others_data[start:stop]
                )
                distance = distance_of(square, unit)
            if distance < distances[r, k - 1]:
                enter(found[r], distances[r], c, distance)


@kernel
def difference_grams(
    center_indptr, center_indices, center_data, centers, indptr, indices, data, lists, grams
):  # fmt: skip
    """grams[b] = inner products (k, k) of the differences x_j − x_b of rows `lists[b]` from a centre."""
    k = lists.shape[1]
    for b in range(lists.shape[0]):
        first, last = center_indptr[centers[b]], center_indptr[centers[b] + 1]
        total = last - first
        for a in range(k):
            total += indptr[lists[b, a] + 1] - indptr[lists[b, a]]
        columns = np.empty(total, dtype=np.int64)
        filled = 0
        for p in range(first, last):
            columns[filled] = center_indices[p]
            filled += 1
        for a in range(k):
            for p in range(indptr[lists[b, a]], indptr[lists[b, a] + 1]):
                columns[filled] = indices[p]
                filled += 1
        columns = np.sort(columns)
        width = 0
        for p in range(total):
            if p == 0 or columns[p] != columns[p - 1]:
                columns[width] = columns[p]
                width += 1
        known = columns[:width]
        center = np.zeros(width)
        for p in range(first, last):
            center[np.searchsorted(known, center_indices[p])] = center_data[p]
        away = np.empty((k, width))
        for a in range(k):
            for c in range(width):
                away[a, c] = -center[c]
            place = 0
            for p in range(indptr[lists[b, a]], indptr[lists[b, a] + 1]):
                while known[place] < indices[p]:  # both ascend
                    place += 1
                away[a, place] += data[p]
        products = np.dot(away, away.T)
        for a in range(k):
            for c in range(k):
                grams[b, a, c] = 0.5 * (products[a, c] + products[c, a])

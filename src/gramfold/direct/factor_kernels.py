"""Compiled: supernodal LDLᵀ without pivoting, and solves with it.

A supernode of m vertices with a tail of r later ones is two dense blocks in `values`: `own` (m, m), of which the upper
triangle counts, and `beyond` (m, r). Row i holds w_i = d_i u_i, the i-th row of Lᵀ times its pivot.
"""

import numpy as np

from gramfold.runtime.compiled import inline, kernel, routine

_BLOCK = 64  # rows or columns in one product of dense blocks
_SMALL = 8  # supernodes of fewer vertices are updated by plain loops


@inline
def _own(values, place, s, m):
    return values[place[s] : place[s] + m * m].reshape(m, m)


@inline
def _beyond(values, place, s, m, r):
    return values[place[s] + m * m : place[s] + m * (m + r)].reshape(m, r)


@routine
def _locate(tail, first, heads, target, tail_start, tails, column):
    """column[j]: position of vertex tail[j], j ≥ first, in the rows of the supernode `target`."""
    begin, end = heads[target], heads[target + 1]
    q = tail_start[target]
    for j in range(first, tail.size):
        if tail[j] < end:
            column[j] = tail[j] - begin
        else:
            while tails[q] < tail[j]:
                q += 1
            column[j] = end - begin + q - tail_start[target]


@inline
def _position(tail, u):
    """Position of u in the ascending tail."""
    low, high = 0, tail.size
    while low < high:
        middle = (low + high) // 2
        if tail[middle] < u:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def place_entries(indptr, indices, entries, order, number, heads, tail_start, tails, place, values, low, high):
    """Copy the upper triangle of the matrix into the supernodes low..high−1, with zeros elsewhere.

    Vertex v of the supernodes is row order[v] of the matrix, and its row i is vertex number[i].
    """
    values[place[low] : place[high]] = 0.0
    for s in range(low, high):
        first, last = heads[s], heads[s + 1]
        tail = tails[tail_start[s] : tail_start[s + 1]]
        own, beyond = _own(values, place, s, last - first), _beyond(values, place, s, last - first, tail.size)
        for v in range(first, last):
            row = order[v]
            for e in range(indptr[row], indptr[row + 1]):
                u = number[indices[e]]
                if v <= u < last:
                    own[v - first, u - first] = entries[e]
                elif u >= last:
                    beyond[v - first, _position(tail, u)] = entries[e]


@routine
def _factor_rows(own, beyond, pivots):
    """Eliminate the supernode's own vertices from its rows; returns whether all pivots are finite and not 0."""
    m, r = beyond.shape
    for low in range(0, m, _BLOCK):
        high = min(m, low + _BLOCK)
        if low > 0:  # subtract the contributions of earlier blocks of rows
            scaled = np.empty((high - low, low))
            for i in range(low):
                for k in range(low, high):
                    scaled[k - low, i] = own[i, k] / pivots[i]
            own[low:high, low:] -= np.dot(scaled, own[:low, low:].copy())
            if r > 0:
                beyond[low:high] -= np.dot(scaled, beyond[:low])
        for i in range(low, high):
            pivot = own[i, i]
            pivots[i] = pivot
            if pivot == 0 or not np.isfinite(pivot):
                return False
            for k in range(i + 1, high):
                share = own[i, k] / pivot
                if share != 0:
                    for j in range(k, m):
                        own[k, j] -= share * own[i, j]
                    for j in range(r):
                        beyond[k, j] -= share * beyond[i, j]
    return True


@routine
def _take_away(taken, tail, begin, end, heads, owner, tail_start, tails, place, values, column):
    """Subtract `taken` from rows tail[begin:end], from column tail[begin] on."""
    target = -1
    for i in range(begin, end):
        a = tail[i]
        if owner[a] != target:
            target = owner[a]
            _locate(tail, i, heads, target, tail_start, tails, column)
        width = heads[target + 1] - heads[target]
        row = a - heads[target]
        near = place[target] + row * width
        far = place[target] + width * width + row * (tail_start[target + 1] - tail_start[target]) - width
        for j in range(i, tail.size):
            at = column[j] + (near if column[j] < width else far)
            values[at] -= taken[i - begin, j - begin]


@inline
def _border(heads, tail_start, tails, members):
    """Vertices above a part that it touches, all in the tail of its last supernode, and the first vertex above it."""
    root = members[members.size - 1]
    return tails[tail_start[root] : tail_start[root + 1]], heads[root + 1]


@kernel
def factor_supernodes(heads, owner, tail_start, tails, place, values, pivots, members, beside, stop):
    """Factor these supernodes and subtract each from the later ones; updates outside the part are added to `beside`.

    stop[1] is set if a pivot is 0 or not finite.
    """
    border, limit = _border(heads, tail_start, tails, members)
    most = 0
    for s in members:
        most = max(most, tail_start[s + 1] - tail_start[s])
    column = np.empty(most, np.int64)
    for s in members:
        if stop[0]:
            return
        first, last = heads[s], heads[s + 1]
        tail = tails[tail_start[s] : tail_start[s + 1]]
        m, r = last - first, tail.size
        own, beyond = _own(values, place, s, m), _beyond(values, place, s, m, r)
        if not _factor_rows(own, beyond, pivots[first:last]):
            stop[1] = 1
            return
        inside = _position(tail, limit)
        for begin in range(0, r, _BLOCK):
            end = min(r, begin + _BLOCK)
            taken = np.zeros((end - begin, r - begin))  # update of rows tail[begin:end], from column tail[begin] on
            if m < _SMALL:
                for p in range(m):
                    for i in range(begin, end):
                        share = beyond[p, i] / pivots[first + p]
                        for j in range(i, r):
                            taken[i - begin, j - begin] += share * beyond[p, j]
            else:
                scaled = np.empty((end - begin, m))
                for p in range(m):
                    for i in range(begin, end):
                        scaled[i - begin, p] = beyond[p, i] / pivots[first + p]
                taken = np.dot(scaled, beyond[:, begin:].copy())
            _take_away(taken, tail, begin, min(end, inside), heads, owner, tail_start, tails, place, values, column)
            if end > inside:
                q = 0
                for j in range(max(begin, inside), r):
                    while border[q] < tail[j]:
                        q += 1
                    column[j] = q
                for i in range(max(begin, inside), end):
                    for j in range(i, r):
                        beside[column[i], column[j]] += taken[i - begin, j - begin]


@kernel
def take_border(heads, owner, tail_start, tails, place, values, members, beside):
    """Subtract the updates that a part has collected in `beside` from the later supernodes."""
    border, _ = _border(heads, tail_start, tails, members)
    _take_away(
        beside, border, 0, border.size, heads, owner, tail_start, tails, place, values, np.empty(border.size, np.int64)
    )


@inline
def _take(x, v, w, a, b, c, d):
    """Subtract w · (a, b, c, d) from row v; unrolled, since a loop over so few columns is not vectorised."""
    x[v, 0] -= w * a
    x[v, 1] -= w * b
    x[v, 2] -= w * c
    x[v, 3] -= w * d


@kernel
def forward(heads, tail_start, tails, place, values, pivots, members, stop, x, beside):
    """L D y = x in the place of x (g, n, 4), for these supernodes; updates outside the part are added to `beside`."""
    border, limit = _border(heads, tail_start, tails, members)
    row = np.empty(0, np.int64)
    for s in members:
        if stop[0]:
            return
        first, m = heads[s], heads[s + 1] - heads[s]
        tail = tails[tail_start[s] : tail_start[s + 1]]
        own, beyond = _own(values, place, s, m), _beyond(values, place, s, m, tail.size)
        inside = _position(tail, limit)
        if inside < tail.size:
            row = np.searchsorted(border, tail[inside:])
        for g in range(len(x)):
            z, above = x[g], beside[g]
            for i in range(m):
                pivot = pivots[first + i]
                a, b = z[first + i, 0] / pivot, z[first + i, 1] / pivot
                c, d = z[first + i, 2] / pivot, z[first + i, 3] / pivot
                z[first + i, 0], z[first + i, 1], z[first + i, 2], z[first + i, 3] = a, b, c, d
                for k in range(i + 1, m):
                    _take(z, first + k, own[i, k], a, b, c, d)
                for j in range(inside):
                    _take(z, tail[j], beyond[i, j], a, b, c, d)
                for j in range(inside, tail.size):
                    _take(above, row[j - inside], beyond[i, j], a, b, c, d)


@kernel
def backward(heads, tail_start, tails, place, values, pivots, members, stop, x):
    """Lᵀ x = y in the place of y (g, n, 4), for these supernodes; those above them are done."""
    for s in members[::-1]:
        if stop[0]:
            return
        first, m = heads[s], heads[s + 1] - heads[s]
        tail = tails[tail_start[s] : tail_start[s + 1]]
        own, beyond = _own(values, place, s, m), _beyond(values, place, s, m, tail.size)
        for g in range(len(x)):
            z = x[g]
            for i in range(m - 1, -1, -1):
                a = b = c = d = 0.0
                for j in range(tail.size):
                    w, v = beyond[i, j], tail[j]
                    a, b, c, d = a + w * z[v, 0], b + w * z[v, 1], c + w * z[v, 2], d + w * z[v, 3]
                for k in range(i + 1, m):
                    w, v = own[i, k], first + k
                    a, b, c, d = a + w * z[v, 0], b + w * z[v, 1], c + w * z[v, 2], d + w * z[v, 3]
                _take(z, first + i, 1.0 / pivots[first + i], a, b, c, d)

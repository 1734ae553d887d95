"""Compiled: elimination of the vertices of a graph in the (min, +) semiring.

A supernode is a run of consecutive vertices that touch the same later ones, its tail: the row of each ends in that
tail, so rows of one supernode meet entry by entry, without a search. Nearly all of the work is of this kind.
"""

import numpy as np

from gramfold.runtime.compiled import inline, kernel, routine


@inline
def less(a, b):
    """The smaller, in the form that compiles to a vector instruction."""
    return min(b, a)


@kernel
def place_lengths(indptr, indices, lengths, start, filled, weights):
    """Edge lengths at their places in the filled structure; infinite where an entry is fill only."""
    weights[:] = np.inf
    for v in range(start.size - 1):
        p = start[v]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if u > v:
                while filled[p] < u:
                    p += 1
                weights[p] = min(weights[p], lengths[e])


@routine
def _through(start, weights, first, last, length, before, after):
    """The smallest of `before` and w(v, a) + w(v, b) over v = first..last−1, in the buffer that is returned.

    The b are the last `length` entries in the row of each v, and a is the one before them.
    """
    v = first
    while v + 3 < last:  # four at a time, and from one buffer into the other: see `_relax`
        at0, at1, at2, at3 = start[v + 1], start[v + 2], start[v + 3], start[v + 4]
        row0, row1 = weights[at0 - length : at0], weights[at1 - length : at1]
        row2, row3 = weights[at2 - length : at2], weights[at3 - length : at3]
        step0, step1 = weights[at0 - length - 1], weights[at1 - length - 1]
        step2, step3 = weights[at2 - length - 1], weights[at3 - length - 1]
        for j in range(length):
            after[j] = less(
                less(less(row0[j] + step0, row1[j] + step1), less(row2[j] + step2, row3[j] + step3)), before[j]
            )
        before, after = after, before
        v += 4
    while v < last:
        row, step = weights[start[v + 1] - length : start[v + 1]], weights[start[v + 1] - length - 1]
        for j in range(length):
            after[j] = less(row[j] + step, before[j])
        before, after = after, before
        v += 1
    return before


@kernel
def eliminate_supernodes(start, filled, weights, heads, owner, low, high, stop):
    """w(a, b) = min(w(a, b), w(v, a) + w(v, b)) for later neighbours a < b of each v in supernodes low..high−1.

    `heads` are the supernodes' first vertices, `owner` is the supernode of each vertex.
    """
    most = 0
    for s in range(low, high):
        most = max(most, start[heads[s] + 1] - start[heads[s]])
    one, two = np.empty(most, weights.dtype), np.empty(most, weights.dtype)
    place = np.empty(most, np.int64)
    for s in range(low, high):
        first, last = heads[s], heads[s + 1]
        for a in range(first + 1, last):  # within the supernode
            if stop[0]:
                return
            own = weights[start[a] : start[a + 1]]
            for j in range(own.size):  # copies of slices take seconds to compile
                one[j] = own[j]
            best = _through(start, weights, first, a, own.size, one, two)
            for j in range(own.size):
                own[j] = best[j]
        tail = filled[start[last - 1] : start[last]]
        p = 0
        while p < tail.size:  # the part of the tail that lies in one later supernode
            end = heads[owner[tail[p]] + 1]
            inside = p
            while inside < tail.size and tail[inside] < end:
                inside += 1
            # rows of that supernode hold it contiguously, and beyond it all share one tail: found once for them
            q = start[end - 1]
            for j in range(inside, tail.size):
                while filled[q] < tail[j]:
                    q += 1
                place[j] = q - start[end - 1]
            for i in range(p, inside):
                if stop[0]:
                    return
                a, length = tail[i], tail.size - i - 1
                one[:length] = np.inf
                best = _through(start, weights, first, last, length, one, two)
                near, far = start[a] - a - 1, start[a] + end - 1 - a
                for j in range(i + 1, inside):
                    q = near + tail[j]
                    weights[q] = min(weights[q], best[j - i - 1])
                for j in range(inside, tail.size):
                    q = far + place[j]
                    weights[q] = min(weights[q], best[j - i - 1])
            p = inside

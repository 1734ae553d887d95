"""Compiled: one cut of a graph by a breadth-first level, and the recursion on small parts."""

import numpy as np

from gramfold.runtime.compiled import kernel, routine

_MIDDLE = 0.35  # a cut leaves at least this share on either side, where a level allows it


@routine
def _breadth_first(indptr, indices, owner, level, queue, lo, start):
    """Levels of the vertices of part `lo` from `start`; returns how many were reached. `queue` is the part's own."""
    part = owner[start]
    level[start] = 0
    queue[lo] = start
    head, tail = lo, lo + 1
    while head < tail:
        u = queue[head]
        head += 1
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if owner[v] == part and level[v] < 0:
                level[v] = level[u] + 1
                queue[tail] = v
                tail += 1
    return tail - lo


@routine
def cut(indptr, indices, order, owner, level, queue, lo, hi):
    """Arrange order[lo:hi] as one side, other side, separator; returns where the sides end.

    Nothing is cut where the part has too few levels: both ends are then `hi`.
    """
    size = hi - lo
    for p in range(lo, hi):
        owner[order[p]] = lo
        level[order[p]] = -1
    reached = _breadth_first(indptr, indices, owner, level, queue, lo, order[lo])
    if reached < size:  # what was not reached is a side of its own, and nothing separates the two
        tail = lo + reached
        for p in range(lo, hi):
            if level[order[p]] < 0:
                queue[tail] = order[p]
                tail += 1
        order[lo:hi] = queue[lo:hi]
        return lo + reached, hi
    far = queue[hi - 1]
    for p in range(lo, hi):
        level[order[p]] = -1
    _breadth_first(indptr, indices, owner, level, queue, lo, far)
    # queue[lo:hi] is now sorted by level; look for the smallest level in the middle
    deepest = level[queue[hi - 1]]
    if deepest < 2:
        return hi, hi
    best, best_size, best_start = -1, size + 1, lo
    begin = lo
    for depth in range(deepest + 1):
        end = begin
        while end < hi and level[queue[end]] == depth:
            end += 1
        before, after = begin - lo, hi - end
        balanced = before >= _MIDDLE * size and after >= _MIDDLE * size
        half = before <= size // 2 and end - lo > size // 2
        if 0 < depth < deepest and (balanced or (half and best < 0)) and end - begin < best_size:
            best, best_size, best_start = depth, end - begin, begin
        begin = end
    if best < 0:
        return hi, hi
    stop = best_start + best_size
    order[lo:best_start] = queue[lo:best_start]
    place, top = best_start, hi
    for p in range(best_start, stop):
        v = queue[p]
        beyond = False  # of the level itself only those with a neighbour beyond separate
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if owner[u] == lo and level[u] > best:
                beyond = True
                break
        if beyond:
            top -= 1
            order[top] = v
        else:
            order[place] = v
            place += 1
    first = place
    for p in range(stop, hi):
        order[place] = queue[p]
        place += 1
    return first, top


@kernel
def cut_once(indptr, indices, order, owner, level, queue, lo, hi, ends):
    """One cut of a large part."""
    ends[0], ends[1] = cut(indptr, indices, order, owner, level, queue, lo, hi)


@kernel
def dissect(indptr, indices, order, owner, level, queue, lo, hi, leaf):
    """Cut a part again and again until all are leaves."""
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = lo, hi
    depth = 1
    while depth > 0:
        depth -= 1
        lo, hi = stack[depth]
        if hi - lo <= leaf:
            continue
        first, second = cut(indptr, indices, order, owner, level, queue, lo, hi)
        if first == hi:
            continue
        # the larger side waits, so that the stack stays as deep as a logarithm
        if first - lo < second - first:
            stack[depth, 0], stack[depth, 1] = first, second
            stack[depth + 1, 0], stack[depth + 1, 1] = lo, first
        else:
            stack[depth, 0], stack[depth, 1] = lo, first
            stack[depth + 1, 0], stack[depth + 1, 1] = first, second
        depth += 2

"""Compiled: one cut of a graph across its breadth-first levels, and the recursion on small parts."""

import numpy as np

from gramfold.direct.separator_kernels import least_separator
from gramfold.runtime.compiled import kernel, routine

_MIDDLE = 0.3  # a cut leaves at least this share on either side, where a level allows it
_BAND = 6  # levels on either side of the smallest in which the separator is searched
_CRUMB = 0.01  # share of a part that is not worth a large separator
_NOBODY = -1


@routine
def _breadth_first(indptr, indices, owner, level, queue, lo, start):
    """Breadth-first levels of the part of `start`, in the queue from `lo` on; returns where the queue ends."""
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
    return tail


@kernel
def visit(indptr, indices, owner, level, queue):
    """Visit all vertices breadth-first."""
    owner[:], level[:] = 0, -1
    tail = 0
    for v in range(queue.size):
        if level[v] < 0:
            tail = _breadth_first(indptr, indices, owner, level, queue, tail, v)


@routine
def _levels(graph, order, owner, level, queue, lo, hi):
    """Sort the part into `queue` by levels from a peripheral vertex; returns `hi`, or where components divide it."""
    indptr, indices = graph
    for p in range(lo, hi):
        owner[order[p]] = lo
        level[order[p]] = -1
    tail = _breadth_first(indptr, indices, owner, level, queue, lo, order[lo])
    if tail == hi:
        far = queue[hi - 1]
        for p in range(lo, hi):
            level[order[p]] = -1
        return _breadth_first(indptr, indices, owner, level, queue, lo, far)
    parting, half = tail, lo + (hi - lo) // 2
    for p in range(lo, hi):
        if level[order[p]] < 0:
            if abs(tail - half) < abs(parting - half):
                parting = tail
            tail = _breadth_first(indptr, indices, owner, level, queue, tail, order[p])
    return parting


@routine
def _band(level, queue, lo, hi):
    """Begin and end of a band of levels in the middle of the queue; empty where there are too few levels."""
    size, deepest = hi - lo, level[queue[hi - 1]]
    starts = np.empty(deepest + 2, np.int64)
    starts[0], starts[deepest + 1] = lo, hi
    for p in range(lo + 1, hi):
        if level[queue[p]] != level[queue[p - 1]]:
            starts[level[queue[p]]] = p
    low, high, smallest, evenest, least = deepest, 0, 0, 0, size
    for depth in range(1, deepest):
        begin, end = starts[depth], starts[depth + 1]
        if begin - lo >= _MIDDLE * size and hi - end >= _MIDDLE * size:
            low, high = min(low, depth), depth
            if smallest == 0 or end - begin < starts[smallest + 1] - starts[smallest]:
                smallest = depth
        uneven = abs((begin - lo) - (hi - end))
        if uneven < least:
            evenest, least = depth, uneven
    if smallest == 0:  # no level leaves enough on either side
        return (starts[evenest], starts[evenest + 1]) if evenest else (hi, hi)
    return starts[max(low, smallest - _BAND)], starts[min(high, smallest + _BAND) + 1]


@routine
def cut(graph, order, owner, level, queue, before, steps, path, tried, lo, hi):
    """Arrange order[lo:hi] as one side, other side, separator; returns where the sides end.

    Nothing is cut where the part has too few levels, or where a separator of more than the root of its size would only
    split off a tiny share: both ends are then `hi`.
    """
    parting = _levels(graph, order, owner, level, queue, lo, hi)
    if parting < hi:  # connected components need no separator
        for p in range(lo, hi):  # copies of slices take seconds to compile
            order[p] = queue[p]
        return parting, hi
    begin, end = _band(level, queue, lo, hi)
    if begin == end:
        return hi, hi
    band, nodes = queue[begin:end], slice(2 * lo, 2 * hi)
    low, high = level[band[0]], level[band[-1]]
    least_separator(graph, band, owner, level, low, high, before, steps, path[nodes], tried[nodes])
    for p in range(lo, begin):
        order[p] = queue[p]
    first, top = begin, hi
    for v in band:
        if steps[2 * v + 1] > 0:
            order[first] = v
            first += 1
        elif steps[2 * v] > 0:
            top -= 1
            order[top] = v
            owner[v] = _NOBODY
    second = first
    for v in band:
        if steps[2 * v] < 0 and steps[2 * v + 1] < 0:
            order[second] = v
            second += 1
    for p in range(end, hi):
        order[second] = queue[p]
        second += 1
    crumb = min(first - lo, top - first) < _CRUMB * (hi - lo)
    return (hi, hi) if crumb and (hi - top) ** 2 > hi - lo else (first, top)


@kernel
def dissect(graph, order, owner, level, queue, before, steps, path, tried, lo, hi, leaf, once, ends):
    """Cut a part, `once` or down to the leaves; `ends` receives the ends of the sides of the last cut."""
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = lo, hi
    depth = 1
    while depth > 0:
        depth -= 1
        lo, hi = stack[depth]
        if hi - lo <= leaf:
            continue
        first, second = cut(graph, order, owner, level, queue, before, steps, path, tried, lo, hi)
        ends[0], ends[1] = first, second
        if once:
            return
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

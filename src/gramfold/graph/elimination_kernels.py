"""Compiled: shortest walks by elimination in the (min, +) semiring."""

import numpy as np

from gramfold.runtime.compiled import inline, kernel

LANES = 64  # sources carried at once, several vector registers wide
_ROWS_PER_TILE = 64  # of the transpose that writes the result


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


@kernel
def eliminate_range(start, filled, weights, first, last):
    """Eliminate vertices first..last−1: w(a, b) = min(w(a, b), w(v, a) + w(v, b)) for later neighbours a < b of v."""
    for v in range(first, last):
        for p in range(start[v], start[v + 1]):
            q = start[filled[p]]
            for r in range(p + 1, start[v + 1]):
                b = filled[r]
                while filled[q] < b:
                    q += 1
                through = weights[p] + weights[r]
                if through < weights[q]:
                    weights[q] = through


@kernel
def sweep(start, filled, weights, parent, sources, stop, out):
    """out[s, v] = length of the shortest walk from sources[s] to v, for at most LANES sources."""
    n = parent.size
    work = np.full((n, LANES), np.inf, weights.dtype)
    before = np.empty(LANES, weights.dtype)
    after = np.empty(LANES, weights.dtype)
    on_path = np.zeros(n, np.bool_)
    for lane in range(sources.size):
        u = sources[lane]
        work[u, lane] = 0
        while u != -1 and not on_path[u]:
            on_path[u] = True
            u = parent[u]
    for v in range(n):  # up: along the sources' paths to the root
        if stop[0]:
            return
        if on_path[v]:
            own = work[v]
            for p in range(start[v], start[v + 1]):
                other, step = work[filled[p]], weights[p]
                for lane in range(LANES):
                    after[lane] = less(own[lane] + step, other[lane])
                for lane in range(LANES):
                    other[lane] = after[lane]
    for v in range(n - 1, -1, -1):  # down: all sources at once, from the last vertex to the first
        if stop[0]:
            return
        # Two steps at a time, and from one buffer into the other: a store that depends on the comparison with what it
        # replaces would be done lane by lane.
        for lane in range(LANES):
            before[lane] = work[v, lane]
        last = start[v + 1]
        for p in range(start[v], last - 1, 2):
            one, other = work[filled[p]], work[filled[p + 1]]
            step, stride = weights[p], weights[p + 1]
            for lane in range(LANES):
                after[lane] = less(less(one[lane] + step, other[lane] + stride), before[lane])
            before, after = after, before
        if (last - start[v]) % 2:
            one, step = work[filled[last - 1]], weights[last - 1]
            for lane in range(LANES):
                after[lane] = less(one[lane] + step, before[lane])
            before, after = after, before
        for lane in range(LANES):
            work[v, lane] = before[lane]
    for tile in range(0, n, _ROWS_PER_TILE):
        end = min(n, tile + _ROWS_PER_TILE)
        for lane in range(sources.size):
            for v in range(tile, end):
                out[lane, v] = work[v, lane]

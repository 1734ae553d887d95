"""Compiled: shortest walks over an eliminated graph, 64 sources at once.

The walk from a source to v either ends with a step to v from a later neighbour in the filled structure, or starts on
the source's own path up to the root. So a sweep from the last vertex to the first settles every vertex.
"""

import numpy as np

from gramfold.graph.elimination_kernels import less
from gramfold.runtime.compiled import kernel, routine

LANES = 64  # sources carried at once, several vector registers wide
_ROWS_PER_TILE = 64  # of the transpose that writes the result


@routine
def _relax(start, filled, weights, work, v, before, after):
    """work[v] = min(before, work[u] + w(v, u) over the later neighbours u), lane by lane.

    Four steps at a time, and from one buffer into the other: a store that depends on the comparison with what it
    replaces would be done lane by lane.
    """
    p, last = start[v], start[v + 1]
    while p + 3 < last:
        row0, row1, row2, row3 = work[filled[p]], work[filled[p + 1]], work[filled[p + 2]], work[filled[p + 3]]
        step0, step1, step2, step3 = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
        for lane in range(LANES):
            after[lane] = less(
                less(less(row0[lane] + step0, row1[lane] + step1), less(row2[lane] + step2, row3[lane] + step3)),
                before[lane],
            )
        before, after = after, before
        p += 4
    while p < last:
        row, step = work[filled[p]], weights[p]
        for lane in range(LANES):
            after[lane] = less(row[lane] + step, before[lane])
        before, after = after, before
        p += 1
    for lane in range(LANES):
        work[v, lane] = before[lane]


@kernel
def sweep(start, filled, weights, parent, sources, stop, out):
    """out[s, v] = length of the shortest walk from sources[s] to v, for at most LANES sources."""
    n = parent.size
    work = np.full((n, LANES), np.inf, weights.dtype)
    before, after = np.empty(LANES, weights.dtype), np.empty(LANES, weights.dtype)
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
    for v in range(n - 1, -1, -1):  # down: all sources at once
        if stop[0]:
            return
        before[:] = work[v]
        _relax(start, filled, weights, work, v, before, after)
    for tile in range(0, n, _ROWS_PER_TILE):
        end = min(n, tile + _ROWS_PER_TILE)
        for lane in range(sources.size):
            for v in range(tile, end):
                out[lane, v] = work[v, lane]


@kernel
def sweep_between(start, filled, weights, low, high, top, bottom, stop, out):
    """Walks between vertices low..high−1 (at most LANES, the tile) and bottom..top−1, into both halves of `out`.

    Those between the tile and the vertices from `top` on must be there. With `top = high` the walks within the tile are
    found first; otherwise top ≤ low. No way up is needed: what lies beyond the tile is known from later tiles.
    """
    n, width = start.size - 1, high - low
    work = np.full((n, LANES), np.inf, weights.dtype)
    before, after = np.empty(LANES, weights.dtype), np.empty(LANES, weights.dtype)
    for u in range(top, n):
        for lane in range(width):
            work[u, lane] = out[u, low + lane]
    for v in range(top - 1, bottom - 1, -1):
        if stop[0]:
            return
        before[:] = np.inf
        _relax(start, filled, weights, work, v, before, after)
        if v >= low:  # within the tile: lanes of earlier vertices are filled in when their own turn comes
            work[v, v - low] = 0
            for u in range(v + 1, high):
                work[u, v - low] = work[v, u - low]
    for tile in range(bottom, top, _ROWS_PER_TILE):
        end = min(top, tile + _ROWS_PER_TILE)
        for v in range(tile, end):
            for lane in range(width):
                out[v, low + lane] = work[v, lane]
        for lane in range(width):
            for v in range(tile, end):
                out[low + lane, v] = work[v, lane]

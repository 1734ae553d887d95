"""Compiled: shortest walks over an eliminated graph, many sources at once, each in a lane of its own.

The walk from a source to v either ends with a step to v from a later neighbour in the filled structure, or starts on
the source's own path up to the root. So a sweep from the last vertex to the first settles every vertex.
"""

import numpy as np

from gramfold.graph.elimination_kernels import less
from gramfold.runtime.compiled import kernel, routine

_ROWS_PER_TILE = 64  # of the transpose that writes the result


@routine
def relax(start, filled, weights, work, v, before, after):
    """work[v] = min(before, work[u] + w(v, u) over the later neighbours u), lane by lane.

    Four steps at a time, and from one buffer into the other: a store that depends on the comparison with what it
    replaces would be done lane by lane.
    """
    lanes = work.shape[1]
    p, last = start[v], start[v + 1]
    while p + 3 < last:
        row0, row1, row2, row3 = work[filled[p]], work[filled[p + 1]], work[filled[p + 2]], work[filled[p + 3]]
        step0, step1, step2, step3 = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
        for lane in range(lanes):
            after[lane] = less(
                less(less(row0[lane] + step0, row1[lane] + step1), less(row2[lane] + step2, row3[lane] + step3)),
                before[lane],
            )
        before, after = after, before
        p += 4
    while p < last:
        row, step = work[filled[p]], weights[p]
        for lane in range(lanes):
            after[lane] = less(row[lane] + step, before[lane])
        before, after = after, before
        p += 1
    for lane in range(lanes):
        work[v, lane] = before[lane]


@kernel
def sweep(start, filled, weights, parent, sources, stop, work, out):
    """out[v, s] = length of the shortest walk from sources[s] to v; `work` is (n, lanes), a lane for each source."""
    n, lanes = work.shape
    before, after = np.empty(lanes, weights.dtype), np.empty(lanes, weights.dtype)
    work[:] = np.inf
    length = np.full(n, np.inf, weights.dtype)
    for lane in range(sources.size):  # up: along the source's path to the root
        u = sources[lane]
        length[u] = 0
        while u != -1:
            for p in range(start[u], start[u + 1]):
                length[filled[p]] = min(length[filled[p]], length[u] + weights[p])
            work[u, lane] = length[u]
            length[u] = np.inf
            u = parent[u]
    for v in range(n - 1, -1, -1):  # down: all sources at once
        if stop[0]:
            return
        for lane in range(lanes):
            before[lane] = work[v, lane]
        relax(start, filled, weights, work, v, before, after)
        for lane in range(sources.size):
            out[v, lane] = work[v, lane]


@kernel
def sweep_between(start, filled, weights, low, high, top, bottom, stop, work, out):
    """Walks between vertices low..high−1, the tile, and bottom..top−1, into both halves of `out`.

    `work` is (n, lanes), a lane for each vertex of the tile, and holds nothing of use before or after.
    Those between the tile and the vertices from `top` on must be there. With `top = high` the walks within the tile are
    found first; otherwise top ≤ low. No way up is needed: what lies beyond the tile is known from later tiles.
    """
    n, lanes = work.shape
    width = high - low
    before, after = np.empty(lanes, weights.dtype), np.empty(lanes, weights.dtype)
    if width < lanes:
        work[:] = np.inf
    for u in range(top, n):
        for lane in range(width):
            work[u, lane] = out[u, low + lane]
    for v in range(top - 1, bottom - 1, -1):
        if stop[0]:
            return
        before[:] = np.inf
        relax(start, filled, weights, work, v, before, after)
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

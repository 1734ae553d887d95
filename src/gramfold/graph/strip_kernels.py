"""Compiled: shortest walks over an eliminated graph, many points at once, each in a lane of its own.

A walk climbs the filled structure from where it begins, along a path to the root, and then comes down (sweep_kernels).
"""

import numpy as np

from gramfold.graph.elimination_kernels import less
from gramfold.graph.sweep_kernels import relax
from gramfold.runtime.compiled import kernel


@kernel
def mark_ways(parent, vertices, passed):
    """passed[u] = whether u is one of these vertices, or is on the way of one to the root."""
    for v in vertices:
        u = v
        while u != -1 and not passed[u]:
            passed[u] = True
            u = parent[u]


@kernel
def climb_and_descend(start, filled, weights, climb, later, top, stop, work):
    """work[v, lane] becomes the length of the shortest walk to v, for v < top and for the vertices `later`.

    It holds the lengths at which the walks of each lane begin, and is infinite elsewhere. `climb`, ascending, is the
    way of their beginnings to the root; `later`, descending, is what the ways of vertices below `top` have from there
    on.
    """
    lanes = work.shape[1]
    before, after = np.empty(lanes, weights.dtype), np.empty(lanes, weights.dtype)
    for u in climb:
        if stop[0]:
            return
        here = work[u]
        for p in range(start[u], start[u + 1]):
            there, step = work[filled[p]], weights[p]
            for lane in range(lanes):
                there[lane] = less(here[lane] + step, there[lane])
    for i in range(later.size + top):
        if stop[0]:
            return
        v = later[i] if i < later.size else later.size + top - 1 - i
        for lane in range(lanes):
            before[lane] = work[v, lane]
        relax(start, filled, weights, work, v, before, after)

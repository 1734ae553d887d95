"""Compiled: shortest walks from a block of sources (Dijkstra, 4-ary heap), and one step before them."""

import numpy as np

from gramfold.graph.elimination_kernels import less
from gramfold.runtime.compiled import inline, kernel

_UNSEEN = -1
_DONE = -2


@inline
def _rise(heap, place, key, slot):
    """Move the entry in `slot` up until its parent is nearer."""
    vertex = heap[slot]
    while slot > 0:
        parent = (slot - 1) >> 2
        above = heap[parent]
        if key[above] <= key[vertex]:
            break
        heap[slot] = above
        place[above] = slot
        slot = parent
    heap[slot] = vertex
    place[vertex] = slot


@inline
def _sink(heap, place, key, size):
    """Move the entry at the top down until its four children are farther."""
    vertex = heap[0]
    slot = 0
    while True:
        first = 4 * slot + 1
        if first >= size:
            break
        best = first
        for child in range(first + 1, min(first + 4, size)):
            if key[heap[child]] < key[heap[best]]:
                best = child
        below = heap[best]
        if key[below] >= key[vertex]:
            break
        heap[slot] = below
        place[below] = slot
        slot = best
    heap[slot] = vertex
    place[vertex] = slot


@kernel
def shortest_walks(indptr, indices, lengths, sources, out):
    """out[s, v] = length of the shortest walk from sources[s] to v; infinite where there is none."""
    n = indptr.size - 1
    heap = np.empty(n, np.int32)
    place = np.empty(n, np.int32)
    key = np.empty(n, np.float64)
    for s in range(sources.size):
        key[:] = np.inf
        place[:] = _UNSEEN
        start = sources[s]
        key[start] = 0.0
        heap[0] = start
        place[start] = 0
        size = 1
        while size > 0:
            u = heap[0]
            place[u] = _DONE
            size -= 1
            if size > 0:
                heap[0] = heap[size]
                _sink(heap, place, key, size)
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                walked = key[u] + lengths[e]
                if walked < key[v]:
                    key[v] = walked
                    if place[v] == _UNSEEN:
                        heap[size] = v
                        place[v] = size
                        size += 1
                    _rise(heap, place, key, place[v])
        for v in range(n):
            out[s, v] = key[v]


@kernel
def step_then_walk(indptr, indices, steps, walks, out):
    """out[x, j] = (min over x's neighbours i of step(x, i) + walks[i, j])²."""
    width = out.shape[1]
    before = np.empty(width, np.float64)
    after = np.empty(width, np.float64)
    for x in range(out.shape[0]):
        before[:] = np.inf
        last = indptr[x + 1]
        # two neighbours at a time and from one buffer into the other, which compiles to vector instructions
        for e in range(indptr[x], last - 1, 2):
            one, other = walks[indices[e]], walks[indices[e + 1]]
            step, stride = steps[e], steps[e + 1]
            for j in range(width):
                after[j] = less(less(one[j] + step, other[j] + stride), before[j])
            before, after = after, before
        if (last - indptr[x]) % 2:
            one, step = walks[indices[last - 1]], steps[last - 1]
            for j in range(width):
                after[j] = less(one[j] + step, before[j])
            before, after = after, before
        for j in range(width):
            out[x, j] = before[j] * before[j]

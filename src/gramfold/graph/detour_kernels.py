"""Compiled: the way round an edge (Dijkstra up to a bound), and how many geodesics run through each vertex."""

import numpy as np

from gramfold.graph.walk_kernels import _rise, _sink
from gramfold.runtime.compiled import kernel

_UNSEEN = -1
_DONE = -2


@kernel
def ways_round(indptr, indices, lengths, alive, starts, ends, bounds, avoid_common, out):
    """out[e] = shortest path from starts[e] to ends[e] without the edge between them; infinite beyond bounds[e].

    Only edges that are `alive` are walked; with `avoid_common` no vertex that is a neighbour of both ends.
    """
    n = indptr.size - 1
    heap = np.empty(n, np.int32)
    touched = np.empty(n, np.int32)
    place = np.full(n, _UNSEEN, np.int32)
    key = np.full(n, np.inf)
    near = np.zeros(n, np.bool_)
    for s in range(starts.size):
        start, end = starts[s], ends[s]
        count = 0
        if avoid_common:
            for e in range(indptr[start], indptr[start + 1]):
                near[indices[e]] = alive[e]
            for e in range(indptr[end], indptr[end + 1]):
                v = indices[e]
                if alive[e] and near[v] and v != start:
                    place[v] = _DONE
                    touched[count] = v
                    count += 1
            for e in range(indptr[start], indptr[start + 1]):
                near[indices[e]] = False
        key[start] = 0.0
        heap[0] = start
        place[start] = 0
        touched[count] = start
        count += 1
        size = 1
        found = np.inf
        while size > 0:
            u = heap[0]
            if key[u] > bounds[s]:
                break
            if u == end:
                found = key[u]
                break
            place[u] = _DONE
            size -= 1
            if size > 0:
                heap[0] = heap[size]
                _sink(heap, place, key, size)
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                if not alive[e] or place[v] == _DONE or (u == start and v == end):
                    continue
                walked = key[u] + lengths[e]
                if walked < key[v]:
                    key[v] = walked
                    if place[v] == _UNSEEN:
                        heap[size] = v
                        place[v] = size
                        size += 1
                        touched[count] = v
                        count += 1
                    _rise(heap, place, key, place[v])
        out[s] = found
        for t in range(count):
            key[touched[t]] = np.inf
            place[touched[t]] = _UNSEEN


@kernel
def ends_below(order, before, out):
    """out[v] = vertices whose path runs through v, itself one of them; `order` has them farthest first."""
    out[:] = 1
    for v in order:
        if before[v] >= 0:
            out[before[v]] += out[v]

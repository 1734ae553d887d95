"""Compiled: pairs of near vertices, and the graph between the pairs."""

import numpy as np

from gramfold.runtime.compiled import kernel


@kernel
def match(indptr, indices, visit, group, members):
    """group[v]: the pair of v, numbered as they are made; members[g]: its vertices, −1 for a missing second.

    In the order of `visit` each vertex takes the free neighbour with which it shares most of their neighbours.
    """
    count = 0
    mark = np.full(group.size, -1, np.int32)
    for v in visit:
        if group[v] >= 0:
            continue
        for e in range(indptr[v], indptr[v + 1]):
            mark[indices[e]] = v
        mark[v] = v
        degree = indptr[v + 1] - indptr[v]
        mate, most = -1, -1.0
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if group[u] < 0:
                common = 0
                for f in range(indptr[u], indptr[u + 1]):
                    common += mark[indices[f]] == v
                shared = common / (degree + indptr[u + 1] - indptr[u] - common)
                if shared > most:
                    mate, most = u, shared
        group[v] = count
        members[count, 0], members[count, 1] = v, mate
        if mate >= 0:
            group[mate] = count
        count += 1


@kernel
def contract(indptr, indices, group, members, small_indptr, small_indices):
    """Neighbours of each pair, each once and itself left out."""
    mark = np.full(members.shape[0], -1, np.int32)
    p = 0
    for g in range(members.shape[0]):
        mark[g] = g
        for v in members[g]:
            if v < 0:
                continue
            for e in range(indptr[v], indptr[v + 1]):
                h = group[indices[e]]
                if mark[h] != g:
                    mark[h] = g
                    small_indices[p] = h
                    p += 1
        small_indptr[g + 1] = p

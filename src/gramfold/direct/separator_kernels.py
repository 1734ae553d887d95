"""Compiled: a minimum vertex separator within a band of levels.

Its size is the number of vertex-disjoint paths across the band (Menger). Paths are found in rounds, each time a maximal
set of disjoint shortest augmenting paths (Dinic 1970), which may reroute earlier ones. For that a vertex v is two
nodes, its entry 2v and its exit 2v + 1: a free vertex leads from entry to exit, a used one only back along its path.
"""

from gramfold.runtime.compiled import routine

FREE = -1  # on no path
FIRST = -2  # first on its path, which comes from before the band
_UNSEEN = -1
_SPENT = -2  # a node that leads nowhere, or is on a path of this round


@routine
def least_separator(graph, band, owner, level, low, high, before, steps, path, tried):
    """Find the paths across a `band` of vertices, sorted by `level` from `low` to `high`, of one owner.

    Afterwards steps[2v] > 0 where the entry of v can be reached from before the band, and steps[2v + 1] > 0 for its
    exit: the separator is the set of vertices of which only the entry can be reached. `path` and `tried` hold two
    entries for each vertex of the band, and `before` and `steps` are read and written only at the band's vertices.
    """
    for v in band:
        before[v] = FREE
    while True:
        reach = _count_steps(graph, band, owner, level, low, high, before, steps, path)
        if reach < 0:
            return
        for v in band:
            if level[v] > low:
                break
            if before[v] != FIRST and steps[2 * v] == 1:
                _find_path(graph, v, owner, level, low, high, before, steps, reach, path, tried)


@routine
def _count_steps(graph, band, owner, level, low, high, before, steps, queue):
    """Distance of each node from before the band; returns that of the nearest exit that leads behind it, or −1."""
    indptr, indices = graph
    part = owner[band[0]]
    tail = 0
    for v in band:
        steps[2 * v], steps[2 * v + 1] = _UNSEEN, _UNSEEN
        if level[v] == low:
            steps[2 * v] = 1
            queue[tail] = 2 * v
            tail += 1
    head, reach = 0, -1
    while head < tail:
        node = queue[head]
        head += 1
        v, count = node >> 1, steps[node]
        if 0 <= reach <= count:
            break
        if node & 1 == 0:
            onward = _from_entry(v, before)
            if onward >= 0 and steps[onward] == _UNSEEN:
                steps[onward] = count + 1
                queue[tail] = onward
                tail += 1
            continue
        if before[v] != FREE and steps[2 * v] == _UNSEEN:
            steps[2 * v] = count + 1
            queue[tail] = 2 * v
            tail += 1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if owner[u] != part or level[u] < low:
                continue
            if level[u] > high:
                reach = count
            elif steps[2 * u] == _UNSEEN:
                steps[2 * u] = count + 1
                queue[tail] = 2 * u
                tail += 1
    return reach


@routine
def _from_entry(v, before):
    """Where the entry of v leads: to its own exit, or back along its path; −1 for out of the band."""
    if before[v] == FREE:
        return 2 * v + 1
    return 2 * before[v] + 1 if before[v] >= 0 else -1


@routine
def _find_path(graph, start, owner, level, low, high, before, steps, reach, path, tried):
    """Depth-first search for an augmenting path from the entry of `start`, which is kept if found.

    tried[i]: number of edges out of path[i] that were tried; the first of an exit is that to its own entry.
    """
    indptr, indices = graph
    part = owner[start]
    depth = 0
    path[0], tried[0] = 2 * start, 0
    while depth >= 0:
        node = path[depth]
        v, count, onward, across = node >> 1, steps[node] + 1, -1, False
        if node & 1 == 0:
            if tried[depth] == 0:
                tried[depth] = 1
                onward = _from_entry(v, before)
                if onward >= 0 and steps[onward] != count:
                    onward = -1
        else:
            if tried[depth] == 0:
                tried[depth] = 1
                if before[v] != FREE and steps[2 * v] == count:
                    onward = 2 * v
            e = indptr[v] + tried[depth] - 1
            while onward < 0 and not across and e < indptr[v + 1]:
                u = indices[e]
                e += 1
                if owner[u] != part or level[u] < low:
                    continue
                if level[u] > high:
                    across = count - 1 == reach
                elif steps[2 * u] == count:
                    onward = 2 * u
            tried[depth] = e - indptr[v] + 1
        if across:
            _keep_path(path[: depth + 1], before, steps)
            return
        if onward >= 0:
            depth += 1
            path[depth], tried[depth] = onward, 0
        else:
            steps[node] = _SPENT
            depth -= 1


@routine
def _keep_path(path, before, steps):
    before[path[0] >> 1] = FIRST
    for node in path:
        steps[node] = _SPENT
    for i in range(len(path) - 1):
        v, u = path[i] >> 1, path[i + 1] >> 1
        if path[i] & 1:  # from an exit: on to the next vertex, or back through its own
            before[u] = v if v != u else FREE

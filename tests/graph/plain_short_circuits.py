"""Short circuits once more, slowly: planes from rows, paths with a heap and dictionaries, all edges one by one."""

import heapq

import numpy as np


def nearest(X, k):
    """The union graph as {(i, j): length}, and each row's list of neighbours."""
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    lists = np.argsort(distances, axis=1, kind="stable")[:, :k]
    edges = {(min(i, j), max(i, j)): distances[i, j] for i in range(len(X)) for j in lists[i].tolist()}
    return edges, lists, distances


def plain_short_circuits(X, k, *, planes, given=None):
    """{edge: score} of the short circuits of the rows' neighbour graph, or of edges that are given."""
    edges, lists, distances = nearest(X, k)
    scale = np.median(np.take_along_axis(distances, lists, axis=1), axis=1)
    radius = distances[np.arange(len(X)), lists[:, -1]]
    if given is not None:
        edges = given
        near = _adjacent(len(X), edges, edges)
        scale = np.array([np.median(list(lengths.values())) for lengths in near])
        k = int(np.median([len(lengths) for lengths in near]))
    if planes:
        suspicion = _tilts(X, edges, lists, radius, _dimension(X, lists))
        steep = max(0.5, 5 * np.quantile(list(suspicion.values()), 0.9) / 1.645)
        tested = [edge for edge in edges if suspicion[edge] > steep]
    else:
        suspicion = edges
        around = _adjacent(len(X), edges, edges)
        tested = [(i, j) for i, j in edges if not set(around[i]) & set(around[j])]
    if not tested:
        return {}
    others = [edge for edge in edges if edge not in set(tested)]
    around = _adjacent(len(X), edges, others)
    unit = {edge: max(scale[list(edge)]) for edge in edges}
    longer = {edge: max(unit[edge], edges[edge]) for edge in edges}

    ways = {edge: way_round(around, *edge) for edge in others}
    ways = {edge: way for edge, way in ways.items() if np.isfinite(way)}
    confirms = np.pi / 2 * np.quantile([way / longer[edge] for edge, way in ways.items()], 0.99)
    if planes:
        logs = [np.log(way / unit[edge]) for edge, way in ways.items()]
        chance = np.pi / 2 * np.exp(plain_extreme(logs, len(tested)))
    else:
        shut = {(i, j): way_round(around, i, j, set(around[i]) & set(around[j])) for i, j in others}
        chance = plain_extreme([way / unit[edge] for edge, way in shut.items() if np.isfinite(way)], len(tested))

    longest = {edge: max(confirms * longer[edge], chance * unit[edge]) for edge in edges}
    short = {edge: confirms * longer[edge] for edge in edges}
    left = _confirmed(around, edges, tested, short)
    part = _parts(around)
    for edge in sorted(left, key=lambda one: (suspicion[one], one)):
        one, other = (part[end] for end in edge)
        if one is not other and min(len(one), len(other)) < k + 1:
            one |= other
            for vertex in other:
                part[vertex] = one
            _believe(around, edges, edge)
            left = [kept for kept in left if kept != edge]
    left = _confirmed(around, edges, left, short)
    scores = {edge: way_round(around, *edge) / longest[edge] for edge in left}
    return {edge: score for edge, score in scores.items() if 1 < score < np.inf}


def plain_extreme(values, tests):
    """The mean excess of the largest 2% (10 at least), continued to one in a hundred graphs."""
    largest = sorted(values, reverse=True)
    count = min(len(largest), max(10, int(np.ceil(0.02 * len(largest)))))
    excess = np.mean(largest[:count]) - largest[count - 1]
    return largest[count - 1] + excess * max(0.0, np.log(count / len(largest) * tests / 0.01))


def way_round(around, i, j, shut=()):
    """Dijkstra from i to j without their edge and without the vertices that are shut."""
    heap, done = [(0.0, i)], set(shut)
    while heap:
        walked, u = heapq.heappop(heap)
        if u == j:
            return walked
        if u in done:
            continue
        done.add(u)
        for v, length in around[u].items():
            if v not in done and (u, v) != (i, j):
                heapq.heappush(heap, (walked + length, v))
    return np.inf


def _adjacent(n, edges, chosen):
    around = [{} for _ in range(n)]
    for edge in chosen:
        _believe(around, edges, edge)
    return around


def _believe(around, edges, edge):
    i, j = edge
    around[i][j] = around[j][i] = edges[edge]


def _confirmed(around, edges, left, longest):
    while True:
        short = [edge for edge in left if way_round(around, *edge) <= longest[edge]]
        for edge in short:
            _believe(around, edges, edge)
        left = [edge for edge in left if edge not in short]
        if not short:
            return left


def _parts(around):
    part = [{vertex} for vertex in range(len(around))]
    for vertex, near in enumerate(around):
        for other in near:
            if part[vertex] is not part[other]:
                part[vertex] |= part[other]
                for one in part[other]:
                    part[one] = part[vertex]
    return part


def _dimension(X, lists):
    found = []
    for i, near in enumerate(lists):
        points = X[[i, *near]] - X[[i, *near]].mean(axis=0)
        shares = np.cumsum(np.linalg.svd(points, compute_uv=False) ** 2)
        found.append(1 + int(np.argmax(shares >= 0.9 * shares[-1])))
    return int(np.median(found))


def _tilts(X, edges, lists, radius, d):
    planes = []
    for i, near in enumerate(lists):
        points = X[[i, *near]]
        kept = min(len(points), max(d + 2, int(np.ceil(0.75 * len(points)))))
        chosen = np.arange(kept)
        for step in range(4):
            mean = points[chosen].mean(axis=0)
            basis = np.linalg.svd(points[chosen] - mean)[2][:d]
            if step < 3:
                chosen = np.argsort([_off(x, mean, basis) for x in points], kind="stable")[:kept]
        planes.append((mean, basis))
    return {
        (i, j): max(_off(X[j], *planes[i]) / radius[i], _off(X[i], *planes[j]) / radius[j]) for i, j in edges
    }  # fmt: skip


def _off(x, mean, basis):
    away = x - mean
    return float(np.linalg.norm(away - basis.T @ (basis @ away)))

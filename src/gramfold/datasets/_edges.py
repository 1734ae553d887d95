"""Draw the edges of random graphs, connect their components, and store them."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Edges = NDArray[np.int64]  # (m, 2), every edge once
Array = NDArray[np.float64]

# neighbours searched first for short links between the components of a geometric graph; doubled until they suffice
FIRST_LINK_NEIGHBORS = 8


def symmetric_graph(edges: Edges, lengths: Array, n_vertices: int) -> "csr_array":
    """Store every edge in both directions in a CSR array."""
    row, column = edges.T.astype(np.int32)  # the index type of scipy's graph routines
    both = np.concatenate([row, column]), np.concatenate([column, row])
    return coo_array((np.tile(lengths, 2), both), shape=(n_vertices, n_vertices)).tocsr()


def pairs_within(n_vertices: int, share: float, rng: np.random.Generator) -> Edges:
    """Draw each pair of vertices with probability `share`."""
    code = _some_of(n_vertices * (n_vertices - 1) // 2, share, rng)
    # pairs (high, low) with low < high are numbered row by row: high (high − 1) / 2 + low
    high = ((1 + np.sqrt(1 + 8 * code.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > code  # the root may be rounded up or down by one
    high += high * (high + 1) // 2 <= code
    return np.column_stack([high, code - high * (high - 1) // 2])


def pairs_between(n_left: int, n_right: int, share: float, rng: np.random.Generator) -> Edges:
    """Draw each pair of a left and a right vertex with probability `share`."""
    code = _some_of(n_left * n_right, share, rng)
    return np.column_stack(np.divmod(code, n_right))


def pairs_planted(labels: NDArray[np.int64], inside: float, outside: float, rng: np.random.Generator) -> Edges:
    """Draw pairs of the same label with probability `inside`, and of different labels with `outside`."""
    members = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    found = []
    for position, own in enumerate(members):
        found.append(own[pairs_within(len(own), inside, rng)])
        for other in members[position + 1 :]:
            left, right = pairs_between(len(own), len(other), outside, rng).T
            found.append(np.column_stack([own[left], other[right]]))
    return np.vstack(found)


def pairs_nearer(positions: Array, radius: float) -> Edges:
    """Find all pairs of positions at most `radius` apart."""
    return np.asarray(cKDTree(positions).query_pairs(radius, output_type="ndarray"), dtype=np.int64)


def random_links(edges: Edges, n_vertices: int, rng: np.random.Generator) -> Edges:
    """Connect the components: a random vertex of each is linked to a random vertex of those before it."""
    n_parts, part = _parts(edges, n_vertices)
    by_part = np.argsort(part, kind="stable")
    start = np.searchsorted(part[by_part], np.arange(1, n_parts))  # where each component but the first begins
    end = np.append(start[1:], n_vertices)
    own, earlier = rng.integers(start, end[: len(start)]), rng.integers(0, start)
    return np.column_stack([by_part[own], by_part[earlier]])


def short_links(edges: Edges, positions: Array) -> Edges:
    """Connect the components by a minimum spanning tree of the shortest links among near neighbours."""
    n_vertices = len(positions)
    n_parts, part = _parts(edges, n_vertices)
    tree = cKDTree(positions)
    k = FIRST_LINK_NEIGHBORS
    while n_parts > 1:
        k = min(k, n_vertices - 1)
        gap, other = tree.query(positions, k + 1)
        near = np.column_stack([np.repeat(np.arange(n_vertices), k + 1), other.ravel()])
        crossing = part[near[:, 0]] != part[near[:, 1]]
        near, gap = near[crossing], gap.ravel()[crossing]
        if _parts(np.vstack([edges, near]), n_vertices)[0] == 1:
            return _spanning(near, gap, part, n_parts)
        k *= 2
    return np.empty((0, 2), dtype=np.int64)


def _spanning(links: Edges, gap: Array, part: NDArray[np.int32], n_parts: int) -> Edges:
    """Links of a minimum spanning tree in which every component is one vertex."""
    ends = np.sort(part[links], axis=1)
    order = np.lexsort((gap, ends[:, 1], ends[:, 0]))
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.any(np.diff(ends[order], axis=0), axis=1)
    shortest = order[first]  # one link for each pair of components
    a, b = ends[shortest].T
    tiny = np.finfo(np.float64).tiny  # a zero would not be an edge
    quotient = coo_array((np.maximum(gap[shortest], tiny), (a, b)), shape=(n_parts, n_parts)).tocsr()
    kept = minimum_spanning_tree(quotient).tocoo()
    chosen = np.isin(a.astype(np.int64) * n_parts + b, kept.row.astype(np.int64) * n_parts + kept.col)
    return np.asarray(links[shortest[chosen]])


def _parts(edges: Edges, n_vertices: int) -> tuple[int, NDArray[np.int32]]:
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_vertices, n_vertices))
    n_parts, part = connected_components(graph.tocsr(), directed=False)
    return int(n_parts), part


def _some_of(n_pairs: int, share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw each number below `n_pairs` with probability `share`, without enumerating all of them."""
    taken = rng.binomial(n_pairs, share)
    if taken == 0:
        return np.empty(0, dtype=np.int64)
    return np.sort(rng.choice(n_pairs, size=taken, replace=False, shuffle=False))

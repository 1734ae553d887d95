"""The minimum spanning tree: the shortest edges that connect all rows (Borůvka).

Each component takes its shortest edge to another, all at once, until one is left; such an edge is in the tree by the
cut property. Of edges that are equally long one tree is chosen.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from gramfold.neighbors.index import Index, Outlook
from gramfold.types import Floats, Integers, Neighbors


def spanning_tree(index: Index, lists: Neighbors) -> Neighbors:
    """The edges of the tree at both of their ends; of given edges the forest of their components.

    `lists` are the edges that were given, where the index knows no others.
    """
    if index.given and index.gaps_unknown:
        return _tree_of(lists.rows, lists.indices, lists.distances, index.size)
    component: Integers = np.arange(index.size)
    outlook = Outlook.of(component)
    found: list[tuple[int, int, float]] = []
    while component.any():
        found += index.gaps(component, outlook)
        i, j = np.array([step[:2] for step in found]).T
        component = _merged(component, i, j)
    i, j, lengths = (np.array(part) for part in zip(*found, strict=True))
    return _tree_of(i, j, lengths, index.size)


def _merged(component: Integers, i: Integers, j: Integers) -> Integers:
    """The components that these edges leave; number 0 keeps its number."""
    edges = csr_array((np.ones(len(i)), (i, j)), shape=(len(component), len(component)))
    label = connected_components(edges, directed=False)[1]
    main = label[np.argmin(component)]
    return np.where(label == main, 0, np.where(label < main, label + 1, label)).astype(np.intp)


def _tree_of(i: Integers, j: Integers, lengths: Floats, n: int) -> Neighbors:
    """The minimum spanning forest of these edges, by their ranks: SciPy takes a length of 0 for no edge."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((high, low, lengths))
    keys, first = np.unique(low[order] * n + high[order], return_index=True)  # an edge may be listed at both ends
    rank = csr_array((first + 1.0, (keys // n, keys % n)), shape=(n, n))
    kept = order[minimum_spanning_tree(rank).data.astype(np.intp) - 1]
    return Neighbors.from_pairs(
        np.concatenate([i[kept], j[kept]]),
        np.concatenate([j[kept], i[kept]]),
        np.concatenate([lengths[kept], lengths[kept]]),
        (n, n),
    )

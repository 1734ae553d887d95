"""The nearest rows of each row where a copy is a neighbour like any other, at distance 0.

Distinct rows are searched once: among many copies of one row a search would compare all of them with each other.
"""

import numpy as np

from gramfold.neighbors.duplicates import Collapse
from gramfold.neighbors.index import Index, without
from gramfold.types import Integers, Neighbors


def nearest_with_copies(index: Index, collapse: Collapse, k: int) -> Neighbors:
    """The k nearest other rows of each row, the lower number at a tie; `index` is of the distinct rows."""
    n, distinct = len(collapse.vertex), len(collapse)
    if distinct == n:
        return index.own(k, None)
    if distinct == 1:
        lists = Neighbors.from_lists(np.empty((1, 0), dtype=np.intp), np.empty((1, 0)), 1)
    else:
        lists = index.own(min(k, distinct - 1), None)
    # each vertex with itself and its neighbours, then the copies of each of these
    vertex = np.concatenate([np.arange(distinct), lists.rows])
    other = np.concatenate([np.arange(distinct), lists.indices])
    distance = np.concatenate([np.zeros(distinct), lists.distances])
    members, starts = np.argsort(collapse.vertex, kind="stable"), _starts(collapse)
    counts = np.minimum(np.diff(starts)[other], k + 1)
    copy = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    row = members[np.repeat(starts[other], counts) + copy]
    vertex, distance = np.repeat(vertex, counts), np.repeat(distance, counts)
    order = np.lexsort((row, distance, vertex))
    first = np.searchsorted(vertex[order], np.arange(distinct))
    nearest = order[first[:, None] + np.arange(k + 1)]  # (distinct, k + 1), the row itself among them or its copies
    indices, distances = row[nearest][collapse.vertex], distance[nearest][collapse.vertex]
    found = Neighbors.from_lists(*without(np.arange(n), indices, distances), n)
    return found if lists.recall is None else Neighbors(found.indptr, found.indices, found.distances, n, lists.recall)


def _starts(collapse: Collapse) -> Integers:
    return np.concatenate(([0], np.cumsum(np.bincount(collapse.vertex, minlength=len(collapse)))))

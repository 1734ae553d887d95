"""The normalised cut of a graph: what clusters lose to each other, relative to what they hold.

    Ncut = Σ_j cut(A_j, rest) / vol(A_j),   cut: weights between, vol: sum of the degrees

Shi, Malik, IEEE PAMI 22 (2000); Burges, section 2.5.2.
"""

import numpy as np
from scipy.sparse import csr_array

from gramfold.graph.laplacian import degrees
from gramfold.types import Floats, Integers


def normalized_cut(weights: csr_array, labels: Integers) -> float:
    """Ncut of the clusters; those without edges lose nothing."""
    count = int(labels.max()) + 1
    rows = np.repeat(labels, np.diff(weights.indptr))
    between = rows != labels[weights.indices]
    cut = np.bincount(rows[between], weights=weights.data[between], minlength=count)
    volume = np.bincount(labels, weights=degrees(weights), minlength=count)
    return float(np.sum(cut[volume > 0] / volume[volume > 0]))


def kept_shares(weights: csr_array, own: Integers, labels: Integers) -> Floats:
    """Of each row's weights (m, n) to labelled vertices, the share that goes to its own label; a row needs an edge."""
    rows = np.repeat(np.arange(len(own)), np.diff(weights.indptr))
    kept = np.where(own[rows] == labels[weights.indices], weights.data, 0.0)
    held, whole = (np.bincount(rows, weights=part, minlength=len(own)) for part in (kept, weights.data))
    return np.asarray(held / whole)


def best_threshold(weights: csr_array, values: Floats) -> float:
    """The number that parts the vertices by their `values` into the two sides of least normalised cut."""
    order, cost = threshold_cuts(weights, degrees(weights), values)
    place = int(np.argmin(cost))
    return float(0.5 * (values[order[place]] + values[order[place + 1]]))


def threshold_cuts(weights: csr_array, volume: Floats, values: Floats) -> tuple[Integers, Floats]:
    """The vertices by rising `values`, and Ncut of the first 1, 2, … n − 1 of them and the others.

    All are weighed in one sweep: an edge is cut from its lower end on, up to its upper end; a diagonal is not looked
    at. Between equal values, where no number lies, and where one side holds nothing, the cut is infinite.
    """
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    rows = np.repeat(rank, np.diff(weights.indptr))
    upward = rows < rank[weights.indices]  # each edge once
    low, high, weight = rows[upward], rank[weights.indices[upward]], weights.data[upward]
    n = len(values)
    opened = np.bincount(low, weights=weight, minlength=n) - np.bincount(high, weights=weight, minlength=n)
    cut = np.cumsum(opened)[:-1]
    below = np.cumsum(volume[order])
    above = below[-1] - below[:-1]
    somewhere = (np.diff(values[order]) != 0) & (below[:-1] > 0) & (above > 0)
    cost = np.full(n - 1, np.inf)
    cost[somewhere] = cut[somewhere] / below[:-1][somewhere] + cut[somewhere] / above[somewhere]
    return order, cost

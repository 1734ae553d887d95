"""Conformal lengths: |x_i − x_j| / √(M_i M_j), with M_i the mean distance from i to its neighbours.

de Silva, Tenenbaum, NIPS 15 (2003): where a sheet is stretched unevenly but alike in all directions, points sampled
evenly on the flat sheet lie farther apart where it is stretched, and this undoes it.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from gramfold.types import Floats, Graph, Neighbors


def mean_lengths(neighbors: Neighbors) -> Floats:
    """M: the mean distance of each row to its neighbours; 1 where it has none or all lie at distance 0."""
    sums = np.bincount(neighbors.rows, weights=neighbors.distances, minlength=len(neighbors))
    means = sums / np.maximum(neighbors.counts, 1)
    return np.where(means > 0, means, 1.0)


def conformal_graph(graph: Graph) -> Graph:
    """The graph with conformal lengths; its lists keep the distances of the data."""
    root = np.sqrt(mean_lengths(graph.neighbors))
    edges = graph.lengths
    rows = np.repeat(np.arange(len(graph)), np.diff(edges.indptr))
    lengths = edges.data / (root[rows] * root[edges.indices])
    return replace(graph, lengths=csr_array((lengths, edges.indices, edges.indptr), shape=edges.shape))


def conformal_steps(met: Neighbors, graph: Graph) -> Neighbors:
    """Steps from new points to vertices of the graph, as conformal lengths."""
    own, theirs = mean_lengths(met), mean_lengths(graph.neighbors)
    return replace(met, distances=met.distances / np.sqrt(own[met.rows] * theirs[met.indices]))

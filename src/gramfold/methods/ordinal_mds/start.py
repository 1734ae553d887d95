"""The start: classical scaling of the ranks of the dissimilarities.

    K = −½ H R² H,  R_ab the rank of the pair among those with a weight, divided by the largest

A pair without a weight has no rank: R_ab is the length of the shortest path from a to b over pairs that have one, as
Isomap completes distances. A pair that is no shorter than a path around it changes no shortest path. So paths are found
over a few pairs of least rank at each vertex, and once more with the pairs that are shorter than these paths.
"""

import numpy as np
from scipy.spatial.distance import squareform

from gramfold.graph.build import build_graph
from gramfold.graph.geodesic import all_pairs
from gramfold.kernels.gram import GramKernel, centered_gram
from gramfold.methods.ordinal_mds.monotone import RankOrder
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import Floats, Neighbors

_FEW = 6  # pairs of least rank at each vertex


def rank_kernel(order: RankOrder, mass: Floats, n_jobs: int | None = None, stages: Stages = SILENT) -> GramKernel:
    """The kernel above."""
    ranks = squareform(order.ranks(), checks=False)  # (n, n)
    if len(order.order) < order.n_pairs:
        ranks = completed(ranks, n_jobs, stages)
    return centered_gram(np.square(ranks, out=ranks), scale=-0.5, mass=mass)


def completed(ranks: Floats, n_jobs: int | None = None, stages: Stages = SILENT) -> Floats:
    """Ranks (n, n) with shortest paths in the place of NaN."""
    n = len(ranks)
    known = ~np.isnan(ranks)
    np.fill_diagonal(known, val=False)
    ranks = np.where(known, ranks, np.inf)
    few = np.argpartition(ranks, min(_FEW, n - 1), axis=1)[:, :_FEW]
    chosen = np.zeros((n, n), dtype=bool)
    np.put_along_axis(chosen, few, values=True, axis=1)
    chosen &= known
    chosen |= chosen.T
    paths = _shortest_paths(ranks, chosen, n_jobs, stages)
    chosen |= ranks < paths
    paths = _shortest_paths(ranks, chosen, n_jobs, stages)
    np.copyto(paths, ranks, where=known)
    return np.minimum(paths, paths.T)  # a path is summed in another order from its other end


def _shortest_paths(lengths: Floats, chosen: np.ndarray, n_jobs: int | None, stages: Stages) -> Floats:
    """(n, n) along the chosen pairs; infinite where there is none."""
    rows, columns = np.nonzero(chosen)
    edges = Neighbors.from_pairs(rows, columns, lengths[rows, columns], chosen.shape)
    return all_pairs(build_graph(edges, None, np.ones(len(lengths))), np.float64, n_jobs, stages)

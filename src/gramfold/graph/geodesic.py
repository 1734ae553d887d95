"""Geodesics: shortest walks along the graph, by blocks of sources."""

import numpy as np
from numpy.typing import DTypeLike

from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Graph, Neighbors

_SOURCES_PER_BLOCK = 16
_ENTRIES_PER_BLOCK = 4_000_000


def all_pairs(
    graph: Graph, dtype: DTypeLike = np.float64, n_jobs: int | None = None, stages: Stages = SILENT
) -> Floats:
    """Lengths of the shortest walks between all vertices, (n, n)."""
    from gramfold.graph.walk_kernels import shortest_walks

    n = len(graph)
    edges = graph.lengths
    indptr, indices = edges.indptr.astype(np.int32), edges.indices.astype(np.int32)
    lengths = np.ascontiguousarray(edges.data, dtype=np.float64)
    sources = np.arange(n, dtype=np.int32)
    out = np.empty((n, n), dtype=dtype)

    def work(part: slice) -> None:
        shortest_walks(indptr, indices, lengths, sources[part], out[part])

    run_blocks(work, blocks(n, _SOURCES_PER_BLOCK), n_jobs, stages=stages, what="geodesics")
    return out


def squared_geodesics_from(nearest: Neighbors, squared: Floats, n_jobs: int | None = None) -> Floats:
    """Squared walks (m, n) of points that step to their neighbours and then walk the fitted graph."""
    from gramfold.graph.walk_kernels import step_then_walk

    out = np.empty((len(nearest), squared.shape[1]))

    def work(part: slice) -> None:
        indptr = nearest.indptr[part.start : part.stop + 1]
        step_then_walk(indptr, nearest.indices, nearest.distances, squared, out[part])

    run_blocks(work, blocks(len(nearest), _rows_per_block(squared.shape[1])), n_jobs)
    return out


def _rows_per_block(n: int) -> int:
    return max(1, _ENTRIES_PER_BLOCK // (16 * n))

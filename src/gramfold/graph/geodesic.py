"""Geodesics: shortest walks along the graph, by elimination or by Dijkstra, whichever is predicted to be quicker.

Elimination in the (min, +) semiring: with a fill-reducing order, removing vertex v joins its later neighbours a < b by
w(a, b) = min(w(a, b), w(v, a) + w(v, b)). Then from 64 sources at once: up along each source's path to the root of the
elimination tree, and one sweep down, d(v) = min over later neighbours u of d(u) + w(v, u). Its cost is the filled
structure, small where the graph has small separators; Dijkstra's is the edges, whatever their shape.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike

from gramfold.graph.build import subgraph
from gramfold.ordering.elimination import Elimination, eliminate
from gramfold.ordering.fill_reducing import fill_reducing_order
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, run_blocks, stop_flag, thread_count
from gramfold.types import Floats, Graph, Integers, Neighbors

# Seconds, about what rolls and Fashion-MNIST of 10,000 rows took; only their ratios matter: an entry of the filled
# structure for one source (64 at once), a pair of later neighbours in the elimination, and a stored edge in Dijkstra's
# algorithm for one source.
_FILLED_ENTRY = 0.75e-9
_ELIMINATED_PAIR = 3.5e-9
_WALKED_EDGE = 18e-9
_CACHED_VERTICES = 1e6  # at this size nearly every edge is a cache miss, and costs twice as much
_PAIRS_PER_CALL = 1e8  # of the elimination: a fraction of a second
_VERTICES_PER_BLOCK = 300_000  # of Dijkstra's algorithm, over all sources of a block
_ROWS_PER_COPY = 64


def arranged(graph: Graph, n_jobs: int | None = None) -> Graph:
    """The graph with its vertices in an order that fills in little; neighbours also come to lie near each other."""
    # dissection by levels, the first try, fills in two to three times as much as the order that is taken in the end
    return subgraph(graph, fill_reducing_order(graph.lengths, 3 * _most_fill(graph), n_jobs)[0])


def all_pairs(
    graph: Graph, dtype: DTypeLike = np.float64, n_jobs: int | None = None, stages: Stages = SILENT
) -> Floats:
    """Lengths of the shortest walks between all vertices, (n, n)."""
    walks = walks_from(graph, np.arange(len(graph)), dtype, n_jobs, stages)
    if walks.dtype == np.float32:
        # there and back are summed in different order, which a solver for symmetric matrices would feel in float32
        for part in blocks(len(walks), _ROWS_PER_COPY):
            walks[part.stop :, part] = walks[part, part.stop :].T
            own = walks[part, part]
            np.minimum(own, own.T.copy(), out=own)
    return walks


def walks_from(
    graph: Graph,
    sources: Integers,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    stages: Stages = SILENT,
) -> Floats:
    """Lengths of the shortest walks from these vertices, (len(sources), n); infinite where there is none.

    The graph's own order decides how much elimination fills in: see `arranged`.
    """
    sources = sources.astype(np.int32)
    out = np.empty((len(sources), len(graph)), dtype=dtype)
    elimination = eliminate(graph.lengths, _most_fill(graph))
    if elimination and _elimination_is_quicker(graph, elimination, len(sources), thread_count(n_jobs)):
        _eliminate_and_sweep(graph, elimination, sources, out, n_jobs, stages)
    else:
        _dijkstra(graph, sources, out, n_jobs, stages)
    return out


def _most_fill(graph: Graph) -> float:
    """Fill at which a sweep costs as much as Dijkstra's algorithm, however many the sources."""
    return _walk_seconds(graph) / _FILLED_ENTRY


def _walk_seconds(graph: Graph) -> float:
    """Of Dijkstra's algorithm from one source in one thread."""
    return float(graph.lengths.nnz * _WALKED_EDGE * (1 + min(1.0, len(graph) / _CACHED_VERTICES)))


def _elimination_is_quicker(graph: Graph, elimination: Elimination, n_sources: int, threads: int) -> bool:
    sweeps = n_sources * elimination.fill * _FILLED_ENTRY / threads
    walks = n_sources * _walk_seconds(graph) / threads
    return bool(elimination.operations * _ELIMINATED_PAIR + sweeps < walks)


def _eliminate_and_sweep(
    graph: Graph, elimination: Elimination, sources: Integers, out: Floats, n_jobs: int | None, stages: Stages
) -> None:
    from gramfold.graph.elimination_kernels import LANES, sweep

    start, filled = elimination.structure()
    weights = _eliminated(graph, elimination, start, filled, out.dtype, stages)
    stop = stop_flag()

    def work(part: slice) -> None:
        sweep(start, filled, weights, elimination.parent, sources[part], stop, out[part])

    run_blocks(work, blocks(len(sources), LANES), n_jobs, stages=stages, what="geodesics", stop=stop)


def _eliminated(
    graph: Graph, elimination: Elimination, start: Integers, filled: Integers, dtype: DTypeLike, stages: Stages
) -> Floats:
    """Weights of the filled structure once every vertex is eliminated."""
    from gramfold.graph.elimination_kernels import eliminate_range, place_lengths

    edges = graph.lengths
    weights = np.empty(len(filled), dtype=dtype)
    place_lengths(edges.indptr, edges.indices, edges.data, start, filled, weights)
    calls = np.cumsum(elimination.counts.astype(np.float64) ** 2 / 2) // _PAIRS_PER_CALL
    limits = [0, *np.flatnonzero(np.diff(calls)) + 1, len(graph)]
    ranges = list(pairwise(limits))
    for first, last in stages.bar(ranges, len(ranges), "elimination"):
        eliminate_range(start, filled, weights, first, last)
    return weights


def _dijkstra(graph: Graph, sources: Integers, out: Floats, n_jobs: int | None, stages: Stages) -> None:
    from gramfold.graph.walk_kernels import shortest_walks

    edges = graph.lengths
    indptr, indices = edges.indptr.astype(np.int64), edges.indices.astype(np.int32)
    lengths = np.ascontiguousarray(edges.data, dtype=np.float64)

    def work(part: slice) -> None:
        shortest_walks(indptr, indices, lengths, sources[part], out[part])

    parts = blocks(len(sources), max(1, _VERTICES_PER_BLOCK // len(graph)))
    run_blocks(work, parts, n_jobs, stages=stages, what="geodesics", stop=stop_flag())


def squared_geodesics_from(nearest: Neighbors, squared: Floats) -> Floats:
    """Squared walks (m, n) of points that step to their neighbours and then walk the fitted graph.

    The rows of `squared` that are walked are rooted once each, so points should come with those near them.
    """
    used, local = np.unique(nearest.indices, return_inverse=True)
    walks = np.sqrt(squared[used].astype(np.float64, copy=False))
    return stepped(replace(nearest, indices=local, n_vertices=len(used)), walks)


def stepped(nearest: Neighbors, walks: Floats) -> Floats:
    """(min over the neighbours i of step + walks[i])², (m, n)."""
    from gramfold.graph.walk_kernels import step_then_walk

    out = np.empty((len(nearest), walks.shape[1]))
    step_then_walk(nearest.indptr, nearest.indices, nearest.distances, walks, out)
    return out

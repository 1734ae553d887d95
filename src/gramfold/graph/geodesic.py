"""Geodesics: shortest walks along the graph, by elimination or by Dijkstra, whichever is predicted to be quicker.

Elimination (`min_plus`) costs what it fills in, which is little where the graph has small separators; Dijkstra's
algorithm costs the edges, whatever their shape.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse.csgraph import shortest_path

from gramfold.direct.elimination import Elimination, eliminate
from gramfold.direct.fill_reducing import fill_reducing_order, is_small, minimum_degree
from gramfold.graph.build import subgraph
from gramfold.graph.min_plus import EliminatedGraph
from gramfold.graph.plain_paths import PlainElimination, plain_paths, plain_steps, step_then_walk
from gramfold.runtime.costs import COSTS, Costs
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, run_blocks, stop_flag, thread_count
from gramfold.types import Floats, Graph, Integers, Neighbors

_VERTICES_PER_BLOCK = 300_000  # of Dijkstra's algorithm, over all sources of a block
_ROWS_PER_COPY = 64


def arranged(graph: Graph, n_sources: int | None = None, n_jobs: int | None = None, *, costs: Costs = COSTS) -> Graph:
    """The graph with its vertices in an order that fills in little; neighbours also come to lie near each other.

    `n_sources` is how many will be walked from, None for all.
    """
    if is_small(graph.lengths, costs=costs):
        return subgraph(graph, minimum_degree(graph.lengths))
    # dissection, the first try, may fill in up to three times as much as the order that is taken in the end
    most = 3 * most_fill(graph, n_sources, costs)
    return subgraph(graph, fill_reducing_order(graph.lengths, most, n_jobs, costs=costs)[0])


def all_pairs(
    graph: Graph,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    stages: Stages = SILENT,
    out: Floats | None = None,
    *,
    costs: Costs = COSTS,
) -> Floats:
    """Lengths of the shortest walks between all vertices, (n, n), in memory or in the array `out`."""
    n = len(graph)
    out = np.empty((n, n), dtype=dtype) if out is None else out
    eliminated = _eliminated(graph, None, out.dtype, n_jobs, stages, costs)
    if eliminated:
        eliminated.all_pairs(out, n_jobs, stages)
        return out
    _dijkstra(graph, np.arange(n, dtype=np.int32), out, n_jobs, stages)
    if out.dtype == np.float32:
        # there and back are summed in different order, which a solver for symmetric matrices would feel in float32
        for part in blocks(n, _ROWS_PER_COPY):
            out[part.stop :, part] = out[part, part.stop :].T
            own = out[part, part]
            np.minimum(own, own.T.copy(), out=own)
    return out


def walks_from(
    graph: Graph,
    sources: Integers,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    stages: Stages = SILENT,
    *,
    costs: Costs = COSTS,
) -> Floats:
    """Lengths of the shortest walks from these vertices, (n, len(sources)); infinite where there is none.

    The graph's own order decides how much elimination fills in: see `arranged`.
    """
    sources = sources.astype(np.int32)
    out = np.empty((len(graph), len(sources)), dtype=dtype)
    eliminated = _eliminated(graph, len(sources), out.dtype, n_jobs, stages, costs)
    if eliminated:
        eliminated.walks_from(sources, out, n_jobs, stages)
    else:
        _dijkstra(graph, sources, out.T, n_jobs, stages)
    return out


def _eliminated(
    graph: Graph, n_sources: int | None, dtype: DTypeLike, n_jobs: int | None, stages: Stages, costs: Costs
) -> EliminatedGraph | PlainElimination | None:
    """The eliminated graph; None where Dijkstra's algorithm is predicted to be quicker."""
    most = most_fill(graph, n_sources, costs)
    plain = None
    if plain_paths(len(graph), n_sources or len(graph)):
        plain = PlainElimination.of(graph.lengths, dtype, most)
        symbolic = plain and plain.symbolic
    else:
        symbolic = eliminate(graph.lengths, most)
    if not symbolic or not elimination_is_quicker(graph, symbolic, n_sources, thread_count(n_jobs), costs):
        return None
    return plain or EliminatedGraph.of(graph, symbolic, dtype, stages)


def most_fill(graph: Graph, n_sources: int | None, costs: Costs) -> float:
    """Fill beyond which elimination is of no use: a sweep costs as much as Dijkstra's algorithm, from any source."""
    if n_sources is None:
        return costs.geodesics.most_fill_share * float(len(graph)) ** 2
    return _walk_seconds(graph, costs) / costs.geodesics.filled_entry


def _walk_seconds(graph: Graph, costs: Costs) -> float:
    """Of Dijkstra's algorithm from one source in one thread."""
    missed = min(1.0, len(graph) / costs.geodesics.cached_vertices)
    return float(graph.lengths.nnz * costs.geodesics.walked_edge * (1 + missed))


def elimination_is_quicker(
    graph: Graph, elimination: Elimination, n_sources: int | None, threads: int, costs: Costs
) -> bool:
    """Whether walks from so many vertices, None for all, are found sooner than by Dijkstra's algorithm."""
    n, known = len(graph), costs.geodesics
    if n_sources is None:
        n_sources, sweeps = n, float(elimination.counts @ np.arange(n, 0, -1)) * known.settled_entry
    else:
        sweeps = n_sources * elimination.fill * known.filled_entry
    walks = n_sources * _walk_seconds(graph, costs)
    return bool(elimination.operations * known.eliminated_pair + sweeps / threads < walks / threads)


def _dijkstra(graph: Graph, sources: Integers, out: Floats, n_jobs: int | None, stages: Stages) -> None:
    if plain_paths(len(graph), len(sources)):
        out[:] = shortest_path(graph.lengths, method="D", indices=sources)
        return
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
    out = np.empty((len(nearest), walks.shape[1]))
    lists = nearest.indptr, nearest.indices, nearest.distances
    if plain_steps(float(len(nearest.indices)) * walks.shape[1]):
        step_then_walk(*lists, walks, out)
    else:
        from gramfold.graph import walk_kernels

        walk_kernels.step_then_walk(*lists, walks, out)
    return out

"""A graph of rows as a problem for functions of them: what its edges weigh, and who solves it in how many threads."""

from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.graph.affinity import affinity, default_width, inverse_lengths
from gramfold.graph.laplacian import degrees
from gramfold.kernels.transformational import Problem, Vertices
from gramfold.runtime.threads import blas_threads, one_blas_thread, thread_count
from gramfold.types import Floats, Graph, Integers

_SMALL = 1_000  # functions up to which one thread solves as fast as several, and the same whatever their number


def edge_problem(
    graph: Graph, points: Floats, order: Integers, weights: Any, rule: str, equal_degrees: bool
) -> Problem:
    """Of a graph of some of the points. Its edges have these weights; None: what the rule makes of their lengths.

    With equal degrees each vertex has weight on itself until all have the largest.
    """
    if weights is None:
        width = default_width(graph) if rule == "gaussian" else None
        weights = inverse_lengths(graph) if rule == "inverse-distance" else affinity(graph, width)
    own = degrees(weights) if isinstance(weights, csr_array) else weights.degrees
    return Problem(Vertices(points, graph.rows, order), weights, np.full_like(own, own.max()) if equal_degrees else own)


def solving_threads(size: int, n_jobs: int | None) -> Any:
    """Within it, linear algebra has the threads that a problem of this size is solved with soonest."""
    if size <= _SMALL:
        return one_blas_thread()
    return nullcontext() if n_jobs is None else blas_threads(thread_count(n_jobs))

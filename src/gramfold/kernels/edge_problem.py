"""A graph of rows as an eigenproblem for functions of them: the weights of its edges, and the threads that solve it."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.graph.affinity import affinity, default_width, inverse_lengths
from gramfold.graph.laplacian import degrees
from gramfold.kernels.transformational import Problem, Vertices
from gramfold.runtime.threads import blas_threads, thread_count
from gramfold.types import Floats, Graph, Integers

_SMALL = 1_000  # functions up to which one thread is as fast as several, and gives the same whatever their number


def edge_problem(
    graph: Graph, points: Floats, order: Integers, weights: Any, rule: str, equal_degrees: bool
) -> Problem:
    """The problem of a graph of some of the points; `weights` None: what the rule makes of the lengths of its edges.

    Weights on the diagonal count in W and in D. With equal degrees more is added there until all have the largest.
    """
    if weights is None:
        width = default_width(graph) if rule == "gaussian" else None
        weights = inverse_lengths(graph) if rule == "inverse-distance" else affinity(graph, width)
        each: Floats = np.ones(len(graph))
    else:
        each = graph.multiplicity  # vertices are data rows, of this mass: a degree is equal for each row of a vertex
    own = degrees(weights) if isinstance(weights, csr_array) else weights.degrees
    return Problem(Vertices(points, graph.rows, order), weights, each * (own / each).max() if equal_degrees else own)


def solving_threads(size: int, n_jobs: int | None) -> Any:
    """Within it, linear algebra has the number of threads that is fastest for a problem of this size."""
    return blas_threads(1 if size <= _SMALL else thread_count(n_jobs))

"""An order of elimination that fills in little, and what it fills in.

Nested dissection finds it where the graph is a sheet or a thread, in a moment. Where separators are wider METIS does
better, if it is installed (the `metis` extra); minimum degree (SuperLU's) does on small graphs.
"""

from importlib.util import find_spec

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array

from gramfold.ordering.contraction import Contraction
from gramfold.ordering.dissection import Dissection
from gramfold.ordering.elimination import Elimination, eliminate
from gramfold.ordering.permutation import renumbered
from gramfold.types import Integers

# A separator of n points of a sheet takes about √n of them (0.3 to 1.2 on rolls and spheres; 4 to 6 in a cube).
_SHEET = 2.0
# Operations for each n^1.5: 3 to 8 on sheets, 100 and more in cubes.
_SHEET_OPERATIONS = 30.0
# Beyond this METIS is given pairs of vertices: a third of the time, for a third more fill.
_PAIRED_ROWS = 200_000
# Minimum degree saves a tenth of the fill of a sheet, which it is worth where it is quick. It orders by factoring:
# beyond the other sizes that would cost more than a better order saves.
_QUICK_ROWS = 20_000
_MINIMUM_DEGREE_ROWS = 200_000
_MINIMUM_DEGREE_OPERATIONS = 2e10


def fill_reducing_order(
    graph: csr_array, most: float = np.inf, n_jobs: int | None = None
) -> tuple[Integers, Elimination | None]:
    """The best order tried and its elimination; None for that where it fills in more than `most`."""
    n = graph.shape[0]
    dissection = Dissection(graph)
    if dissection.separator**2 / 2 > most:
        return np.arange(n), None
    with_metis = find_spec("pymetis") is not None
    order = dissection.finish(n_jobs, _SHEET if with_metis else np.inf)
    if order is None:
        if n > _PAIRED_ROWS:
            pairs = Contraction.of(graph, dissection.order)
            order = pairs.expand(metis(pairs.indptr, pairs.indices))
        else:
            order = metis(graph.indptr, graph.indices)
        return order, eliminate(renumbered(graph, order), most)
    found = eliminate(renumbered(graph, order), most)
    if found is None or not _try_minimum_degree(n, found.operations):
        return order, found
    other = minimum_degree(graph)
    candidate = eliminate(renumbered(graph, other), found.fill)
    return (order, found) if candidate is None else (other, candidate)


def _try_minimum_degree(n: int, operations: float) -> bool:
    if operations > _SHEET_OPERATIONS * n**1.5:
        return n <= _MINIMUM_DEGREE_ROWS and operations <= _MINIMUM_DEGREE_OPERATIONS
    return n <= _QUICK_ROWS


def metis(indptr: Integers, indices: Integers) -> Integers:
    """Multilevel nested dissection (Karypis, Kumar 1998) of a graph, which must not hold a diagonal."""
    import pymetis

    adjacency = pymetis.CSRAdjacency(indptr, indices)
    order, _ = pymetis.nested_dissection(adjacency, options=pymetis.Options(seed=0))
    return np.asarray(order, dtype=np.intp)


def minimum_degree(graph: csr_array) -> Integers:
    """Multiple minimum degree, as SuperLU orders a symmetric matrix before it factors it."""
    from scipy.sparse.linalg import splu

    n = graph.shape[0]
    pattern = csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    dominant = csc_array(pattern + eye_array(n) * (2.0 * np.diff(graph.indptr).max() + 1.0))
    factor = splu(dominant, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(factor.perm_c)

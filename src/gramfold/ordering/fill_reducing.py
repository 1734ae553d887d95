"""An order of elimination that fills in little, and what it fills in.

Nested dissection finds it where the graph is a sheet or a thread, in a moment. Where separators are wider METIS does
better, if it is installed (the `metis` extra); minimum degree (SuperLU's) does on small graphs, and needs no compiling.
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
_PAIRED_ROWS = 50_000
# Minimum degree orders by factoring. Up to so many rows and edges of each that is a moment, and all that is needed.
_FEW_ROWS = 3_000
_FEW_EDGES = 40
# It saves a tenth of the fill of a sheet, worth it where it is quick. Beyond the other sizes it would cost more
# than a better order saves.
_QUICK_ROWS = 20_000
_MINIMUM_DEGREE_ROWS = 200_000
_MINIMUM_DEGREE_OPERATIONS = 2e10


def fill_reducing_order(
    graph: csr_array, most: float = np.inf, n_jobs: int | None = None
) -> tuple[Integers, Elimination | None]:
    """The best order tried and its elimination; None for that where it fills in more than `most`."""
    n, with_metis = graph.shape[0], find_spec("pymetis") is not None
    if n <= _FEW_ROWS and graph.nnz <= _FEW_EDGES * n:
        order = minimum_degree(graph)
        found = eliminate(renumbered(graph, order), most)
        if with_metis and (found is None or _is_dense(n, found)):
            return _better(graph, (order, found), metis(graph.indptr, graph.indices), most)
        return order, found
    dissection = Dissection(graph)
    if dissection.separator**2 / 2 > most:
        return np.arange(n), None
    dissected = dissection.finish(n_jobs, _SHEET if with_metis else np.inf)
    if dissected is None:
        order = _multilevel(graph, dissection.order)
        return order, eliminate(renumbered(graph, order), most)
    found = eliminate(renumbered(graph, dissected), most)
    if found is None or not _try_minimum_degree(n, found):
        return dissected, found
    return _better(graph, (dissected, found), minimum_degree(graph), most)


def _better(
    graph: csr_array, known: tuple[Integers, Elimination | None], other: Integers, most: float
) -> tuple[Integers, Elimination | None]:
    candidate = eliminate(renumbered(graph, other), known[1].fill if known[1] else most)
    return (other, candidate) if candidate else known


def _is_dense(n: int, found: Elimination) -> bool:
    return bool(found.operations > _SHEET_OPERATIONS * n**1.5)


def _try_minimum_degree(n: int, found: Elimination) -> bool:
    if _is_dense(n, found):
        return n <= _MINIMUM_DEGREE_ROWS and found.operations <= _MINIMUM_DEGREE_OPERATIONS
    return n <= _QUICK_ROWS


def _multilevel(graph: csr_array, visit: Integers) -> Integers:
    if graph.shape[0] <= _PAIRED_ROWS:
        return metis(graph.indptr, graph.indices)
    pairs = Contraction.of(graph, visit)
    return pairs.expand(metis(pairs.indptr, pairs.indices))


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

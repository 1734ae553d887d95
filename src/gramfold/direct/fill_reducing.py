"""Fill-reducing order of elimination.

Nested dissection finds it quickly for graphs of intrinsic dimension one or two. Where separators are larger METIS does
better, if it is installed (the `metis` extra); on small graphs SuperLU's minimum degree does, and needs no compilation.
"""

from importlib.util import find_spec

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array

from gramfold.direct.dissection import Dissection
from gramfold.direct.elimination import Elimination, eliminate
from gramfold.direct.permutation import renumbered
from gramfold.runtime.costs import COSTS, Costs
from gramfold.types import Integers


def fill_reducing_order(
    graph: csr_array, most: float = np.inf, n_jobs: int | None = None, *, costs: Costs = COSTS
) -> tuple[Integers, Elimination | None]:
    """The best order tried and its elimination, or None instead of it if its fill-in is larger than `most`."""
    n, with_metis, known = graph.shape[0], find_spec("pymetis") is not None, costs.direct
    if is_small(graph, costs=costs):
        order = minimum_degree(graph)
        found = eliminate(renumbered(graph, order), most)
        if with_metis and (found is None or _is_dense(n, found, costs)):
            return _better(graph, (order, found), metis(graph.indptr, graph.indices), most)
        return order, found
    dissection = Dissection(graph)
    if dissection.separator**2 / 2 > most:
        return np.arange(n), None
    dissected = dissection.finish(n_jobs, known.sheet if with_metis else np.inf)
    if dissected is None:
        order = metis(graph.indptr, graph.indices)
        return order, eliminate(renumbered(graph, order), most)
    found = eliminate(renumbered(graph, dissected), most)
    if found is None or not _try_minimum_degree(n, found, costs):
        return dissected, found
    return _better(graph, (dissected, found), minimum_degree(graph), most)


def is_small(graph: csr_array, *, costs: Costs = COSTS) -> bool:
    """Whether minimum degree orders the graph in a moment."""
    n = graph.shape[0]
    return bool(n <= costs.direct.few_rows and graph.nnz <= costs.direct.few_edges * n)


def _better(
    graph: csr_array, known: tuple[Integers, Elimination | None], other: Integers, most: float
) -> tuple[Integers, Elimination | None]:
    candidate = eliminate(renumbered(graph, other), known[1].fill if known[1] else most)
    return (other, candidate) if candidate else known


def _is_dense(n: int, found: Elimination, costs: Costs) -> bool:
    return bool(found.operations > costs.direct.sheet_operations * n**1.5)


def _try_minimum_degree(n: int, found: Elimination, costs: Costs) -> bool:
    known = costs.direct
    if _is_dense(n, found, costs):
        return n <= known.minimum_degree_rows and found.operations <= known.minimum_degree_operations
    return n <= known.quick_rows


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

"""An order of elimination that fills in little, and what it fills in.

Dissection by levels takes a moment and tells whether any order can keep the graph sparse; minimum degree (SuperLU's)
takes longer and fills in about half as much. Beyond the sizes where that is quick, METIS does nearly as well, where it
is installed (the `metis` extra).
"""

from importlib.util import find_spec

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array

from gramfold.ordering.contraction import Contraction
from gramfold.ordering.dissection import first_cut, nested_dissection
from gramfold.ordering.elimination import Elimination, eliminate
from gramfold.ordering.permutation import renumbered
from gramfold.types import Integers

# Beyond these METIS is quicker and better, where it is installed.
_METIS_ROWS = 20_000
_METIS_OPERATIONS = 1e9
# SuperLU orders by factoring. Beyond these sizes that would cost more than a better order saves.
_MINIMUM_DEGREE_ROWS = 200_000
_MINIMUM_DEGREE_OPERATIONS = 2e10


def fill_reducing_order(
    graph: csr_array, most: float = np.inf, n_jobs: int | None = None
) -> tuple[Integers, Elimination | None]:
    """The best order tried and its elimination; None for that where it fills in more than `most`."""
    n = graph.shape[0]
    with_metis = find_spec("pymetis") is not None
    if n > _METIS_ROWS and with_metis:
        cut = first_cut(graph)
        if cut.separator**2 / 2 > most:
            return np.arange(n), None
        pairs = Contraction.of(graph, cut.order)  # a third of the time, for a third more fill
        order = pairs.expand(metis(pairs.indptr, pairs.indices))
        return order, eliminate(renumbered(graph, order), most)
    order = nested_dissection(graph, n_jobs)
    found = eliminate(renumbered(graph, order), most)
    if found is None:
        return order, None
    most_operations = _METIS_OPERATIONS if with_metis else _MINIMUM_DEGREE_OPERATIONS
    if n <= _MINIMUM_DEGREE_ROWS and found.operations <= most_operations:
        other = minimum_degree(graph)
    elif with_metis:
        other = metis(graph.indptr, graph.indices)
    else:
        return order, found
    candidate = eliminate(renumbered(graph, other), found.fill)
    return (order, found) if candidate is None else (other, candidate)


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

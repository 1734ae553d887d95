"""A graph of half the size that an order of elimination can be read from: each vertex joined with one neighbour.

Separators of the small graph are separators of the large one, a little wider than they need be.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from gramfold.types import Integers


@dataclass(frozen=True)
class Contraction:
    """The small graph, without a diagonal, and the vertex of it that each vertex has become part of."""

    indptr: Integers
    indices: Integers
    group: Integers  # (n,)

    @classmethod
    def of(cls, graph: csr_array, visit: Integers) -> Self:
        """Each vertex and the free neighbour most like it become one; `graph` has no diagonal.

        Where `visit` (n,) goes from neighbours to neighbours, all of them are in the cache, and near ones have near
        numbers in the small graph, which makes that quick to work on.
        """
        from gramfold.ordering.contraction_kernels import contract, match

        n = graph.shape[0]
        indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
        group, members = np.full(n, -1, dtype=np.int32), np.full((n, 2), -1, dtype=np.int32)
        match(indptr, indices, visit.astype(np.int32), group, members)
        count = int(group.max(initial=-1)) + 1
        small_indptr, small_indices = np.zeros(count + 1, dtype=np.int32), np.empty(len(indices), dtype=np.int32)
        contract(indptr, indices, group, members[:count], small_indptr, small_indices)
        return cls(small_indptr, small_indices[: small_indptr[-1]].copy(), group)

    def expand(self, order: Integers) -> Integers:
        """The order of all vertices from that of the small graph's."""
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        return np.argsort(place[self.group], kind="stable")

"""Symbolic elimination of a graph: elimination tree and fill-in."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramfold.direct.plain_elimination import eliminated, plain_elimination
from gramfold.types import Integers


@dataclass(frozen=True)
class Elimination:
    """Elimination tree, and the number of later vertices that each vertex touches when it is eliminated."""

    indptr: Integers  # of the graph
    indices: Integers
    parent: Integers  # (n,) -1 at a root
    counts: Integers  # (n,)

    @property
    def fill(self) -> int:
        """Entries of the filled structure."""
        return int(self.counts.sum())

    @property
    def operations(self) -> float:
        """Number of pairs of later neighbours in the elimination."""
        return float((self.counts.astype(np.float64) ** 2).sum() / 2)

    def supernodes(self) -> Integers:
        """First vertices of the supernodes (runs of vertices with the same tail), and n."""
        n = len(self.parent)
        goes_on = (self.parent[:-1] == np.arange(1, n)) & (self.counts[:-1] == self.counts[1:] + 1)
        return np.concatenate(([0], np.flatnonzero(~goes_on) + 1, [n]))

    def structure(self, of: Integers | None = None) -> tuple[Integers, Integers]:
        """Start (p + 1,) and later neighbours, ascending, of these vertices or of all."""
        n = len(self.parent)
        of = np.arange(n) if of is None else of
        start = np.concatenate(([0], np.cumsum(self.counts[of])))
        if plain_elimination(n):
            tails = eliminated(self.indptr, self.indices, np.inf)
            assert tails is not None
            return start, np.concatenate([np.empty(0, dtype=np.int32), *(tails[v] for v in of)])
        from gramfold.direct.elimination_kernels import fill_structure

        place = np.full(n, -1, dtype=np.int64)
        place[of] = start[:-1]
        filled = np.empty(start[-1], dtype=np.int32)
        fill_structure(self.indptr, self.indices, self.parent, np.full(n, -1, np.int32), place, filled)
        return start, filled


def eliminate(graph: csr_array, most: float = np.inf) -> Elimination | None:
    """The symbolic elimination of a symmetric graph in the order of its vertices; None above `most` filled entries.

    A poor order fills in nearly n²/2 entries, which would take very long to count.
    """
    n = graph.shape[0]
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    if plain_elimination(n):
        tails = eliminated(indptr, indices, most)
        if tails is None:
            return None
        parents = np.array([tail[0] if len(tail) else -1 for tail in tails], dtype=np.int32)
        return Elimination(indptr, indices, parents, np.array([len(tail) for tail in tails], dtype=np.int64))
    from gramfold.direct.elimination_kernels import tree_and_counts

    parent, ancestor, mark = (np.full(n, -1, dtype=np.int32) for _ in range(3))
    counts = np.zeros(n, dtype=np.int64)
    limit = np.array([min(most, np.iinfo(np.int64).max // 2)], dtype=np.int64)
    tree_and_counts(indptr, indices, parent, ancestor, mark, counts, limit)
    if limit[0] < 0:
        return None
    return Elimination(indptr, indices, parent, counts)

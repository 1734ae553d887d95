"""The Newton matrix of a low-rank factor Y, assembled and factored.

    (L(w) + diag) ⊗ I_r + Σ_e c_e (b_e ⊗ D_e)(b_e ⊗ D_e)ᵀ,    b_e = e_i − e_j,   D_e = y_i − y_j

Its blocks are written where the factor expects them: a sparse matrix in between would take longer than the factor.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.direct.factor import Factor, Symbolic
from gramfold.direct.selected_inverse import SelectedInverse
from gramfold.sdp.assembly import Assembly
from gramfold.types import Floats, Integers


@dataclass(frozen=True)
class NewtonMatrix:
    """Where the blocks of a graph stand in a factor; vertices are in the order of elimination."""

    graph: Assembly
    symbolic: Symbolic  # of blocks
    begin: Integers  # (n + m,) of each vertex, then of each pair
    width: Integers  # (n + m,) of the rows they stand in

    @classmethod
    def of(cls, graph: Assembly, symbolic: Symbolic, rank: int) -> Self:
        """The positions of r × r blocks, by those of the entries of L(w)."""
        vertices = np.arange(graph.n)
        rows = np.concatenate([vertices, np.minimum(graph.first, graph.second)])
        columns = np.concatenate([vertices, np.maximum(graph.first, graph.second)])
        at = SelectedInverse.of(symbolic, rows, columns).at
        supernode = symbolic.owner[rows]
        own = np.diff(symbolic.heads)[supernode]
        at = at - symbolic.place[supernode]
        beyond = at >= own**2
        width = np.where(beyond, np.diff(symbolic.tail_start)[supernode], own)
        row, column = np.divmod(np.where(beyond, at - own**2, at), width)
        begin = (symbolic.place[supernode] + beyond * own**2) * rank**2
        begin += row * rank * width * rank + column * rank
        return cls(graph, symbolic.blocks(rank), begin, width * rank)

    def factored(self, weights: Floats, stiff: Floats, differences: Floats, diagonal: Floats) -> Factor:
        """The factor, for w (m,), c (m,), D (m, r) and the diagonal (n,)."""
        from gramfold.sdp.newton_kernels import add_blocks

        graph, n = self.graph, self.graph.n
        entries = np.zeros(self.symbolic.entries)
        vectors = (weights, stiff, np.ascontiguousarray(differences), diagonal)
        places = (self.begin[n:], self.width[n:], self.begin[:n], self.width[:n])
        add_blocks(graph.first, graph.second, *vectors, *places, entries)
        return Factor.of_entries(entries, self.symbolic)

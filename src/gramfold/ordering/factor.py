"""A = L D Lᵀ for a sparse symmetric matrix, in a fill-reducing order and by supernodes.

Without pivoting: for positive definite matrices, and for those shifted away from every eigenvalue, whose number of
negative pivots is then the number of eigenvalues below the shift (Sylvester's law of inertia).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from gramfold.errors import SingularFactorError
from gramfold.ordering.elimination import Elimination, eliminate
from gramfold.ordering.fill_reducing import fill_reducing_order
from gramfold.ordering.permutation import renumbered
from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import Floats, Integers

_PAIRS_PER_CALL = 1e9  # of the factorisation: some tenths of a second
_SUPERNODES_PER_CALL = 50_000  # that get their entries


@dataclass(frozen=True)
class Symbolic:
    """Where a factor has entries: known from the pattern, and shared by all matrices that have it."""

    order: Integers  # (n,) the vertices as they are eliminated
    heads: Integers  # (s + 1,) first vertices of the supernodes, and n
    owner: Integers  # (n,) the supernode of each vertex
    tail_start: Integers  # (s + 1,)
    tails: Integers  # later vertices that each supernode touches
    place: Integers  # (s + 1,) where the entries of each supernode begin
    operations: Floats  # (s,) multiplications that each supernode takes

    @classmethod
    def of(cls, pattern: csr_array, n_jobs: int | None = None) -> Self:
        """Order the graph of this symmetric matrix and find what fills in."""
        graph = without_diagonal(pattern)
        order, elimination = fill_reducing_order(graph, n_jobs=n_jobs)
        if elimination is None:
            elimination = eliminate(renumbered(graph, order))
        assert elimination is not None
        return cls.in_order(order, elimination)

    @classmethod
    def in_order(cls, order: Integers, elimination: Elimination) -> Self:
        """From an order and its elimination."""
        heads = elimination.supernodes()
        sizes = np.diff(heads)
        lengths = elimination.counts[heads[1:] - 1]  # of the tails
        start, filled = elimination.structure()
        tail_start = np.concatenate(([0], np.cumsum(lengths)))
        # the tail of a supernode is the row of its last vertex
        rows = np.repeat(start[heads[1:] - 1] - tail_start[:-1], lengths) + np.arange(tail_start[-1])
        pairs = np.concatenate(([0], np.cumsum(elimination.counts.astype(np.float64) ** 2 / 2)))
        return cls(
            order=order,
            heads=heads,
            owner=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            tail_start=tail_start,
            tails=filled[rows],
            place=np.concatenate(([0], np.cumsum(sizes * (sizes + lengths)))),
            operations=np.diff(pairs[heads]),
        )

    @property
    def entries(self) -> int:
        """Numbers that a factor holds."""
        return int(self.place[-1])

    @cached_property
    def natural(self) -> bool:
        """Whether the vertices are eliminated as they are numbered."""
        return bool((self.order == np.arange(len(self.order))).all())

    def renumbered(self) -> Self:
        """For matrices whose rows are in the order of elimination already."""
        return replace(self, order=np.arange(len(self.order)))

    def blocks(self, size: int) -> Self:
        """For matrices with a dense block of this size in place of each entry, rows vertex by vertex."""
        within = np.arange(size)
        return replace(
            self,
            order=(self.order[:, None] * size + within).ravel(),
            heads=self.heads * size,
            owner=np.repeat(self.owner, size),
            tail_start=self.tail_start * size,
            tails=(self.tails[:, None] * size + within).astype(self.tails.dtype).ravel(),
            place=self.place * size**2,
            operations=self.operations * size**3,
        )


@dataclass(frozen=True)
class Factor:
    """L and D."""

    symbolic: Symbolic
    values: Floats
    pivots: Floats  # (n,) D in the order of elimination

    @classmethod
    def of(cls, matrix: csr_array, symbolic: Symbolic | None = None) -> Self:
        """Factor this symmetric matrix; every diagonal entry must be stored."""
        from gramfold.ordering.factor_kernels import factor_supernodes, place_entries

        symbolic = symbolic or Symbolic.of(matrix)
        moved = matrix if symbolic.natural else renumbered(matrix, symbolic.order)
        values, pivots = np.empty(symbolic.entries), np.empty(matrix.shape[0])
        shape = (symbolic.heads, symbolic.owner, symbolic.tail_start, symbolic.tails, symbolic.place)
        run_blocks(
            lambda part: place_entries(
                *(moved.indptr, moved.indices, moved.data),
                *(symbolic.heads, symbolic.tail_start, symbolic.tails, symbolic.place),
                *(values, part.start, part.stop),
            ),
            blocks(len(symbolic.heads) - 1, _SUPERNODES_PER_CALL),
        )
        stop = np.zeros(2, dtype=np.uint8)
        calls = np.cumsum(symbolic.operations) // _PAIRS_PER_CALL
        limits = [0, *(np.flatnonzero(np.diff(calls)) + 1).tolist(), len(symbolic.heads) - 1]

        def work(part: slice) -> None:
            if not stop[1]:
                factor_supernodes(*shape, values, pivots, part.start, part.stop, stop)

        # each call needs the ones before it, so they go one by one, but in a thread that an interrupt can stop
        with one_blas_thread():  # blocks are too small for more, which only wait for each other
            run_blocks(work, [slice(*ends) for ends in pairwise(limits)], n_jobs=1, stop=stop)
        if stop[1]:
            raise SingularFactorError(f"the {len(pivots)} x {len(pivots)} matrix is singular: a pivot is 0")
        return cls(symbolic, values, pivots)

    @property
    def negative(self) -> int:
        """How many pivots are negative: how many eigenvalues are."""
        return int((self.pivots < 0).sum())

    def solve(self, vectors: Floats, n_jobs: int | None = None) -> Floats:
        """A⁻¹ V for V (n, p)."""
        from gramfold.ordering.factor_kernels import COLUMNS, solve_supernodes

        known, stop = self.symbolic, np.zeros(1, dtype=np.uint8)
        out = np.empty_like(vectors, dtype=np.float64)

        def work(part: slice) -> None:
            x = np.zeros((len(out), COLUMNS))
            x[:, : part.stop - part.start] = vectors[known.order, part]
            solve_supernodes(known.heads, known.tail_start, known.tails, known.place, self.values, self.pivots, stop, x)
            out[known.order, part] = x[:, : part.stop - part.start]

        run_blocks(work, blocks(vectors.shape[1], COLUMNS), n_jobs, stop=stop)
        return out


def without_diagonal(matrix: csr_array) -> csr_array:
    """The graph of a symmetric matrix."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    off = matrix.indices != rows
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows[off], minlength=matrix.shape[0])))).astype(np.int32)
    return csr_array((matrix.data[off], matrix.indices[off], indptr), shape=matrix.shape)

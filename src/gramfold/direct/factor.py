"""A = L D Lᵀ for a sparse symmetric matrix, in a fill-reducing order and by supernodes.

Without pivoting: for positive definite matrices, and for those shifted away from every eigenvalue, whose number of
negative pivots is then the number of eigenvalues below the shift (Sylvester's law of inertia).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from gramfold.direct.elimination import Elimination, eliminate
from gramfold.direct.fill_reducing import fill_reducing_order
from gramfold.direct.permutation import renumbered
from gramfold.direct.subtrees import Subtrees, subtrees
from gramfold.direct.superlu import SymmetricLU
from gramfold.errors import SingularFactorError
from gramfold.runtime.costs import COSTS, Costs
from gramfold.runtime.plain import prefer_plain
from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks, stop_flag
from gramfold.types import Floats, Integers

COLUMNS = 4  # right-hand sides solved at a time; the kernels are unrolled for them
_SUPERNODES_PER_CALL = 50_000  # in `place_entries`
_COMPILING = 12.0  # seconds, of the kernels
_SUPERLU_ROW, _SUPERLU_OPERATION = 4e-6, 1.5e-9  # seconds of SuperLU, for a factor and a few solves


@dataclass(frozen=True)
class Symbolic:
    """Structure of a factor, shared by all matrices with the same pattern."""

    order: Integers  # (n,) the vertices in the order of elimination
    heads: Integers  # (s + 1,) first vertices of the supernodes, and n
    owner: Integers  # (n,) the supernode of each vertex
    tail_start: Integers  # (s + 1,)
    tails: Integers  # later vertices that each supernode touches
    place: Integers  # (s + 1,) start of the entries of each supernode
    operations: Floats  # (s,) multiplications of each supernode
    costs: Costs = COSTS

    @classmethod
    def of(cls, pattern: csr_array, n_jobs: int | None = None, *, costs: Costs = COSTS) -> Self:
        """Order the graph of this symmetric matrix and find its fill-in."""
        graph = without_diagonal(pattern)
        order, elimination = fill_reducing_order(graph, n_jobs=n_jobs, costs=costs)
        if elimination is None:
            elimination = eliminate(renumbered(graph, order))
        assert elimination is not None
        return cls.in_order(order, elimination, costs=costs)

    @classmethod
    def in_order(cls, order: Integers, elimination: Elimination, *, costs: Costs = COSTS) -> Self:
        """From an order and its elimination."""
        heads = elimination.supernodes()
        sizes = np.diff(heads)
        tail_start, tails = elimination.structure(heads[1:] - 1)  # the row of a supernode's last vertex is its tail
        pairs = np.concatenate(([0], np.cumsum(elimination.counts.astype(np.float64) ** 2 / 2)))
        return cls(
            order=order,
            heads=heads,
            owner=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            tail_start=tail_start,
            tails=tails,
            place=np.concatenate(([0], np.cumsum(sizes * (sizes + np.diff(tail_start))))),
            operations=np.diff(pairs[heads]),
            costs=costs,
        )

    @property
    def entries(self) -> int:
        """Number of entries of a factor."""
        return int(self.place[-1])

    @cached_property
    def subtrees(self) -> Subtrees:
        """Parts that can be eliminated at the same time."""
        borders = np.diff(self.tail_start)
        parent = np.full(len(borders), -1, dtype=np.int64)
        inner = borders > 0
        parent[inner] = self.owner[self.tails[self.tail_start[:-1][inner]]]
        return subtrees(parent, self.operations, np.diff(self.place), borders, costs=self.costs)

    def border(self, members: Integers) -> Integers:
        """Vertices above a part of the tree that it touches: all of them are in the tail of its root."""
        root = members[-1]
        return self.tails[self.tail_start[root] : self.tail_start[root + 1]]

    @cached_property
    def natural(self) -> bool:
        """Whether the vertices are eliminated in the order of their numbers."""
        return bool((self.order == np.arange(len(self.order))).all())

    @cached_property
    def number(self) -> Integers:
        """Position of each vertex in the order of elimination."""
        number = np.empty_like(self.order)
        number[self.order] = np.arange(len(self.order))
        return number

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
    """Numeric factor: L and D."""

    symbolic: Symbolic
    values: Floats
    pivots: Floats  # (n,) D in the order of elimination

    @classmethod
    def of(cls, matrix: csr_array, symbolic: Symbolic | None = None, n_jobs: int | None = None) -> Self:
        """Factor this symmetric matrix; every diagonal entry must be stored."""
        from gramfold.direct.factor_kernels import place_entries

        symbolic = symbolic or Symbolic.of(matrix)
        values = np.empty(symbolic.entries)
        run_blocks(
            lambda part: place_entries(
                *(matrix.indptr, matrix.indices, matrix.data, symbolic.order, symbolic.number),
                *(symbolic.heads, symbolic.tail_start, symbolic.tails, symbolic.place),
                *(values, part.start, part.stop),
            ),
            blocks(len(symbolic.heads) - 1, _SUPERNODES_PER_CALL),
            n_jobs,
        )
        return cls.of_entries(values, symbolic, n_jobs)

    @classmethod
    def of_entries(cls, values: Floats, symbolic: Symbolic, n_jobs: int | None = None) -> Self:
        """Factor the matrix whose upper triangle stands in `values` where its factor will, and replaces it."""
        from gramfold.direct.factor_kernels import factor_supernodes, take_border

        pivots = np.empty(len(symbolic.order))
        shape = (symbolic.heads, symbolic.owner, symbolic.tail_start, symbolic.tails, symbolic.place)
        stop = np.zeros(2, dtype=np.uint8)
        parts, top = symbolic.subtrees.parts, symbolic.subtrees.top

        def work(members: Integers) -> Floats:
            border = symbolic.border(members)
            beside = np.zeros((len(border), len(border)))
            if not stop[1]:
                factor_supernodes(*shape, values, pivots, members, beside, stop)
            return beside

        with one_blas_thread():  # blocks are too small for more
            for members, beside in zip(parts, run_blocks(work, parts, n_jobs, stop=stop), strict=True):
                take_border(*shape, values, members, beside)
            run_blocks(work, [top], stop=stop)
        if stop[1]:
            raise SingularFactorError(f"the {len(pivots)} x {len(pivots)} matrix is singular: a pivot is 0")
        return cls(symbolic, values, pivots)

    @property
    def negative(self) -> int:
        """Number of negative pivots, which is the number of negative eigenvalues."""
        return int((self.pivots < 0).sum())

    @property
    def order(self) -> Integers:
        """The vertices in the order of elimination."""
        return self.symbolic.order

    def in_order(self) -> Self:
        """The same for vectors whose rows are in the order of elimination already."""
        return replace(self, symbolic=self.symbolic.renumbered())

    def solve(self, vectors: Floats, n_jobs: int | None = None) -> Floats:
        """A⁻¹ V for V (n, p)."""
        from gramfold.direct.factor_kernels import backward, forward

        known, (n, p), stop = self.symbolic, vectors.shape, stop_flag()
        shape = (known.heads, known.tail_start, known.tails, known.place, self.values, self.pivots)
        wide = np.pad(vectors if known.natural else np.take(vectors, known.order, axis=0), ((0, 0), (0, -p % COLUMNS)))
        x = np.ascontiguousarray(
            wide.reshape(n, -1, COLUMNS).transpose(1, 0, 2), dtype=np.float64
        )  # by groups of columns

        def down(members: Integers) -> Floats:
            beside = np.zeros((len(x), len(known.border(members)), COLUMNS))
            forward(*shape, members, stop, x, beside)
            return beside

        def up(members: Integers) -> None:
            backward(*shape, members, stop, x)

        def through(top: Integers) -> None:
            down(top)
            up(top)

        parts, top = known.subtrees.parts, known.subtrees.top
        for members, beside in zip(parts, run_blocks(down, parts, n_jobs, stop=stop), strict=True):
            x[:, known.border(members)] += beside
        run_blocks(through, [top], stop=stop)
        run_blocks(up, parts, n_jobs, stop=stop)
        wide = x.transpose(1, 0, 2).reshape(n, -1)[:, :p]
        return wide if known.natural else np.take(wide, known.number, axis=0)


def symmetric_factor(matrix: csr_array, symbolic: Symbolic, times: int) -> Factor | SymmetricLU:
    """A factor of this symmetric matrix, one of about so many: by SuperLU where compiling our own would take longer.

    The two round differently.
    """
    seconds = _SUPERLU_ROW * matrix.shape[0] + _SUPERLU_OPERATION * float(symbolic.operations.sum())
    if prefer_plain("gramfold.direct.factor_kernels", seconds, _COMPILING, times):
        return SymmetricLU(matrix, symbolic.order)
    return Factor.of(matrix, symbolic)


def without_diagonal(matrix: csr_array) -> csr_array:
    """Graph of a symmetric matrix: its entries off the diagonal."""
    lengths = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(len(lengths), dtype=matrix.indices.dtype), lengths)
    off = matrix.indices != rows
    lengths = lengths - np.bincount(rows[~off], minlength=len(lengths))
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return csr_array((np.ones(indptr[-1], dtype=np.int8), matrix.indices[off], indptr), shape=matrix.shape)

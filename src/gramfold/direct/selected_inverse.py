"""Entries of A⁻¹ for a sparse symmetric A, where its factor has entries: at the cost of about two factorisations.

Takahashi, Fagan, Chin, PICA Conference (1973); Erisman, Tinney, Communications of the ACM 18 (1975).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.direct.factor import Factor, Symbolic
from gramfold.runtime.threads import one_blas_thread, run_blocks, stop_flag
from gramfold.types import Floats, Integers


@dataclass(frozen=True)
class SelectedInverse:
    """Where the wanted entries (i, j) of A⁻¹ stand in a factor with this structure."""

    symbolic: Symbolic
    at: Integers  # (p,)

    @classmethod
    def of(cls, symbolic: Symbolic, i: Integers, j: Integers) -> Self:
        """Find the entries, each of which must be one of A or filled in."""
        from gramfold.direct.selected_inverse_kernels import find_entries

        ends = np.sort(np.stack([symbolic.number[i], symbolic.number[j]]), axis=0)
        at = np.empty(len(i), dtype=np.int64)
        rows, columns = np.ascontiguousarray(ends)
        shape = (symbolic.heads, symbolic.owner, symbolic.tail_start, symbolic.tails, symbolic.place)
        find_entries(rows, columns, *shape, at)
        return cls(symbolic, at)

    def entries(self, factor: Factor, n_jobs: int | None = None) -> Floats:
        """The entries (p,) of A⁻¹, of a factor of A."""
        from gramfold.direct.selected_inverse_kernels import invert_supernodes

        known, stop = self.symbolic, stop_flag()
        shape = (known.heads, known.owner, known.tail_start, known.tails, known.place)
        inverse = np.empty_like(factor.values)

        def work(members: Integers) -> None:
            invert_supernodes(*shape, factor.values, factor.pivots, members, stop, inverse)

        parts, top = known.subtrees.parts, known.subtrees.top
        with one_blas_thread():
            run_blocks(work, [top], n_jobs, stop=stop)
            run_blocks(work, parts, n_jobs, stop=stop)
        return inverse[self.at]

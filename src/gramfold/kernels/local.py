"""One small problem per vertex: those with lists of one length are solved together, and blocks of them in threads."""

from collections.abc import Callable

import numpy as np

from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import Integers, Neighbors

_ENTRIES_PER_BLOCK = 500_000  # numbers that a block gathers: they stay in the cache while it is solved


def solve_locally(
    work: Callable[[Integers, Integers], None], neighbors: Neighbors, width: int, n_jobs: int | None
) -> None:
    """Call `work(rows, places)` for blocks of rows whose lists have one length.

    `places` (b, k) says where the pairs of each row stand in `neighbors`; `width` is how many numbers a neighbour has.
    """
    counts = neighbors.counts
    order = np.argsort(counts, kind="stable")
    lengths, starts = np.unique(counts[order], return_index=True)
    parts = [
        slice(start + part.start, start + part.stop)
        for length, start, end in zip(lengths, starts, [*starts[1:], len(order)], strict=True)
        if length > 0
        for part in blocks(end - start, max(1, _ENTRIES_PER_BLOCK // int(length * (length + width))))
    ]

    def solve(part: slice) -> None:
        rows = order[part]
        work(rows, neighbors.indptr[rows][:, None] + np.arange(counts[rows[0]]))

    if len(parts) == 1:
        solve(parts[0])
        return
    with one_blas_thread():  # the pool's threads are enough
        run_blocks(solve, parts, n_jobs)

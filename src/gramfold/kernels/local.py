"""One small problem per vertex: those with lists of one length are solved together, and blocks of them in threads."""

from collections.abc import Callable

import numpy as np

from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import Integers, Neighbors

# For each pair within a neighbourhood, beyond what every graph method needs: the forecast is then 1.3 to 3.6 times the
# peak, rolls of 20,000 and 100,000 rows and 8 to 40 neighbours.
_BYTES_PER_PAIR = 12.0
ENTRIES_PER_BLOCK = 500_000  # numbers that a block gathers: they stay in the cache while it is solved


def solve_locally(
    work: Callable[[Integers, Integers], None],
    neighbors: Neighbors,
    width: int,
    n_jobs: int | None,
    *,
    entries_per_block: int = ENTRIES_PER_BLOCK,
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
        for part in blocks(end - start, max(1, entries_per_block // int(length * (length + width))))
    ]

    def solve(part: slice) -> None:
        rows = order[part]
        work(rows, neighbors.indptr[rows][:, None] + np.arange(counts[rows[0]]))

    if len(parts) == 1:
        solve(parts[0])
        return
    with one_blas_thread():  # the pool's threads are enough
        run_blocks(solve, parts, n_jobs)


def local_memory(n_neighbors: int) -> Callable[[int, int], float]:
    """Bytes for n vertices, whatever the itemsize of their rows, beside those of their graph."""
    return lambda n, _: _BYTES_PER_PAIR * n * (min(n_neighbors, n) + 1) ** 2

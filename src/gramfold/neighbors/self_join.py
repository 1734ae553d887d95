"""Who seems nearest to whom among all rows: each product of two rows is computed once, in float32, and serves both.

The rows are cut into tiles that meet as in a tournament: in every round each tile meets one other, so that threads
never write to the same lists, and lists grow in one order whatever the threads.
"""

from dataclasses import dataclass

import numpy as np

from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import Floats, Integers

_ROWS_PER_TILE = 640  # products of two tiles stay in the cache while they are looked at
_EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Seeming:
    """The rows that seem nearest to each row, itself among them, in no certain order at ties."""

    indices: Integers  # (n, k)
    farthest: Floats  # (n,) squared distance of the last as it seems: all who are left out seem at least as far
    error: Floats  # (n,) how far a squared distance of the row may be from what it seems


def seeming_neighbors(rows: Floats, k: int, n_jobs: int | None = None, stages: Stages = SILENT) -> Seeming:
    """The k rows that seem nearest to each; rows are finite, of any size, and k ≤ n."""
    from gramfold.neighbors.distance_kernels import meet

    n, d = rows.shape
    center = rows.mean(axis=0, dtype=np.float64)
    scale = float(max(np.abs(rows.max(axis=0) - center).max(), np.abs(rows.min(axis=0) - center).max())) or 1.0
    small = np.empty((n, d), dtype=np.float32)
    for part in blocks(n, _ROWS_PER_TILE):
        small[part] = (rows[part] - center) / scale  # products round relative to the length of the rows
    norms = np.einsum("ij,ij->i", small, small, dtype=np.float64)
    indices = np.empty((n, k), dtype=np.int32)
    squares = np.full((n, k), np.inf, dtype=np.float32)
    short = norms.astype(np.float32)
    tiles = blocks(n, _ROWS_PER_TILE)

    with one_blas_thread():  # the pool's threads are enough
        rounds = _rounds(len(tiles))
        for pairs in stages.bar(rounds, len(rounds), "neighbours"):

            def work(part: slice, pairs: list[tuple[int, int]] = pairs) -> None:
                for i, j in pairs[part]:
                    a, b = tiles[i], tiles[j]
                    meet(small[a] @ small[b].T, short[a], short[b], a.start, b.start, indices, squares)

            run_blocks(work, blocks(len(pairs), 1), n_jobs)
    longest = np.sqrt(norms) + np.sqrt(norms.max())
    error = 8.0 * _EPS * np.sqrt(d) * longest**2
    return Seeming(indices, squares[:, -1].astype(np.float64) * scale**2, error * scale**2)


def _rounds(count: int) -> list[list[tuple[int, int]]]:
    """Each with itself, then each with each other once, nobody twice in a round (the circle method)."""
    rounds = [[(i, i) for i in range(count)]]
    ring = [*range(count), -1][: count + count % 2]  # -1: whoever meets it rests
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        pairs = zip(ring[:half], reversed(ring[half:]), strict=True)
        rounds.append([(i, j) for i, j in pairs if min(i, j) >= 0])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds

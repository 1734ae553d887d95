"""The symbolic elimination of a small graph in plain NumPy: as `elimination_kernels`, to the bit."""

import numpy as np

from gramfold.runtime.plain import prefer_plain
from gramfold.types import Integers

_VERTEX = 2e-5  # seconds


def plain_elimination(n: int) -> bool:
    """Whether n vertices are eliminated sooner without compiled kernels."""
    return prefer_plain("gramfold.direct.elimination_kernels", 2 * _VERTEX * n, 0.6)


def eliminated(indptr: Integers, indices: Integers, most: float) -> list[Integers] | None:
    """The later vertices that each touches when it is eliminated, ascending; None above `most` of them in all."""
    n = len(indptr) - 1
    tails: list[Integers] = []
    children: list[list[Integers]] = [[] for _ in range(n)]
    filled = 0
    for v in range(n):
        own = indices[indptr[v] : indptr[v + 1]]
        tail = np.unique(np.concatenate([own, *children[v]]))
        tail = tail[np.searchsorted(tail, v, side="right") :].astype(np.int32)
        children[v] = []
        filled += len(tail)
        if filled > most:
            return None
        tails.append(tail)
        if len(tail):
            children[tail[0]].append(tail)
    return tails

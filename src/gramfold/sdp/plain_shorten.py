"""Shorten over-long pairs in plain NumPy: as `feasible_kernels`, to the bit."""

import numpy as np

from gramfold.runtime.plain import prefer_plain
from gramfold.types import Floats, Integers

_SWEEP, _PAIR = 2e-4, 1e-7  # seconds of a sweep, and more for each pair


def plain_shorten(pairs: int, sweeps: int) -> bool:
    """Whether at most so many sweeps are done sooner without compiled kernels."""
    return prefer_plain("gramfold.sdp.feasible_kernels", sweeps * (_SWEEP + _PAIR * pairs), 0.5)


def shorten(points: Floats, first: Integers, second: Integers, lengths: Floats, nearly: float, sweeps: int) -> None:
    """Move the ends of each over-long pair together by half of its excess, until no pair is longer by `nearly`."""
    n, rank = points.shape
    squared = np.square(lengths)
    for _ in range(sweeps):
        steps = points[first] - points[second]
        square = np.zeros(len(first))
        for c in range(rank):
            square += np.square(steps[:, c])
        over = np.flatnonzero(square > squared)
        if not over.size:
            return
        length = np.sqrt(square[over])
        if (length / lengths[over] - 1.0).max() < nearly:
            return
        pull = 0.5 * (length - lengths[over])
        ends = np.column_stack([first[over], second[over]]).ravel()  # pair by pair, as they are added up
        both = np.repeat(pull, 2)
        pulls = np.bincount(ends, both, n), np.bincount(ends, both * both, n)
        moved = (pull / length)[:, None] * steps[over]
        moved = np.stack([-moved, moved], axis=1).reshape(-1, rank)
        some = pulls[0] > 0
        share = np.sqrt(pulls[1][some]) / pulls[0][some]
        for c in range(rank):
            points[some, c] += share * np.bincount(ends, moved[:, c], n)[some]

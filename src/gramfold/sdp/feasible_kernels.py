"""Compiled: shorten over-long pairs, all at once, so that their order does not matter."""

import numpy as np

from gramfold.runtime.compiled import kernel


@kernel
def shorten(points, first, second, lengths, moves, pulls, nearly, sweeps):
    """Move the ends of each over-long pair together by half of its excess, until no pair is longer by `nearly`.

    Where q pairs pull at a vertex, the sum of their pulls is too much and their mean is slow: it moves by sum / √q,
    with q = (Σ pull)² / Σ pull², so that a pair which is hardly too long hardly counts.
    """
    rank = points.shape[1]
    for _ in range(sweeps):
        worst = 0.0
        moves[:] = 0.0
        pulls[:] = 0.0
        for e in range(first.size):
            a, b = first[e], second[e]
            square = 0.0
            for c in range(rank):
                step = points[a, c] - points[b, c]
                square += step * step
            if square > lengths[e] * lengths[e]:
                length = np.sqrt(square)
                worst = max(worst, length / lengths[e] - 1.0)
                pull = 0.5 * (length - lengths[e])
                pulls[a, 0] += pull
                pulls[b, 0] += pull
                pulls[a, 1] += pull * pull
                pulls[b, 1] += pull * pull
                for c in range(rank):
                    step = pull / length * (points[a, c] - points[b, c])
                    moves[a, c] -= step
                    moves[b, c] += step
        if worst < nearly:
            return
        for v in range(points.shape[0]):
            if pulls[v, 0] > 0.0:
                share = np.sqrt(pulls[v, 1]) / pulls[v, 0]
                for c in range(rank):
                    points[v, c] += share * moves[v, c]

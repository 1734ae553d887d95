"""Compiled: over-long pairs are shortened one after the other, as in position based dynamics."""

from gramfold.runtime.compiled import kernel


@kernel
def shorten(points, first, second, lengths, nearly, sweeps):
    """Move both ends of each pair that is too long by half of the excess, until no pair is longer by `nearly`."""
    rank = points.shape[1]
    for _ in range(sweeps):
        worst = 0.0
        for e in range(first.size):
            a, b = first[e], second[e]
            square = 0.0
            for c in range(rank):
                step = points[a, c] - points[b, c]
                square += step * step
            if square > lengths[e] * lengths[e]:
                ratio = lengths[e] / square**0.5
                worst = max(worst, 1.0 / ratio - 1.0)
                for c in range(rank):
                    step = 0.5 * (1.0 - ratio) * (points[a, c] - points[b, c])
                    points[a, c] -= step
                    points[b, c] += step
        if worst < nearly:
            return

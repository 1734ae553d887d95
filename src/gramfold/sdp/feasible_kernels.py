"""Compiled: over-long pairs are shortened, all at once, so that their order does not count."""

from gramfold.runtime.compiled import kernel


@kernel
def shorten(points, first, second, lengths, moves, counts, nearly, sweeps):
    """Pull the ends of each pair that is too long together by half of its excess, until no pair is longer by `nearly`.

    Where q pairs pull at a vertex, the sum of their pulls is too much and their mean is slow: it moves by sum / √q.
    """
    rank = points.shape[1]
    for _ in range(sweeps):
        worst = 0.0
        moves[:] = 0.0
        counts[:] = 0.0
        for e in range(first.size):
            a, b = first[e], second[e]
            square = 0.0
            for c in range(rank):
                step = points[a, c] - points[b, c]
                square += step * step
            if square > lengths[e] * lengths[e]:
                ratio = lengths[e] / square**0.5
                worst = max(worst, 1.0 / ratio - 1.0)
                counts[a] += 1.0
                counts[b] += 1.0
                for c in range(rank):
                    step = 0.5 * (1.0 - ratio) * (points[a, c] - points[b, c])
                    moves[a, c] -= step
                    moves[b, c] += step
        if worst < nearly:
            return
        for v in range(counts.size):
            if counts[v] > 0.0:
                for c in range(rank):
                    points[v, c] += moves[v, c] / counts[v] ** 0.5

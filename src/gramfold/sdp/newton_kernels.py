"""Compiled: the Newton matrix of a low-rank factor, written where its factorisation expects it."""

from gramfold.runtime.compiled import kernel


@kernel
def add_blocks(first, second, weights, stiff, differences, diagonal, between, width, ends, wide, entries):
    """Blocks w_e I + c_e D_e D_eᵀ of each pair: added at both of its ends, subtracted between them.

    The block between the ends begins at between[e], in a row of width[e] entries; that of vertex v at ends[v], in one
    of wide[v]. `diagonal` is added to the diagonals.
    """
    r = differences.shape[1]
    for v in range(ends.size):
        for p in range(r):
            entries[ends[v] + p * wide[v] + p] += diagonal[v]
    for e in range(first.size):
        own, other, across = ends[first[e]], ends[second[e]], between[e]
        for p in range(r):
            for q in range(r):
                value = stiff[e] * differences[e, p] * differences[e, q]
                if p == q:
                    value += weights[e]
                entries[own + p * wide[first[e]] + q] += value
                entries[other + p * wide[second[e]] + q] += value
                entries[across + p * width[e] + q] -= value

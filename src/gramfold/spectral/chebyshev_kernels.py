"""Compiled: one step of a three-term recurrence with a sparse matrix."""

from gramfold.runtime.compiled import kernel


@kernel
def step(indptr, indices, entries, now, before, scale, shift, low, high, out):
    """Out = scale · (A − shift) now − before, rows low..high−1."""
    width = now.shape[1]
    for i in range(low, high):
        for c in range(width):
            out[i, c] = -shift * now[i, c]
        for e in range(indptr[i], indptr[i + 1]):
            entry, j = entries[e], indices[e]
            for c in range(width):
                out[i, c] += entry * now[j, c]
        for c in range(width):
            out[i, c] = scale * out[i, c] - before[i, c]

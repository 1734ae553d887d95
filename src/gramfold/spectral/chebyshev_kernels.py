"""Compiled: one step of a three-term recurrence with a sparse matrix."""

from gramfold.runtime.compiled import kernel


@kernel
def step(indptr, indices, entries, now, before, scale, shift, low, high, out):
    """Fill out = scale · (A − shift) now − before in rows low..high−1; columns four at a time, unrolled for speed."""
    for i in range(low, high):
        for k in range(0, now.shape[1], 4):
            a, b = -shift * now[i, k], -shift * now[i, k + 1]
            c, d = -shift * now[i, k + 2], -shift * now[i, k + 3]
            for e in range(indptr[i], indptr[i + 1]):
                w, j = entries[e], indices[e]
                a, b = a + w * now[j, k], b + w * now[j, k + 1]
                c, d = c + w * now[j, k + 2], d + w * now[j, k + 3]
            out[i, k], out[i, k + 1] = scale * a - before[i, k], scale * b - before[i, k + 1]
            out[i, k + 2], out[i, k + 3] = scale * c - before[i, k + 2], scale * d - before[i, k + 3]

"""Rows in partitions of every size, for tests that want no two alike."""

import dask.array as da
import numpy as np
from dask import delayed


def in_parts(X, count):
    """`X` in so many partitions, some of them empty, of lengths that Dask does not know."""
    cuts = np.sort(np.random.default_rng(count).integers(0, len(X) + 1, count - 1))
    if count > 4:
        cuts[2] = cuts[1]
    parts = np.split(X, cuts)
    shape = (np.nan, X.shape[1])
    return da.concatenate([da.from_delayed(delayed(one), shape, dtype=X.dtype) for one in parts])

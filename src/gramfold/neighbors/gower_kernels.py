"""Compiled: Gower's distances of a block of rows, and of pairs."""

import numpy as np

from gramfold.runtime.compiled import kernel

ROWS_AT_ONCE = 1024  # their sums stay in the nearest cache


@kernel
def gower_block(left, right, known, weights, out):
    """out[r, j] = Σ w min(|a − b|, 1) / Σ w over the columns that both rows know; NaN where there are none.

    `right` is (d, n) with 0 in place of gaps. `known` holds the weights there, 0 at a gap; it is empty without gaps.
    """
    d, n = right.shape
    gaps = known.shape[0] > 0
    whole = np.empty(ROWS_AT_ONCE)
    for r in range(left.shape[0]):
        for start in range(0, n, ROWS_AT_ONCE):
            count = min(ROWS_AT_ONCE, n - start)
            apart, shared = out[r, start : start + count], whole[:count]
            apart[:] = 0.0
            shared[:] = 0.0
            total = 0.0
            for c in range(d):
                x, weight = left[r, c], weights[c]
                if np.isnan(x):
                    continue
                values = right[c, start : start + count]
                if gaps:
                    weighed = known[c, start : start + count]
                    for j in range(count):
                        gap = np.abs(x - values[j])
                        apart[j] += weighed[j] * min(gap, 1.0)
                        shared[j] += weighed[j]
                else:
                    total += weight
                    for j in range(count):
                        gap = np.abs(x - values[j])
                        apart[j] += weight * min(gap, 1.0)
            for j in range(count):
                weight = shared[j] if gaps else total
                if weight > 0.0:
                    apart[j] = apart[j] / weight
                else:
                    apart[j] = np.nan


@kernel
def gower_pairs(left, i, right, j, weights, out):
    """The same for the pairs left[i[p]], right[j[p]] of rows with gaps, to the same bits."""
    for p in range(i.size):
        a, b = left[i[p]], right[j[p]]
        apart = shared = 0.0
        for c in range(weights.size):
            gap = np.abs(a[c] - b[c])
            if not np.isnan(gap):
                apart += weights[c] * min(gap, 1.0)
                shared += weights[c]
        out[p] = apart / shared if shared > 0.0 else np.nan

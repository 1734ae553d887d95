"""The number of clusters from the eigenvalues of the normalised Laplacian.

A bottleneck of the graph shows as a ratio λ_{k+1} / λ_k of consecutive eigenvalues that is large compared with the
later ratios. Shapes without a bottleneck have large ratios too: 4, 9/4, 16/9 … along an interval, 4 and then 9/4 around
a ring, smaller ones in more dimensions. So a ratio counts if it is at least 2 and its logarithm is at least three times
that of any later ratio (it is 1.7 times for these shapes).

von Luxburg, Statistics and Computing 17 (2007), section 8.3.
"""

import numpy as np

from gramfold.types import Floats

_LEAST_STEP, _DOMINANCE = 2.0, 3.0
LATER = 2  # eigenvalues computed beyond those of the largest number of clusters


def number_of_clusters(eigenvalues: Floats, components: int) -> int:
    """The number of clusters at the largest ratio of eigenvalues that counts; if none does, that of components."""
    values = np.log(np.maximum(eigenvalues[components:], np.finfo(np.float64).tiny))
    steps = np.diff(values)  # logarithms of the ratios at components + 1, components + 2, … clusters
    later = np.maximum.accumulate(steps[::-1])[::-1][1:]
    counts = (steps[:-1] > np.log(_LEAST_STEP)) & (steps[:-1] > _DOMINANCE * later)
    return components + 1 + int(np.argmax(np.where(counts, steps[:-1], 0.0))) if counts.any() else components


def eigengap(eigenvalues: Floats, clusters: int) -> float | None:
    """(λ_{k+1} − λ_k) / λ_{k+1}; None for one cluster, and if the next eigenvalue was not computed."""
    if clusters in (1, len(eigenvalues)):
        return None
    lower, upper = eigenvalues[clusters - 1 : clusters + 1]
    return float((upper - lower) / upper) if upper > 0 else 0.0

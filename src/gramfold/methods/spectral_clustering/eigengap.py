"""The number of clusters, told by the eigenvalues of the normalised Laplacian.

A bottleneck shows as a step of the eigenvalues, λ_{k+1} / λ_k, that is large beside the later ones. Shapes without one
have steps too: 4, 9/4, 16/9 … along an interval, 4 and then 9/4 around a ring, less in more dimensions. So a step
counts if it is at least two-fold and its logarithm three times that of any later one (1.7 times for these shapes).

von Luxburg, Statistics and Computing 17 (2007), section 8.3.
"""

import numpy as np

from gramfold.types import Floats

_LEAST_STEP, _DOMINANCE = 2.0, 3.0
LATER = 2  # eigenvalues looked at beyond those of the most clusters


def number_of_clusters(eigenvalues: Floats, components: int) -> int:
    """Where the eigenvalues beyond those of the components step up most, if that stands out; else their number."""
    values = np.log(np.maximum(eigenvalues[components:], np.finfo(np.float64).tiny))
    steps = np.diff(values)  # behind components + 1, components + 2, … clusters
    later = np.maximum.accumulate(steps[::-1])[::-1][1:]
    counts = (steps[:-1] > np.log(_LEAST_STEP)) & (steps[:-1] > _DOMINANCE * later)
    return components + 1 + int(np.argmax(np.where(counts, steps[:-1], 0.0))) if counts.any() else components


def eigengap(eigenvalues: Floats, clusters: int) -> float | None:
    """(λ_{k+1} − λ_k) / λ_{k+1}; None for one cluster, and where the next eigenvalue is not known."""
    if clusters in (1, len(eigenvalues)):
        return None
    lower, upper = eigenvalues[clusters - 1 : clusters + 1]
    return float((upper - lower) / upper) if upper > 0 else 0.0

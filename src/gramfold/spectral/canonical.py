"""One sign for each eigenvector, whatever the solver gave."""

import numpy as np

from gramfold.types import Floats

# Entries this close to the largest count as equal to it; the first of them decides.
_TIE = 1e-6


def canonical_signs(vectors: Floats) -> Floats:
    """Each column with its largest entry (the first such) positive."""
    return np.asarray(vectors * signs_of(vectors))


def signs_of(vectors: Floats) -> Floats:
    """What each column is multiplied with for that, (p,)."""
    columns = np.ascontiguousarray(vectors.T)  # whose extremes are found twice as fast
    highest, lowest = columns.max(axis=1), -columns.min(axis=1)
    signs = np.where(highest >= lowest, 1.0, -1.0)
    (close,) = np.nonzero(np.minimum(highest, lowest) >= (1 - _TIE) * np.maximum(highest, lowest))
    if close.size:
        size = np.abs(vectors[:, close])
        decides = (size >= (1 - _TIE) * size.max(axis=0)).argmax(axis=0)
        signs[close] = np.where(vectors[decides, close] < 0, -1.0, 1.0)
    return signs

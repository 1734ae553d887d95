"""One sign for each eigenvector, whatever the solver gave."""

import numpy as np

from gramfold.types import Floats

# Entries this close to the largest count as equal to it; the first of them decides.
_TIE = 1e-6


def canonical_signs(vectors: Floats) -> Floats:
    """Each column with its largest entry (the first such) positive."""
    size = np.abs(vectors)
    decides = (size >= (1 - _TIE) * size.max(axis=0)).argmax(axis=0)
    signs = np.sign(vectors[decides, np.arange(vectors.shape[1])])
    return np.asarray(vectors * np.where(signs == 0, 1.0, signs))

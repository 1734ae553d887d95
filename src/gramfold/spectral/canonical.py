"""Canonical signs of eigenvectors, independent of the solver."""

import numpy as np

from gramfold.runtime.threads import blocks
from gramfold.types import Floats

# Entries this close to the largest count as equal to it; the first of them decides.
TIE = 1e-6
_ENTRIES_PER_BLOCK = 20_000  # which stay in the cache while they are turned and read


def canonical_signs(vectors: Floats) -> Floats:
    """The vectors with signs such that the largest entry of each column (the first such) is positive."""
    return np.asarray(vectors * signs_of(vectors))


def signs_of(vectors: Floats, ends: Floats | None = None) -> Floats:
    """The canonical sign (p,) of each column; `ends` (2, p) are its largest v and −v, where known."""
    highest, lowest = _ends(vectors) if ends is None else ends
    signs = np.where(highest >= lowest, 1.0, -1.0)
    (close,) = np.nonzero(np.minimum(highest, lowest) >= (1 - TIE) * np.maximum(highest, lowest))
    if close.size:
        size = np.abs(vectors[:, close])
        decides = (size >= (1 - TIE) * size.max(axis=0)).argmax(axis=0)
        signs[close] = np.where(vectors[decides, close] < 0, -1.0, 1.0)
    return signs


def _ends(vectors: Floats) -> Floats:
    found = []
    for part in blocks(len(vectors), max(1, _ENTRIES_PER_BLOCK // max(1, vectors.shape[1]))):
        columns = np.ascontiguousarray(vectors[part].T)  # whose extremes are found twice as fast
        found.append((columns.max(axis=1), -columns.min(axis=1)))
    return np.asarray(np.max(found, axis=0))

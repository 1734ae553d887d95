"""The first pass over a streamed matrix: what a kernel is centred with, and where the search for eigenvectors begins.

    B c are the means of the centring;    B M V₀ begins the search, V₀ the eigenvectors of the kernel of landmarks

Both come from one pass, which costs the same for many vectors as for one.
"""

import numpy as np
from scipy.linalg import eigh

from gramfold.kernels.gram import GramKernel, centered_gram, landmark_gram
from gramfold.kernels.streamed import LANDMARKS, Change, StreamedMatrix
from gramfold.types import Floats

_SEED = 20171110  # landmarks change no result beyond its residual; fixed ones make runs repeatable
_LANDMARKS_PER_VECTOR = 4
_DIRECTION = 1e-10  # eigenvalues of landmarks this much below their largest have no direction


def opened_gram(
    matrix: StreamedMatrix,
    scale: float,
    mass: Floats | None,
    center: Floats | None = None,
    change: Change | None = None,
) -> GramKernel:
    """`centered_gram` of a streamed matrix, which then remembers the products with vectors near its eigenvectors."""
    mass = np.ones(len(matrix)) if mass is None else mass
    center = mass / mass.sum() if center is None else center
    near = near_eigenvectors(matrix, scale, mass)
    changes = [None] if change is None else [None, change]
    matrix.remember(np.column_stack([center, mass[:, None] * near]), changes)
    return centered_gram(matrix, scale=scale, mass=mass, center=center)


def near_eigenvectors(matrix: StreamedMatrix, scale: float, mass: Floats) -> Floats:
    """V₀ (n, matrix.width): the eigenvectors of the kernel of some rows, extended to all."""
    there = np.flatnonzero(mass > 0)
    count = min(len(there), max(LANDMARKS, _LANDMARKS_PER_VECTOR * matrix.width))
    chosen = np.sort(np.random.default_rng(_SEED).choice(there, count, replace=False))
    gram = landmark_gram(matrix[chosen].astype(np.float64, copy=False).T, chosen, mass, scale)
    root = np.sqrt(gram.mass)[:, None]
    values, vectors = eigh(root * gram.matrix() * root.T)
    kept = np.flatnonzero(values > _DIRECTION * max(values[-1], 0.0))[::-1][: matrix.width]
    return gram.cross_times(gram.everybody, root * vectors[:, kept] / values[kept])

"""Eigenpairs of K = Y Yᵀ from its factor Y (n, r):  Yᵀ M Y = U Λ Uᵀ,  V = Y U Λ^-½,  so that K = V Λ Vᵀ, Vᵀ M V = I."""

from time import perf_counter

import numpy as np

from gramfold.spectral.canonical import canonical_signs
from gramfold.spectral.policy import gram_misfit
from gramfold.types import Floats, Spectrum

# Eigenvalues this much below the largest are rounding, not directions.
_RANK_CUT = 1e-14


def factored_spectrum(factor: Floats, mass: Floats, count: int) -> Spectrum:
    """The leading eigenpairs, at most `count` and the rank of K."""
    started = perf_counter()
    root = np.sqrt(mass)[:, None]
    left, sizes, _ = np.linalg.svd(root * factor, full_matrices=False)
    kept = min(count, int((sizes**2 > _RANK_CUT * sizes[0] ** 2).sum()))
    values, vectors = sizes[:kept] ** 2, canonical_signs(left[:, :kept])
    misfit = gram_misfit((root * factor) @ ((root * factor).T @ vectors), vectors, values)
    return Spectrum(
        eigenvalues=values,
        eigenvectors=vectors / root,
        residuals=misfit / values,
        solver="factor (LAPACK)",
        seconds=perf_counter() - started,
        total=float((sizes**2).sum()),
    )

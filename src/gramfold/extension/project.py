"""A new point meets a gram: y = k(x, ·) M V Λ^(a−1), which gives training points V Λ^a back."""

import numpy as np

from gramfold.kernels.gram import GramKernel
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Kernel, Spectrum

# Eigenvalues this much below the largest are rounding, not directions.
RANK_CUT = 1e-12
_ENTRIES_PER_BLOCK = 4_000_000


def scaled(spectrum: Spectrum, power: float) -> Floats:
    """V Λ^power, with zeros where an eigenvalue is not positive."""
    values = spectrum.eigenvalues
    if power == 0:
        return spectrum.eigenvectors
    positive = positive_directions(spectrum)
    factors = np.zeros_like(values)
    factors[positive] = values[positive] ** power
    return np.asarray(spectrum.eigenvectors * factors)


def positive_directions(spectrum: Spectrum) -> np.ndarray:
    """Which of the eigenvalues are really positive; those of a penalty kernel are known each to its own size."""
    values = spectrum.eigenvalues
    if spectrum.penalties is not None:
        return np.asarray(values > 0)
    return np.asarray(values > RANK_CUT * max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny))


def place_everybody(kernel: Kernel, spectrum: Spectrum) -> Floats:
    """Coordinates (n_vertices, p) of every vertex: V Λ^a, or by projection where the kernel is over landmarks only."""
    if kernel.landmarks is None:
        return scaled(spectrum, kernel.exponent)
    assert isinstance(kernel, GramKernel)
    values = kernel.everybody
    places, weights = np.empty((len(values), len(spectrum))), projection(kernel, spectrum)
    for part in beats(blocks(len(values), max(1, _ENTRIES_PER_BLOCK // values.shape[1]))):
        some = values[part]
        places[part] = kernel.cross_times(some, weights) * kernel.gains(some, spectrum.eigenvalues)
    return places


def project(cross: Floats, kernel: Kernel, spectrum: Spectrum) -> Floats:
    """Coordinates (m, p) from centred kernel values (m, n) between new points and vertices."""
    return np.asarray(cross @ projection(kernel, spectrum))


def centered_projection(kernel: GramKernel, spectrum: Spectrum) -> Floats:
    """W − c 1ᵀW of the projection W: what kernel values that are not centred are multiplied with, up to a constant."""
    weights = projection(kernel, spectrum)
    return np.asarray(weights - np.outer(kernel.center, weights.sum(axis=0)))


def projection(kernel: Kernel, spectrum: Spectrum) -> Floats:
    """M V Λ^(a−1): what centred kernel values are multiplied with."""
    return np.asarray(kernel.mass[:, None] * scaled(spectrum, kernel.exponent - 1.0))

"""A new point meets a gram: y = k(x, ·) M V Λ^(a−1), which gives training points V Λ^a back."""

import numpy as np

from gramfold.types import Floats, Kernel, Spectrum

# Eigenvalues this much below the largest are rounding, not directions.
RANK_CUT = 1e-12


def scaled(spectrum: Spectrum, power: float) -> Floats:
    """V Λ^power, with zeros where a gram's eigenvalue is not positive."""
    values = spectrum.eigenvalues
    if power == 0:
        return spectrum.eigenvectors
    positive = positive_directions(spectrum)
    factors = np.zeros_like(values)
    factors[positive] = values[positive] ** power
    return np.asarray(spectrum.eigenvectors * factors)


def positive_directions(spectrum: Spectrum) -> np.ndarray:
    """Which of the eigenvalues are really positive."""
    values = spectrum.eigenvalues
    return np.asarray(values > RANK_CUT * max(float(values[0]), np.finfo(np.float64).tiny))


def project(cross: Floats, kernel: Kernel, spectrum: Spectrum) -> Floats:
    """Coordinates (m, p) from centred kernel values (m, n) between new points and vertices."""
    return np.asarray(cross @ (kernel.mass[:, None] * scaled(spectrum, kernel.exponent - 1.0)))

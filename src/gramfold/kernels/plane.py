"""A Gaussian about a plane: rows are a latent point on it, and the same noise in every direction.

    x = W z + mean + ε,  z ~ N(0, I),  ε ~ N(0, σ² I);    C = W Wᵀ + σ² I
    largest likelihood: σ² = the mean of the d − p smallest eigenvalues of the covariance, W = U (Λ − σ² I)^½

The root in W (which eq 1.8 leaves out) is what gives C the variance λ along each axis: along u, W Wᵀ + σ² I has
(λ − σ²) + σ². Then |C| = σ^2(d−p) Π λ and C⁻¹ = U Λ⁻¹ Uᵀ + (I − U Uᵀ)/σ²; given x, z has the mean M⁻¹ Wᵀ (x − mean)
and the covariance σ² M⁻¹, where M = Wᵀ W + σ² I = Λ.
Tipping, Bishop, Journal of the Royal Statistical Society B 61 (1999); Burges, section 1.2, eqs (1.7)–(1.9).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.errors import InputError
from gramfold.kernels.linear import centered
from gramfold.neighbors.units import Unit
from gramfold.types import Floats

LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Plane:
    """See the module; the axes of W are the principal ones."""

    mean: Floats  # (d,)
    axes: Floats  # (d, p) U, orthonormal
    variances: Floats  # (p,) λ, at least σ²
    noise: float  # σ²

    @classmethod
    def of_largest_likelihood(cls, mean: Floats, axes: Floats, variances: Floats, total: float, floor: float) -> Self:
        """From the leading eigenpairs of a covariance and its trace; no variance falls below `floor`."""
        d, p = axes.shape
        rest = max(total - float(variances.sum()), 0.0)
        noise = max(rest / (d - p), floor) if d > p else floor
        return cls(mean, axes, np.maximum(variances, noise), noise)

    def in_unit(self, unit: Unit) -> "Plane":
        """The same plane as it is seen in another unit."""
        mean, variances = unit.inward(self.mean), unit.inward(self.variances, 2)
        return Plane(mean, self.axes, variances, float(unit.inward(self.noise, 2)))

    @property
    def total(self) -> float:
        """The trace of C."""
        d, p = self.axes.shape
        return float(self.variances.sum() + (d - p) * self.noise)

    @property
    def weights(self) -> Floats:
        """W, (d, p)."""
        return np.asarray(self.axes * np.sqrt(self.variances - self.noise))

    @property
    def latent(self) -> Floats:
        """W M⁻¹, (d, p): z = (x − mean) · latent."""
        return np.asarray(self.axes * (np.sqrt(self.variances - self.noise) / self.variances))

    @property
    def log_determinant(self) -> float:
        """Logarithm of |C|."""
        d, p = self.axes.shape
        return float(np.log(self.variances).sum()) + ((d - p) * float(np.log(self.noise)) if d > p else 0.0)

    def log_density(self, rows: Floats) -> Floats:
        """Logarithm of N(x; mean, C) for each row."""
        if self.total == 0:
            raise InputError("all training rows are equal, so they have no density: fit rows that differ.")
        d, p = self.axes.shape
        values = np.empty(len(rows))
        with np.errstate(over="ignore", invalid="ignore"):  # a row beyond the range of squares is infinitely unlikely
            for part, moved in centered(rows, self.mean):
                along = moved @ self.axes
                values[part] = np.square(along / np.sqrt(self.variances)).sum(axis=1)
                if d > p:  # what is off the plane, itself: differences of squares would lose it where noise is small
                    values[part] += np.square(moved - along @ self.axes.T).sum(axis=1) / self.noise
        return np.asarray(-0.5 * (values + self.log_determinant + d * LOG_TWO_PI))

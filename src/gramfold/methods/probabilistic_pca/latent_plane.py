"""A plane in the coordinates of the map: posterior of the latent points, density, imputation and sampling.

    given the known values o of a row:  z ~ N(M⁻¹ W_oᵀ (x_o − mean_o), σ² M⁻¹),  M = W_oᵀ W_o + σ² I

Densities are in the model's unit. Tipping, Bishop, Journal of the Royal Statistical Society B 61 (1999).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.kernels.plane import Plane
from gramfold.methods.probabilistic_pca.loose_plane import LoosePlane
from gramfold.methods.probabilistic_pca.missing_values import empty_rows, has_gaps, warn_of_empty
from gramfold.types import Floats, Plain

LEAST_NOISE_OF_GAPS = 1e-9  # of the mean variance of a column: M = W_oᵀ W_o + σ² I is solved


@dataclass(frozen=True)
class LatentPosterior:
    """Posterior of the latent point of each row: N(mean, covariance)."""

    mean: Floats  # (n, p)
    covariance: Floats  # (n, p, p); read-only, one matrix for all, where no value is missing


@dataclass(frozen=True, eq=False)
class LatentPlane(Plain):
    """See the module."""

    plane: Plane
    weights: Floats  # (d, p) W, turned to the axes of the map

    @property
    def loose(self) -> LoosePlane:
        """The same plane with enough noise for rows with missing values."""
        floor = LEAST_NOISE_OF_GAPS * self.plane.total / len(self.plane.mean)
        noise = max(self.plane.noise, floor) or 1.0  # any value will do for identical rows: W is 0
        return LoosePlane(self.plane.mean, self.weights, noise)

    def fill(self, rows: Floats) -> Floats:
        """The same rows with missing values filled in; warns of rows without any value."""
        if not has_gaps(rows):
            return rows
        empty = empty_rows(rows)
        warn_of_empty(empty, len(empty))
        return self.filled(rows)

    def filled(self, rows: Floats) -> Floats:
        """A copy with missing values replaced by their mean given the known values of the row."""
        loose, filled = self.loose, rows.copy()
        gaps = np.flatnonzero(np.isnan(rows).any(axis=1))
        for numbers, _, latent in loose.read(rows[gaps]):
            those = gaps[numbers]
            rebuilt = loose.mean + latent.mean @ loose.weights.T
            filled[those] = np.where(np.isnan(rows[those]), rebuilt, rows[those])
        return filled

    def log_density(self, rows: Floats) -> Floats:
        """Log-density of the known values of each row."""
        gaps = np.isnan(rows).any(axis=1)
        values = np.empty(len(rows))
        values[~gaps] = self.plane.log_density(rows[~gaps] if gaps.any() else rows)
        for numbers, _, latent in self.loose.read(rows[gaps]):
            values[np.flatnonzero(gaps)[numbers]] = latent.log_density
        return values

    def covariance(self) -> Floats:
        """Posterior covariance (p, p) of the latent point of a complete row."""
        noise = self.plane.noise or self.loose.noise
        return np.asarray(noise * np.linalg.inv(self.weights.T @ self.weights + noise * np.eye(self.weights.shape[1])))

    def posterior(self, rows: Floats) -> LatentPosterior:
        """Posterior of rows with missing values."""
        n, p = len(rows), self.weights.shape[1]
        loose, means, covariances = self.loose, np.empty((n, p)), np.empty((n, p, p))
        for numbers, group, latent in loose.read(rows):
            means[numbers], covariances[numbers] = latent.mean, loose.noise * latent.inverse[group]
        return LatentPosterior(means, covariances)

    def sample(self, count: int, rng: Any) -> Floats:
        """Draw rows from the plane."""
        z = rng.standard_normal((count, self.weights.shape[1]))
        noise = np.sqrt(self.plane.noise) * rng.standard_normal((count, len(self.plane.mean)))
        return np.asarray(self.plane.mean + z @ self.weights.T + noise)

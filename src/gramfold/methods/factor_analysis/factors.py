"""Rows as a few factors and noise: what the model says of a row, and of its factors.

    x = W z + mean + ε,  z ~ N(0, I),  ε ~ N(0, Ψ), Ψ diagonal;    E[z | x] = (I + Wᵀ Ψ⁻¹ W)⁻¹ Wᵀ Ψ⁻¹ (x − mean)

In columns measured by the deviation of their noise, Ψ^-½ (x − mean), the rows lie about a plane with noise 1
(kernels/plane.py). A column that never varies has neither loadings nor noise, and no part in the density.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.extension.linear_placement import LinearPlacement
from gramfold.kernels.linear import centered
from gramfold.kernels.plane import Plane
from gramfold.types import Floats, Plain

_FARTHEST = 1e200  # deviations of the noise: a row beyond is infinitely unlikely


@dataclass(frozen=True, eq=False)
class Factors(Plain):
    """See the module."""

    mean: Floats  # (d,)
    noise: Floats  # (d,) standard deviations Ψ^½; 0 where a column never varies
    plane: Plane  # of the m columns that vary, about 0 and with noise 1

    @property
    def varies(self) -> Any:
        """Which columns do, (d,) of bool."""
        return self.noise > 0

    @property
    def loadings(self) -> Floats:
        """W, (d, p)."""
        return self._spread(self.noise[self.varies, None] * self.plane.weights)

    @property
    def directions(self) -> Floats:
        """Ψ⁻¹ W (I + Wᵀ Ψ⁻¹ W)⁻¹, (d, p): E[z | x] = (x − mean) · directions."""
        return self._spread(self.plane.latent / self.noise[self.varies, None])

    def covariance_times(self, vectors: Floats) -> Floats:
        """(W Wᵀ + Ψ) · vectors, (d, q)."""
        loadings = self.loadings
        return np.asarray(loadings @ (loadings.T @ vectors) + np.square(self.noise)[:, None] * vectors)

    def log_density(self, rows: Floats) -> Floats:
        """Logarithm of N(x; mean, W Wᵀ + Ψ) for each row, of the columns that vary."""
        varies, values = self.varies, np.empty(len(rows))
        for part, moved in centered(rows, self.mean):
            with np.errstate(over="ignore"):
                scaled = moved[:, varies] / self.noise[varies]
            values[part] = self.plane.log_density(np.clip(scaled, -_FARTHEST, _FARTHEST))
        return np.asarray(values - np.log(self.noise[varies]).sum())

    def sample(self, count: int, rng: Any) -> Floats:
        """Rows drawn from it."""
        z = rng.standard_normal((count, self.plane.axes.shape[1]))
        noise = self.noise * rng.standard_normal((count, len(self.mean)))
        return np.asarray(self.mean + z @ self.loadings.T + noise)

    def _spread(self, rows: Floats) -> Floats:
        """Rows (m, p) of the columns that vary among rows of zeros (d, p) for the others."""
        spread = np.zeros((len(self.mean), rows.shape[1]))
        spread[self.varies] = rows
        return spread


@dataclass(frozen=True, eq=False)
class FactorPlacement(LinearPlacement):
    """The factors of new rows are a linear function of them; beside it, the model that it is of."""

    factors: Factors


def factors_of(model: Any) -> Factors:
    """The factors of a fitted model, in its unit."""
    factors: Factors = model.parts[0].placement.factors
    return factors

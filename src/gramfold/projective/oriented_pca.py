"""Oriented PCA: directions along which the signal varies much and the noise little.

    C = (1/m) Σ (x − mean)(x − mean)ᵀ;    R = (1/mN) Σ z zᵀ,  z = x̃ − x: what N distortions do to each row
    C n = q R n, largest q first;    y(x) = Nᵀ (x − mean), scaled so that nᵀ R n = 1

R is the correlation matrix of the noise, not its covariance: a distortion that always shifts alike is noise too. The
map is kernel PCA on K = (X − 1 meanᵀ) R⁻¹ (X − 1 meanᵀ)ᵀ. Burges, section 1.4, eqs (1.16) and (1.17); Diamantaras,
Kung, Principal Component Neural Networks (1996).
"""

from typing import Any

import numpy as np

from gramfold.embedding import method, parameter
from gramfold.errors import InputError
from gramfold.kernels.linear import mean_and_scatter
from gramfold.projective.distorted import read_distorted, read_matrix
from gramfold.projective.linear_projection import Projection
from gramfold.projective.oriented_axes import (
    SQUARES,
    noise_correlation,
    oriented_axes,
    padded,
    warn_of_invented,
)
from gramfold.projective.oriented_projection import OrientedProjection
from gramfold.projective.principal_axes import principal_axes
from gramfold.runtime.progress import Stages
from gramfold.types import Floats

_SOLVER = "dense (LAPACK), C n = q R n"


@method
class OrientedPCA(OrientedProjection):
    """Directions with the most signal for their noise; without any noise given, principal components.

    Coordinates are in units of the noise: along each column of the map its mean square is 1.

    Attributes
    ----------
    raised_ : int
        Along how many directions the noise was too small to be measured and was raised; see `reg`.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import OrientedPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 3)) * [1.0, 3.0, 1.0]
    >>> loud = X + rng.standard_normal((500, 3)) * [0.1, 3.0, 0.5]  # the second column is all noise
    >>> model = OrientedPCA(n_components=1).fit(X, X_distorted=loud)
    >>> np.abs(model.directions_).round(1)
    array([[1., 0., 0.]])
    """

    signal_covariance: Any = parameter(
        default=None,
        allowed=["array-like", None],
        words="""C, n_features × n_features; None takes that of the rows. `spectrum_` is of the Gram matrix of the map
        either way, but only with C of the rows are its eigenvectors the columns of the map.""",
    )
    noise_correlation: Any = parameter(
        default=None,
        allowed=["array-like", None],
        words="R, n_features × n_features, in the place of distorted rows. None and no such rows: white noise, R = I.",
    )

    def _projection(self, rows: Any, stages: Stages) -> Projection:
        noise = self._noise(rows)
        if noise is None and self.signal_covariance is None:
            principal = principal_axes(rows, self.n_components, n_jobs=self.n_jobs, moments=self._moments)
            self.raised_ = 0
            self.signal_to_noise_ = self._unit.outward(padded(principal.variances, self.n_components), 2)
            return Projection(
                principal.mean, principal.axes, principal.solver, scatter=principal.scatter, proved=principal.proved
            )
        mean, scatter = self._moments or mean_and_scatter(rows, self.n_jobs)
        d = len(mean)
        if self.signal_covariance is None:
            signal: Floats = scatter / len(rows)
        else:
            signal = read_matrix(self.signal_covariance, d, "signal_covariance")
        found = oriented_axes(signal, np.eye(d) if noise is None else noise, self.n_components, self.reg)
        warn_of_invented(found)
        # matrices that were given are in the user's unit, rows and distorted rows in the model's
        seen = int(self.signal_covariance is None) - int(self._knows_noise)
        self.raised_ = found.raised
        self.signal_to_noise_ = self._unit.outward(padded(found.quotients, self.n_components), 2 * seen)
        if self.signal_covariance is None:
            return Projection(mean, found.axes, _SOLVER, found.root, scatter)
        return Projection(mean, found.axes, _SOLVER, found.axes, eigen=False)

    def _noise(self, rows: Any) -> Floats | None:
        """R; None for white noise."""
        if self._given_noise is not None and self.noise_correlation is not None:
            raise InputError(
                "noise_correlation was given to the constructor and X_distorted to fit, which are two accounts of the "
                "same noise: give one of them."
            )
        if self.noise_correlation is not None:
            return read_matrix(self.noise_correlation, rows.shape[1], "noise_correlation")
        if self._given_noise is None:
            return None
        return noise_correlation(rows, self._unit.inward_new(read_distorted(self._given_noise, rows.shape)))

    def _memory(self, n: int, itemsize: int) -> float:
        # no such matrix is made where the noise is white
        white = self._given_noise is None and self.noise_correlation is None and self.signal_covariance is None
        squares = 0.0 if white else SQUARES * 8.0 * getattr(self, "_dense_columns", 0) ** 2
        return super()._memory(n, itemsize) + squares

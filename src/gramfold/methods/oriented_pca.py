"""Oriented PCA: directions along which the signal varies much and the noise little.

    C = (1/m) Σ (x − mean)(x − mean)ᵀ;    R = (1/mN) Σ z zᵀ,  z = x̃ − x: what N distortions do to each row
    C n = q R n, largest q first;    y(x) = Nᵀ (x − mean), scaled so that nᵀ R n = 1

R is the correlation matrix of the noise, not its covariance: a distortion that always shifts alike is noise too. The
map is kernel PCA on K = (X − 1 meanᵀ) R⁻¹ (X − 1 meanᵀ)ᵀ. Burges, section 1.4, eqs (1.16) and (1.17); Diamantaras,
Kung, Principal Component Neural Networks (1996).
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gramfold.embedding import (
    Embedding,
    Fit,
    Model,
    OrientedMap,
    Reads,
    Table,
    attribute,
    first_look,
    linear_model,
    method,
    parameter,
)
from gramfold.errors import InputError
from gramfold.kernels.linear import mean_and_scatter
from gramfold.kernels.oriented_axes import SQUARES, noise_correlation, oriented_axes, padded, warn_of_invented
from gramfold.kernels.principal_axes import principal_axes
from gramfold.kernels.projection import Projection, algebra_threads, onto, projected_rows
from gramfold.neighbors.distorted import is_given, read_distorted, read_matrix
from gramfold.types import Floats

_SOLVER = "dense (LAPACK), C n = q R n"


@dataclass(frozen=True)
class _Turned:
    """Directions, and what is known of the noise along them."""

    projection: Projection
    signal_to_noise: Floats  # (p,) in the user's unit
    raised: int  # directions along which the noise was


@method
class OrientedPCA(OrientedMap, Embedding):
    """Directions with the most signal for their noise; without any noise given, principal components.

    Coordinates are in units of the noise: along each column of the map its mean square is 1.

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

    raised_ = attribute(
        "int", "Along how many directions the noise was too small to be measured and was raised; see `reg`."
    )

    def fit(self, X: Any, y: Any = None, *, X_distorted: Any = None) -> Self:
        """Find the directions of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows as they should be: the signal.
        y : ignored
            Present for scikit-learn's sake.
        X_distorted : array-like of shape (n_samples, n_features) or (n_versions, n_samples, n_features)
            Each row again, distorted; or several such versions. None: white noise, which gives principal components.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, X_distorted=X_distorted)

    def fit_transform(self, X: Any, y: Any = None, *, X_distorted: Any = None) -> Floats:
        """Find the directions of the rows of X and return their map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            Present for scikit-learn's sake.
        X_distorted : array-like
            As for `fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        return self.fit(X, X_distorted=X_distorted).embedding_.copy()

    def _reads(self) -> Reads:
        return Reads(checked=False)

    def _build(self, fit: Fit) -> Model:
        distorted = fit.extras["X_distorted"]
        noisy = is_given(distorted)
        # no such matrix is made where the noise is white
        white = distorted is None and self.noise_correlation is None and self.signal_covariance is None
        squares = 0.0 if white else SQUARES * 8.0 * fit.X.shape[1] ** 2
        table = first_look(fit, beside=lambda n, itemsize: squares)
        with fit.stages("directions"), algebra_threads(fit.n_jobs):
            noise = self._noise(table, distorted)
            white = noise is None and self.signal_covariance is None
            turned = self._principal(table, fit) if white else self._oriented(table, noise, noisy, fit)
        made = projected_rows(table.rows, turned.projection, self.n_components, fit.stages, fit.n_jobs)
        found = {"signal_to_noise_": padded(turned.signal_to_noise, self.n_components), "raised_": turned.raised}
        # the map is in units of the noise; rows that are distorted are far from the clean ones, and what it is for
        asked = not noisy
        return linear_model(fit, table, made, degree=int(asked), found=found, outside=asked, flown=asked)

    def _principal(self, table: Table, fit: Fit) -> _Turned:
        """Without any noise."""
        axes = principal_axes(table.rows, self.n_components, n_jobs=fit.n_jobs, moments=table.moments)
        return _Turned(onto(axes), table.unit.outward(axes.variances, 2), 0)

    def _oriented(self, table: Table, noise: Floats | None, noisy: bool, fit: Fit) -> _Turned:
        """With R, which is the identity where it is not given."""
        mean, scatter = table.moments or mean_and_scatter(table.rows, fit.n_jobs)
        d, own = len(mean), self.signal_covariance is None
        signal = scatter / len(table.rows) if own else read_matrix(self.signal_covariance, d, "signal_covariance")
        found = oriented_axes(signal, np.eye(d) if noise is None else noise, self.n_components, self.reg)
        warn_of_invented(found)
        if own:
            projection = Projection(mean, found.axes, _SOLVER, found.root, scatter)
        else:
            projection = Projection(mean, found.axes, _SOLVER, found.axes, eigen=False)
        # matrices that were given are in the user's unit, rows and distorted rows in the model's
        return _Turned(projection, table.unit.outward(found.quotients, 2 * (int(own) - int(noisy))), found.raised)

    def _noise(self, table: Table, distorted: Any) -> Floats | None:
        """R; None for white noise."""
        if distorted is not None and self.noise_correlation is not None:
            raise InputError(
                "noise_correlation was given to the constructor and X_distorted to fit, which are two accounts of the "
                "same noise: give one of them."
            )
        if self.noise_correlation is not None:
            return read_matrix(self.noise_correlation, table.rows.shape[1], "noise_correlation")
        if distorted is None:
            return None
        return noise_correlation(table.rows, table.unit.inward_new(read_distorted(distorted, table.rows.shape)))

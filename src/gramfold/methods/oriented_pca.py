"""Oriented PCA: directions of largest signal-to-noise ratio.

    C = (1/m) Σ (x − mean)(x − mean)ᵀ;    R = (1/mN) Σ z zᵀ,  z = x̃ − x, over N distorted versions x̃ of each row
    C n = q R n, largest q first;    y(x) = Nᵀ (x − mean), scaled so that nᵀ R n = 1

R is the correlation matrix of the noise, not its covariance: a distortion that shifts all rows alike is noise too. The
map is kernel PCA on K = (X − 1 meanᵀ) R⁻¹ (X − 1 meanᵀ)ᵀ. Burges 2005, section 1.4, eqs (1.16) and (1.17);
Diamantaras, Kung, Principal Component Neural Networks (1996).
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
    """Directions, and the noise along them."""

    projection: Projection
    signal_to_noise: Floats  # (p,) in the user's unit
    raised: int  # number of directions along which the noise was raised


@method
class OrientedPCA(OrientedMap, Embedding):
    """Oriented PCA: linear projections with the largest ratio of signal variance to noise.

    The noise is given by distorted versions of the rows or by its correlation matrix; without either, the result is
    PCA. Coordinates are in units of the noise: along each component, the mean square of the noise is 1.

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

    unit_free = True  # variances are measured by those of the noise

    signal_covariance: Any = parameter(
        default=None,
        allowed=["array-like", None],
        words="""Covariance matrix C of the signal, of shape (n_features, n_features). None: the covariance of the rows
        of X. If C is given, the eigenvectors in `spectrum_` (of the Gram matrix of the embedding) are not the columns
        of `embedding_`.""",
    )
    noise_correlation: Any = parameter(
        default=None,
        allowed=["array-like", None],
        words="""Correlation matrix R of the noise, of shape (n_features, n_features), instead of distorted rows. None:
        R is computed from the distorted rows given to `fit`; without these the noise is white, R = I.""",
    )

    raised_ = attribute(
        "int", "Number of directions along which the noise was too small and was raised to the level that `reg` sets."
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, X_distorted: Any = None) -> Self:
        """Fit the model to the rows of X and their distorted versions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The undistorted rows: the signal.
        y : ignored
            Not used, present for API consistency with scikit-learn.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows and of their distorted versions, positive numbers: a row of weight 2 counts as if it
            were given twice. None: every row has the weight 1.
        X_distorted : array-like of shape (n_samples, n_features) or (n_versions, n_samples, n_features)
            A distorted version of each row, or several versions. None: white noise, which gives principal components.
            Of rows in partitions (Dask, or files streamed): a table in the same partitions, or a list of them.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight, X_distorted=X_distorted)

    def _reads(self) -> Reads:
        return Reads(checked=False)

    def _build(self, fit: Fit) -> Model:
        distorted = fit.extras["X_distorted"]
        noisy = self._is_noisy(distorted)
        # no such matrix is made where the noise is white
        white = distorted is None and self.noise_correlation is None and self.signal_covariance is None
        squares = 0.0 if white else SQUARES * 8.0 * fit.X.shape[1] ** 2
        table = first_look(fit, beside=lambda n, itemsize: squares)
        noise = None
        if distorted is not None:
            with fit.stages("directions"), algebra_threads(fit.n_jobs, fit.X):
                versions = table.unit.inward_new(read_distorted(distorted, table.rows.shape))
                noise = noise_correlation(table.rows, versions, fit.sample_weight)
        return self._map(fit, table, noise, noisy=noisy)

    def _map(self, fit: Fit, table: Table, noise: Floats | None, *, noisy: bool) -> Model:
        """The map with the noise of distorted rows; None: that of the parameters."""
        mass = fit.sample_weight
        if self.noise_correlation is not None:
            noise = read_matrix(self.noise_correlation, table.rows.shape[1], "noise_correlation")
        with fit.stages("directions"), algebra_threads(fit.n_jobs, fit.X):
            white = noise is None and self.signal_covariance is None
            turned = self._principal(table, fit) if white else self._oriented(table, noise, noisy, fit)
        made = projected_rows(table.rows, turned.projection, self.n_components, fit.stages, fit.n_jobs, mass=mass)
        found = {"signal_to_noise_": padded(turned.signal_to_noise, self.n_components), "raised_": turned.raised}
        # the map is in units of the noise; distorted rows are far from the clean ones, but are what it is made for
        asked = not noisy
        return linear_model(fit, table, made, degree=int(asked), found=found, outside=asked, flown=asked)

    def _is_noisy(self, distorted: Any) -> bool:
        """Whether distorted rows define the noise."""
        if distorted is not None and self.noise_correlation is not None:
            raise InputError(
                "noise_correlation and X_distorted were both given, but each of them defines the noise: give only one "
                "of them."
            )
        return is_given(distorted)

    def _principal(self, table: Table, fit: Fit) -> _Turned:
        """Without any noise."""
        rows, mass = table.rows, fit.sample_weight
        axes = principal_axes(rows, self.n_components, n_jobs=fit.n_jobs, moments=table.moments, mass=mass)
        return _Turned(onto(axes), table.unit.outward(axes.variances, 2), 0)

    def _oriented(self, table: Table, noise: Floats | None, noisy: bool, fit: Fit) -> _Turned:
        """With R, which is the identity where it is not given."""
        mean, scatter = table.moments or mean_and_scatter(table.rows, fit.n_jobs, fit.sample_weight)
        d, own = len(mean), self.signal_covariance is None
        signal = scatter / fit.total if own else read_matrix(self.signal_covariance, d, "signal_covariance")
        found = oriented_axes(signal, np.eye(d) if noise is None else noise, self.n_components, self.reg)
        warn_of_invented(found)
        if own:
            projection = Projection(mean, found.axes, _SOLVER, found.root, scatter)
        else:
            projection = Projection(mean, found.axes, _SOLVER, found.axes, eigen=False)
        # matrices that were given are in the user's unit, rows and distorted rows in the model's
        return _Turned(projection, table.unit.outward(found.quotients, 2 * (int(own) - int(noisy))), found.raised)

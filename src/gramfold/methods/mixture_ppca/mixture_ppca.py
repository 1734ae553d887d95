"""Mixture of probabilistic PCA: a Gaussian mixture model with a principal plane for each component.

    p(x) = Σ π_k N(x; m_k, W_k W_kᵀ + σ_k² I);    r_k(x) = π_k N_k(x) / p(x)
    x̂(x) = Σ r_k(x) (m_k + U_k U_kᵀ (x − m_k)): the reconstruction of a row by the planes
    map: y(x) = Aᵀ (x̂(x) − mean), A the principal axes of the x̂ of the training rows

Coordinates within one plane cannot be compared with those within another (`projections` returns all of them). The map
shows all planes in one frame: kernel PCA with K the Gram matrix of the reconstructed rows. The inverse of y is the
conditional mean E[x | y] of the model: on plane k, E[t | y] for t ~ N(0, Λ_k) and y = Aᵀ (m_k + U_k t − mean) + noise,
weighted by the responsibility of the plane at y. Tipping, Bishop, Neural Computation 11 (1999); Burges 2005,
section 1.2.
"""

from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import (
    Embedding,
    Fit,
    LinearMap,
    Model,
    Reads,
    Table,
    attribute,
    first_look,
    linear_model,
    method,
    parameter,
)
from gramfold.kernels.principal_axes import principal_axes
from gramfold.kernels.projection import algebra_threads, onto, projected_rows
from gramfold.methods.mixture_ppca.mixture import Mixture
from gramfold.methods.mixture_ppca.planes import PlanesPlacement, PlanesWay, mixture_of, planes_of
from gramfold.methods.mixture_ppca.steps import SQUARES, Starts, Steps, expected
from gramfold.methods.mixture_ppca.trials import Chosen, Trials, numbers_of_planes
from gramfold.neighbors.units import Unit
from gramfold.types import Floats


@method
class MixturePPCA(LinearMap, Embedding):
    """Mixture of probabilistic PCA: several local planes, fitted by EM and shown in one embedding.

    `score` is the mean log-likelihood of the rows. `inverse_error()` is the error of reconstructing the training rows
    from their embedding; it is not cross-validated.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import MixturePPCA
    >>> rng = np.random.default_rng(0)
    >>> flat = rng.standard_normal((300, 2))
    >>> X = np.hstack([flat, np.zeros((300, 2))]) + 0.01 * rng.standard_normal((300, 4))
    >>> X[150:] = X[150:, ::-1] + 3  # another plane
    >>> model = MixturePPCA(n_components=2, n_planes=2).fit(X)
    >>> model.responsibilities(X)[[0, 299]].round().tolist() in ([[1, 0], [0, 1]], [[0, 1], [1, 0]])
    True
    """

    n_planes: int | Literal["bic"] = parameter(
        default=2,
        allowed=[Interval(Integral, 1, None, closed="left"), StrOptions({"bic"})],
        words="""Number of planes, each of `n_components` dimensions. "bic": the number, from 1 to `max_planes`, with
        the smallest Bayesian information criterion.""",
    )
    max_planes: int = parameter(
        default=10,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words='Maximum number of planes for n_planes="bic".',
    )
    n_init: int = parameter(
        default=4,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="""Number of initialisations by k-means. After 5 EM iterations only the one with the largest likelihood is
        continued.""",
    )
    max_iter: int = parameter(
        default=300,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Maximum number of EM iterations; reaching it gives a NotConvergedWarning.",
    )
    tol: float = parameter(
        default=1e-4,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="""Convergence tolerance: EM stops when an iteration raises the mean log-likelihood of the rows by less
        than this.""",
    )
    least_noise: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, 1, closed="neither")],
        words="""Lower bound of the noise variance of each plane, relative to that of a single plane fitted to all rows.
        Without a bound the likelihood would be unbounded, because a plane can collapse onto a few rows.""",
    )

    n_planes_ = attribute("int", "Number of planes.", lambda model: len(mixture_of(model).planes))
    planes_ = attribute(
        "list of Plane",
        """The planes, each with its `mean` (n_features,), orthonormal `axes` (n_features, n_components), `variances`
        along the axes and `noise` variance.""",
        planes_of,
    )
    shares_ = attribute(
        "ndarray of shape (n_planes_,)",
        "Mixture weight of each plane: the share of the rows that belong to it.",
        lambda model: mixture_of(model).shares,
    )
    n_iter_ = attribute("int", "Number of EM iterations.", lambda model: len(model.found["log_likelihoods_"]))
    log_likelihoods_ = attribute(
        "ndarray of shape (n_iter_,)", "Log-likelihood of the training rows before each iteration."
    )
    bic_ = attribute("dict", "Bayesian information criterion of the training rows, for each number of planes tried.")

    # --- fit

    def _reads(self) -> Reads:
        return Reads(checked=False)

    def _build(self, fit: Fit) -> Model:
        most = self.max_planes if self.n_planes == "bic" else self.n_planes
        d, n, mass = fit.X.shape[1], fit.total, fit.sample_weight
        # the reconstructed rows, which are kept, and the covariances
        table = first_look(fit, beside=lambda n, itemsize: float(n) * itemsize * d + 8.0 * SQUARES * most * d**2)
        with fit.stages("model"), algebra_threads(fit.n_jobs, fit.X):
            trials = Trials.of(self)
            whole = trials.whole(table.rows, table.moments, fit.n_jobs, mass)
            starts = Starts(table.rows, whole, fit.n_jobs, mass)
            steps = Steps(
                partial(expected, table.rows, n_jobs=fit.n_jobs, mass=mass), n, whole.floor, self.tol, fit.stages
            )
            tried = trials.each(starts, steps, numbers_of_planes(table.rows, self.n_planes, self.max_planes), fit.rng)
            chosen = Chosen.of(tried, n, self.n_planes)
            rebuilt = chosen.mixture.rebuilt(table.rows)
        return self._map(fit, table, chosen, rebuilt)

    def _map(self, fit: Fit, table: Table, chosen: Chosen, rebuilt: Floats) -> Model:
        """The map of the rows that were rebuilt by the planes."""
        n, mass, mixture = fit.total, fit.sample_weight, chosen.mixture
        with fit.stages("directions"), algebra_threads(fit.n_jobs, fit.X):
            axes = principal_axes(rebuilt, self.n_components, n_jobs=fit.n_jobs, mass=mass)
        made = projected_rows(rebuilt, onto(axes), self.n_components, fit.stages, fit.n_jobs, mass=mass)
        likelier = mixture.log_unit(table.unit)
        return linear_model(
            fit,
            table,
            made,
            degree=1,
            rows=table.rows,  # the rows themselves, not their reconstructions
            found={
                "log_likelihoods_": np.array(chosen.history) - n * likelier,
                "bic_": {count: value + 2.0 * n * likelier for count, value in chosen.criteria.items()},
            },
            placement=PlanesPlacement(mixture.contiguous(), made.mean, made.directions),
            own=PlanesWay(),
            flown=False,
        )

    # --- the density

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            log Σ π_k N_k(x).
        """
        mixture, unit, rows = self._planes_and_rows(X)
        return mixture.log_density(rows) - mixture.log_unit(unit)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : ignored
            Not used, present for API consistency with scikit-learn.

        Returns
        -------
        log_likelihood : float
            Mean log-likelihood; larger is better.
        """
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Bayesian information criterion of the model on X; smaller is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        bic : float
            n_parameters · log n − 2 log-likelihood.
        """
        values = self.score_samples(X)
        return mixture_of(self.model_).criterion(float(values.sum()), len(values))

    def responsibilities(self, X: Any) -> Floats:
        """Posterior probability of each plane for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        responsibilities : ndarray of shape (n_samples, n_planes_)
            r_k(x); each row sums to 1.
        """
        mixture, _, rows = self._planes_and_rows(X)
        return mixture.responsibilities(rows)

    def projections(self, X: Any) -> Floats:
        """Coordinates of each row within each plane, relative to its mean and along its axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_planes_, n_components)
            U_kᵀ (x − m_k).
        """
        mixture, unit, rows = self._planes_and_rows(X)
        return np.asarray(unit.outward(mixture.projections(rows)))

    def reconstruct(self, X: Any) -> Floats:
        """Reconstruct rows by their projections on all planes, weighted by the responsibilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        reconstructed : ndarray of shape (n_samples, n_features)
            Reconstructed rows x̂(x).
        """
        mixture, unit, rows = self._planes_and_rows(X)
        return np.asarray(unit.outward(mixture.rebuilt(rows)))

    def _planes_and_rows(self, X: Any) -> tuple[Mixture, Unit, Floats]:
        """The planes, and rows in their unit."""
        model, rows = self._read(X)
        return mixture_of(model), model.source.unit, model.source.unit.inward_new(rows)

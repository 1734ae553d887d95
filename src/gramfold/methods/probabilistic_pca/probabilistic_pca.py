"""Probabilistic PCA: a Gaussian about a plane, fitted in closed form, or by EM to rows with missing values.

    x = W z + mean + ε;    W = U (Λ − σ² I)^½,  σ² = mean of the discarded λ;    y(x) = E[z | x] = Λ⁻¹ Wᵀ (x − mean)

The map has the scale of the latent points. It is kernel PCA with K_ij = ⟨E z_i, E z_j⟩, whose eigenvalues are
n (λ − σ²)/λ. Missing values: missing_values.py; the number of dimensions: kernels/evidence.py.
Tipping, Bishop, Journal of the Royal Statistical Society B 61 (1999); Burges 2005, section 1.2 (eq 1.8 lacks the root).
"""

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state
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
from gramfold.embedding.reading import check_count
from gramfold.kernels.projection import Projection, algebra_threads, projected_rows
from gramfold.methods.probabilistic_pca.latent_plane import LatentPlane, LatentPosterior
from gramfold.methods.probabilistic_pca.learning import (
    Dimensions,
    LearnedPlane,
    most_evident,
    plane_of_all,
    plane_of_gaps,
    stand_out,
    uncorrelated,
)
from gramfold.methods.probabilistic_pca.missing_values import has_gaps
from gramfold.neighbors.units import Unit
from gramfold.types import Floats


@method
class ProbabilisticPCA(LinearMap, Embedding):
    """Probabilistic PCA: PCA as a Gaussian model with a likelihood; X may have missing values.

    `score` is the mean log-likelihood of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from gramfold import ProbabilisticPCA
    >>> X = load_iris().data
    >>> X[::7, 1] = np.nan
    >>> model = ProbabilisticPCA(n_components=2).fit(X)
    >>> bool(np.isnan(model.impute(X)).any())
    False
    """

    n_components: int | Literal["evidence"] = parameter(  # type: ignore[assignment]
        default=2,
        allowed=[Interval(Integral, 1, None, closed="left"), StrOptions({"evidence"})],
        words="""Number of components. "evidence": the number with the largest Bayesian evidence (Minka 2001).""",
        kw_only=False,
    )
    max_iter: int = parameter(
        default=500,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Maximum number of EM iterations. Used only if X has missing values.",
    )
    tol: float = parameter(
        default=1e-6,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="""Convergence tolerance: EM stops when an iteration raises the log-likelihood per value by less than
        this. Used only if X has missing values.""",
    )

    n_components_ = attribute("int", "Number of components.")
    weights_ = attribute(
        "ndarray of shape (n_features, n_components_)", "Loadings W of the model x = W z + mean + noise."
    )
    noise_variance_ = attribute("float", "Variance σ² of the noise.")
    explained_variance_ratio_ = attribute(
        "ndarray of shape (n_components_,)",
        "Share of the total variance of the model along each of its principal axes.",
    )
    log_evidence_ = attribute(
        "ndarray or None",
        """Log evidence of 1, 2, … components if n_components="evidence", otherwise None. It is infinite for a number of
        components that leaves no noise.""",
    )
    n_iter_ = attribute("int", "Number of EM iterations; 1 without missing values.")
    log_likelihoods_ = attribute(
        "ndarray of shape (n_iter_,) or None",
        "Log-likelihood of the training rows before each iteration. None without missing values.",
    )

    # --- fit

    def _reads(self) -> Reads:
        return Reads(missing=True, checked=False)

    def _build(self, fit: Fit) -> Model:
        table = first_look(fit, dimensions=1)
        with fit.stages("model"), algebra_threads(fit.n_jobs, fit.X):
            number = self.n_components
            chosen = most_evident(table, fit) if number == "evidence" else Dimensions(number)
            count = chosen.count
            if table.gaps:
                learned = plane_of_gaps(table, count, fit, self.max_iter, self.tol)
            else:
                learned = plane_of_all(table, count, fit)
            rows = LatentPlane(learned.plane, learned.plane.weights).fill(table.rows)
        return self._map(fit, table, rows, chosen, learned)

    def _map(self, fit: Fit, table: Table, rows: Floats, chosen: Dimensions, learned: LearnedPlane) -> Model:
        """The map of rows whose gaps the plane has filled."""
        plane, unit, count = learned.plane, table.unit, chosen.count
        with fit.stages("directions"), algebra_threads(fit.n_jobs, fit.X):
            directions = (
                uncorrelated(plane, rows, fit.sample_weight) if learned.log_likelihoods is not None else plane.latent
            )
            projection = Projection(plane.mean, directions, learned.solver, directions, learned.scatter)
        made = projected_rows(rows, projection, count, fit.stages, fit.n_jobs, stand_out, fit.sample_weight)
        weights = plane.axes @ (plane.variances[:, None] * (plane.axes.T @ made.directions))  # W = C · W M⁻¹
        found = {
            "n_components_": count,
            "weights_": unit.outward(weights),
            "noise_variance_": float(unit.outward(plane.noise, 2)),
            "explained_variance_ratio_": plane.variances / (plane.total or 1.0),
            "log_evidence_": chosen.log_evidence,
            "n_iter_": learned.n_iter,
            "log_likelihoods_": learned.log_likelihoods,
        }
        return linear_model(fit, table, made, degree=0, found=found, filling=LatentPlane(plane, weights))

    # --- the density

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of the known values of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN for missing values.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            log N(x; mean_, W Wᵀ + σ² I).
        """
        latent, unit, rows = self._latent(X)
        values = latent.log_density(rows)
        return values - (~np.isnan(rows)).sum(axis=1) * _log_unit(unit) if unit.power else values

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN for missing values.
        y : ignored
            Not used, present for API consistency with scikit-learn.

        Returns
        -------
        log_likelihood : float
            Mean log-likelihood; larger is better.
        """
        return float(self.score_samples(X).mean())

    def posterior(self, X: Any) -> LatentPosterior:
        """Posterior distribution of the latent points of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN for missing values.

        Returns
        -------
        posterior : LatentPosterior
            Gaussian posterior with `mean` of shape (n_samples, n_components_), which `transform` returns, and
            `covariance` of shape (n_samples, n_components_, n_components_).
        """
        latent, _, rows = self._latent(X)
        model: Model = self._model()
        if has_gaps(rows):
            found = latent.posterior(rows)
        else:
            (part,), p = model.parts, latent.weights.shape[1]
            covariance = np.broadcast_to(latent.covariance(), (len(rows), p, p))
            found = LatentPosterior(part.placement.place(rows, part, None), covariance)
        frame = model.alignment
        if frame is None:
            return found
        return LatentPosterior(frame.outward(found.mean, np.float64), frame.outward_covariance(found.covariance))

    def impute(self, X: Any) -> Floats:
        """Fill in missing values by their conditional mean given the known values of the row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN for missing values.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features)
            The rows without missing values. A row without any known value becomes the mean.
        """
        latent, unit, rows = self._latent(X)
        return np.asarray(unit.outward(latent.filled(rows)))

    def sample(self, n_samples: int = 1, random_state: Any = 0) -> Floats:
        """Draw rows from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState instance or None, default=0
            Seed or random number generator.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Rows mean_ + W z + ε.
        """
        model = self._model()
        drawn = _plane_of(model).sample(check_count(n_samples, "n_samples"), check_random_state(random_state))
        return np.asarray(model.source.unit.outward(drawn)).astype(model.embedding.dtype, copy=False)

    def _latent(self, X: Any) -> tuple[LatentPlane, Unit, Floats]:
        """The plane, and rows in its unit."""
        model, rows = self._read(X)
        return _plane_of(model), model.source.unit, model.source.unit.inward_new(rows)


def _plane_of(model: Any) -> LatentPlane:
    latent: LatentPlane = model.source.filling
    return latent


def _log_unit(unit: Unit) -> float:
    """Log-density of a value in the model's unit minus that in the user's."""
    return float(np.log(2.0)) * unit.power

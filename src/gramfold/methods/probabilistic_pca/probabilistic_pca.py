"""Probabilistic PCA: a Gaussian about a plane, its likelihood in closed form, or from rows with gaps.

    x = W z + mean + ε;    W = U (Λ − σ² I)^½,  σ² = mean of the discarded λ;    y(x) = E[z | x] = Λ⁻¹ Wᵀ (x − mean)

The map has the latent points' own scale. It is kernel PCA with K_ij = ⟨E z_i, E z_j⟩, whose eigenvalues are
n (λ − σ²)/λ. Missing values: missing_values.py; the number of dimensions: kernels/evidence.py.
Tipping, Bishop, Journal of the Royal Statistical Society B 61 (1999); Burges, section 1.2 (eq 1.8 lacks the root).
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
    attribute,
    first_look,
    linear_model,
    method,
    parameter,
)
from gramfold.kernels.projection import Projection, algebra_threads, projected_rows
from gramfold.methods.probabilistic_pca.latent_plane import LatentPlane, LatentPosterior
from gramfold.methods.probabilistic_pca.learning import (
    Dimensions,
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
    """Probabilistic PCA: PCA with a likelihood, for tables that may have gaps.

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
        words="""Dimensions of the map; "evidence" takes the number for which the Bayesian evidence is largest.""",
        kw_only=False,
    )
    max_iter: int = parameter(
        default=500,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Steps at most, where values are missing; without gaps there is nothing to iterate.",
    )
    tol: float = parameter(
        default=1e-6,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="Steps end when one adds less than this to the log-likelihood per value.",
    )

    n_components_ = attribute("int", "Dimensions of the map.")
    weights_ = attribute("ndarray of shape (n_features, n_components_)", "W.")
    noise_variance_ = attribute("float", "σ².")
    explained_variance_ratio_ = attribute(
        "ndarray of shape (n_components_,)", "λ of each principal axis of the model, beside its total variance."
    )
    log_evidence_ = attribute(
        "ndarray or None",
        """Of 1, 2, … dimensions, where the number was left to it; infinite for as many as the rows have without any
        noise.""",
    )
    n_iter_ = attribute("int", "Steps taken; 1 without gaps.")
    log_likelihoods_ = attribute(
        "ndarray of shape (n_iter_,)", "Of the training rows before each step; None without gaps."
    )

    # --- fit

    def _reads(self) -> Reads:
        return Reads(missing=True, checked=False)

    def _build(self, fit: Fit) -> Model:
        table = first_look(fit, dimensions=1)
        unit = table.unit
        with fit.stages("model"), algebra_threads(fit.n_jobs):
            number = self.n_components
            chosen = most_evident(table, fit.n_jobs) if number == "evidence" else Dimensions(number)
            count = chosen.count
            if table.gaps:
                learned = plane_of_gaps(table, count, fit, self.max_iter, self.tol)
            else:
                learned = plane_of_all(table, count, fit.n_jobs)
            plane = learned.plane
            rows = LatentPlane(plane, plane.weights).fill(table.rows)
        with fit.stages("directions"), algebra_threads(fit.n_jobs):
            directions = uncorrelated(plane, rows) if learned.log_likelihoods is not None else plane.latent
            projection = Projection(plane.mean, directions, learned.solver, directions, learned.scatter)
        made = projected_rows(rows, projection, count, fit.stages, fit.n_jobs, stand_out)
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
        """Log-likelihood of each row; of its seen values, where some are missing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, NaN where a value is missing.

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
            Rows, NaN where a value is missing.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        log_likelihood : float
            The larger, the better the model foretells them.
        """
        return float(self.score_samples(X).mean())

    def posterior(self, X: Any) -> LatentPosterior:
        """What rows say about their latent points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, NaN where a value is missing.

        Returns
        -------
        posterior : LatentPosterior
            Its `mean` (n_samples, n_components_), which is what `transform` gives, and `covariance`
            (n_samples, n_components_, n_components_).
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
        """Fill in missing values by their mean given the others of the row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, NaN where a value is missing.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features)
            The same rows without gaps; a row of which nothing is known is the mean.
        """
        latent, unit, rows = self._latent(X)
        return np.asarray(unit.outward(latent.filled(rows)))

    def sample(self, n_samples: int = 1, random_state: Any = 0) -> Floats:
        """Draw rows from the model.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=0
            Draws them.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            mean_ + W z + ε.
        """
        model = self._model()
        drawn = _plane_of(model).sample(n_samples, check_random_state(random_state))
        return np.asarray(model.source.unit.outward(drawn)).astype(model.embedding.dtype, copy=False)

    def _latent(self, X: Any) -> tuple[LatentPlane, Unit, Floats]:
        """The plane, and rows in its unit."""
        model, rows = self._read(X)
        return _plane_of(model), model.source.unit, model.source.unit.inward_new(rows)


def _plane_of(model: Any) -> LatentPlane:
    latent: LatentPlane = model.source.filling
    return latent


def _log_unit(unit: Unit) -> float:
    """By what a value in the model's unit is likelier."""
    return float(np.log(2.0)) * unit.power

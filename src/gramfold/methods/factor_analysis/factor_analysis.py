"""Factor analysis: a few common factors, and noise of each column's own size.

    x = W z + mean + ε,  z ~ N(0, I),  ε ~ N(0, Ψ), Ψ diagonal
    y(x) = E[z | x] = (I + Wᵀ Ψ⁻¹ W)⁻¹ Wᵀ Ψ⁻¹ (x − mean)

W and Ψ of largest likelihood: likelihood.py. It is kernel PCA with K_ij = ⟨E z_i, E z_j⟩, whose eigenvalues are
n (λ − 1)/λ for the leading λ of Ψ^-½ S Ψ^-½. The unit of a column does not matter. With the same noise in all columns
it is probabilistic PCA. Burges, section 1.2, eq (1.7); Spearman, American Journal of Psychology 15 (1904).
"""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

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
from gramfold.embedding.degenerate import warn_of_degenerate_map
from gramfold.embedding.reading import check_count
from gramfold.errors import RankWarning
from gramfold.extension.extrapolation import EUCLIDEAN
from gramfold.kernels.plain_map import rows_by
from gramfold.kernels.plane import LOG_TWO_PI, Plane
from gramfold.kernels.projection import ProjectedRows, Projection, algebra_threads, projected_rows
from gramfold.methods.factor_analysis.factors import FactorPlacement, Factors, factors_of
from gramfold.methods.factor_analysis.likelihood import Search
from gramfold.methods.factor_analysis.rotation import Rotation, simple_structure
from gramfold.methods.factor_analysis.standardized import Standardized, memory, standardized
from gramfold.runtime.counting import counted, last_columns_are
from gramfold.runtime.warning import warn
from gramfold.spectral.canonical import signs_of
from gramfold.types import Floats, Integers

_SOLVER = "largest likelihood, L-BFGS-B"
_NAMED = 12  # columns in one sentence
REMEDY = "leaving out columns that hardly vary, another n_components, or a larger least_noise"


@method
class FactorAnalysis(LinearMap, Embedding):
    """Factor analysis: latent factors of the columns, with a noise variance for each column.

    `score` is the mean log-likelihood of the rows. `components_` is the map; scikit-learn's `components_` are the
    loadings, here `loadings_` (transposed).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramfold import FactorAnalysis
    >>> X = load_wine().data  # columns in very different units
    >>> model = FactorAnalysis(n_components=2).fit(X)
    >>> model.embedding_.shape
    (178, 2)
    >>> model.communalities_[[5, 6]].round(2)  # phenols and flavanoids have most of their variance in common
    array([0.8 , 0.92])
    """

    unit_free = True  # each column has a noise of its own

    rotation: Rotation | None = parameter(
        default=None,
        allowed=[StrOptions({"varimax", "quartimax"}), None],
        words="""Orthogonal rotation of the factors towards simple structure (few large loadings for each column),
        computed for standardised columns. None: coordinates are uncorrelated, in order of decreasing variance.""",
    )
    least_noise: float = parameter(
        default=1e-6,
        allowed=[Interval(Real, 1e-10, 1, closed="left")],
        words="""Lower bound of the noise variance of a column, as a fraction of its variance. It keeps the likelihood
        bounded where columns are linearly dependent.""",
    )
    n_init: int = parameter(
        default=2,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="""Number of starting points, of which the result of largest likelihood is kept. The first is from squared
        multiple correlations, the second has equal noise, the others are random.""",
    )
    max_iter: int = parameter(
        default=1000,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Maximum number of iterations, for each starting point.",
    )
    tol: float = parameter(
        default=1e-10,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="""Tolerance of the gradient of the mean log-likelihood with respect to the logarithms of the noise
        variances.""",
    )

    loadings_ = attribute("ndarray of shape (n_features, n_components)", "Factor loadings W.")
    noise_variance_ = attribute(
        "ndarray of shape (n_features,)", "Noise variance of each column, the diagonal of Ψ; 0 for a constant column."
    )
    communalities_ = attribute(
        "ndarray of shape (n_features,)",
        "Fraction of the variance of each column that the factors explain; 0 for a constant column.",
    )
    posterior_covariance_ = attribute(
        "ndarray of shape (n_components, n_components)",
        "Posterior covariance of the factors given a row, (I + Wᵀ Ψ⁻¹ W)⁻¹, the same for all rows.",
    )
    n_iter_ = attribute("int", "Number of iterations from the starting point that was kept.")
    log_likelihoods_ = attribute(
        "ndarray of shape (n_iter_,)", "Log-likelihood of the training rows after each iteration."
    )

    # --- fit

    def _reads(self) -> Reads:
        return Reads(checked=False)

    def _build(self, fit: Fit) -> Model:
        table, mass = first_look(fit, beside=lambda n, itemsize: memory(n, fit.X.shape[1])), fit.sample_weight
        with fit.stages("model"), algebra_threads(fit.n_jobs, fit.X):
            columns = standardized(table, fit.n_jobs, fit.sample_weight)
            factors, history = self._likeliest(columns, len(table.rows), fit)
        with fit.stages("directions"):
            directions = factors.directions
            projection = Projection(factors.mean, directions, _SOLVER, directions, columns.scatter)
        made = projected_rows(table.rows, projection, self.n_components, fit.stages, fit.n_jobs, _stand_out, mass)
        if self.rotation is not None:
            made = _turned(made, factors, columns.deviations, self.rotation)
        unit, loadings = table.unit, factors.covariance_times(made.directions)  # W = (W Wᵀ + Ψ) · directions
        shift = factors.varies.sum() * float(np.log(2.0)) * unit.power
        found = {
            "loadings_": unit.outward(loadings),
            "noise_variance_": unit.outward(np.square(factors.noise), 2),
            "communalities_": _communalities(factors, columns.deviations),
            "posterior_covariance_": np.eye(self.n_components) - loadings.T @ made.directions,
            "n_iter_": len(history),
            "log_likelihoods_": history - fit.total * shift,
        }
        placement = FactorPlacement(made.mean, made.directions, factors)
        model = linear_model(fit, table, made, degree=0, found=found, placement=placement)
        if fit.seen is None:  # nobody judges a map of stand-ins
            warn_of_degenerate_map(model.embedding, rows_by(EUCLIDEAN, table.rows), REMEDY, keeps_neighbors=False)
        return model

    def _likeliest(self, columns: Standardized, n: int, fit: Fit) -> tuple[Factors, Floats]:
        """The factors, and the log-likelihood of the rows on the way to them."""
        deviations = columns.deviations[columns.deviations > 0]
        m = len(deviations)
        if m == 0:
            empty = Plane(np.empty(0), np.empty((0, 0)), np.empty(0), 1.0)
            return Factors(columns.mean, columns.deviations, empty), np.zeros(1)
        count = min(self.n_components, m, n - 1)
        search = Search(columns.correlations, count, self.least_noise, self.n_init, self.max_iter, self.tol)
        found = search.likeliest(fit.rng)
        _warn_of_noiseless(np.flatnonzero(columns.deviations)[found.noiseless], fit.columns.shown, count)
        values, vectors = columns.correlations.leading(found.shares, count)
        noise = np.zeros(len(columns.mean))
        noise[columns.deviations > 0] = deviations * np.sqrt(found.shares)
        plane = Plane(np.zeros(m), vectors, values, 1.0)
        history = fit.total * (found.history - 0.5 * m * LOG_TWO_PI - np.log(deviations).sum())
        return Factors(columns.mean, noise, plane), history

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
            log N(x; mean_, W Wᵀ + Ψ), of the columns that vary in the training rows.
        """
        model, rows = self._read(X)
        factors, unit = factors_of(model), model.source.unit
        shift = factors.varies.sum() * float(np.log(2.0)) * unit.power  # a density is one of the user's unit
        return np.asarray(factors.log_density(unit.inward_new(rows)) - shift)

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
            The larger, the better the model predicts them.
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = 0) -> Floats:
        """Draw rows from the model.

        Parameters
        ----------
        n_samples : int, default=1
            The number of rows.
        random_state : int, RandomState instance or None, default=0
            Seed of the random number generator.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            mean_ + W z + ε.
        """
        model = self._model()
        drawn = factors_of(model).sample(check_count(n_samples, "n_samples"), check_random_state(random_state))
        return np.asarray(model.source.unit.outward(drawn)).astype(model.embedding.dtype, copy=False)


def _turned(made: ProjectedRows, factors: Factors, deviations: Floats, kind: Rotation) -> ProjectedRows:
    """The same map with its factors rotated."""
    found, varies = len(made.spectrum), factors.varies
    loadings = factors.covariance_times(made.directions[:, :found])[varies] / deviations[varies, None]
    turn = np.eye(made.places.shape[1])  # columns of zeros stay
    turn[:found, :found] = simple_structure(loadings, kind)
    places = made.places @ turn
    turn = turn * signs_of(places)
    return replace(made, directions=made.directions @ turn, places=made.places @ turn)


def _communalities(factors: Factors, deviations: Floats) -> Floats:
    """1 − the share of the noise."""
    varies = deviations > 0
    return np.where(varies, 1.0 - np.square(factors.noise / np.where(varies, deviations, 1.0)), 0.0)


def _warn_of_noiseless(columns: Integers, names: Sequence[str] | None, count: int) -> None:
    """Say so where the likelihood has no upper bound."""
    if not columns.size:
        return
    called = ", ".join(str(one) if names is None else f"'{names[one]}'" for one in columns[:_NAMED])
    more = f" and {len(columns) - _NAMED:,} more" if len(columns) > _NAMED else ""
    warn(
        f"columns {called}{more} of X are linearly dependent, and n_components={count} factors explain them without "
        "noise: the likelihood is unbounded and was limited by least_noise. Leave some of these columns out, or use "
        "fewer factors.",
        RankWarning,
    )


def _stand_out(positive: int, asked: int) -> str:
    """Say that the last columns of a map are zero."""
    return (
        f"n_components={asked}, but the likelihood supports only {counted(positive, 'factor')}: "
        f"{last_columns_are(asked - positive)} zero."
    )

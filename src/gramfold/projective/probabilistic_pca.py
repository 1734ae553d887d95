"""Probabilistic PCA: a Gaussian about a plane, its likelihood in closed form, or from rows with gaps.

    x = W z + mean + ε;    W = U (Λ − σ² I)^½,  σ² = mean of the discarded λ;    y(x) = E[z | x] = Λ⁻¹ Wᵀ (x − mean)

The map has the latent points' own scale. It is kernel PCA with K_ij = ⟨E z_i, E z_j⟩, whose eigenvalues are
n (λ − σ²)/λ. Missing values: projective/missing_values.py; the number of dimensions: projective/evidence.py.
Tipping, Bishop, Journal of the Royal Statistical Society B 61 (1999); Burges, section 1.2 (eq 1.8 lacks the root).
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gramfold.embedding import Piece, method, parameter
from gramfold.errors import InputError, RankWarning
from gramfold.kernels.linear import project
from gramfold.projective.evidence import log_evidence
from gramfold.projective.linear_projection import LinearProjection, Projection
from gramfold.projective.missing_values import LoosePlane, fit_missing, has_gaps, warn_of_empty, with_means
from gramfold.projective.plane import Plane
from gramfold.projective.principal_axes import PrincipalAxes, principal_axes
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

_LEAST_NOISE = 1e-12  # of the mean variance of a column: rows that lie in the plane exactly have no density
_LEAST_NOISE_OF_GAPS = 1e-9  # the same where values are missing: M = W_oᵀ W_o + σ² I is solved


@dataclass(frozen=True)
class LatentPosterior:
    """What rows say about their latent points: N(mean, covariance) each."""

    mean: Floats  # (n, p)
    covariance: Floats  # (n, p, p); read-only, one matrix for all, where no value is missing


@method
class ProbabilisticPCA(LinearProjection):
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

    _attributes: ClassVar[str] = """
    n_components_ : int
        Dimensions of the map.
    weights_ : ndarray of shape (n_features, n_components_)
        W.
    noise_variance_ : float
        σ².
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        λ of each principal axis of the model, beside its total variance.
    log_evidence_ : ndarray or None
        Of 1, 2, … dimensions, where the number was left to it; infinite for as many as the rows have without any noise.
    n_iter_ : int
        Steps taken; 1 without gaps.
    log_likelihoods_ : ndarray of shape (n_iter_,)
        Of the training rows before each step; None without gaps.
    """

    # --- fit

    @property
    def _allows_missing(self) -> bool:
        return True

    @property
    def _degree(self) -> int:
        return 0

    @property
    def _dimensions(self) -> int:
        return getattr(self, "n_components_", 1) if self.n_components == "evidence" else int(self.n_components)

    def _check_components(self, n: int) -> None:
        if self.n_components != "evidence":  # which never asks for too many
            super()._check_components(n)

    def _learn(self, rows: Any, stages: Stages) -> Any:
        self.log_evidence_: Floats | None = None
        self.log_likelihoods_: Floats | None = None
        self._scatter: Floats | None = None
        gaps = self._has_missing
        self.n_components_ = self._most_evident(rows, gaps) if self.n_components == "evidence" else self._dimensions
        self._plane = self._plane_of_gaps(rows, stages) if gaps else self._plane_of_all(rows)
        self._weights = self._plane.weights  # turned to the axes of the map below
        self.explained_variance_ratio_ = self._plane.variances / (self._plane.total or 1.0)
        self.noise_variance_ = float(self._unit.outward(self._plane.noise, 2))
        return self._seen(rows)

    def _most_evident(self, rows: Floats, gaps: bool) -> int:
        if gaps:
            raise InputError(
                "n_components='evidence' weighs the eigenvalues of the covariance, which is not known where values of "
                "X are missing: give a number, or fill X in first (impute of a fitted ProbabilisticPCA)."
            )
        n, d = len(rows), int((rows.min(axis=0) < rows.max(axis=0)).sum())  # a column that never varies has no noise
        found = principal_axes(rows, rows.shape[1], n_jobs=self.n_jobs, moments=self._moments)
        evidence = log_evidence(found.variances, n, d)
        if not evidence.size:
            raise InputError(
                f"n_components='evidence' compares numbers of dimensions and the {n} rows of {rows.shape[1]} columns "
                "vary along fewer than two: use n_components=1."
            )
        in_unit = np.frexp(found.variances[0])[1] + 2 * self._unit.power  # of λ, which the evidence leaves out
        self.log_evidence_ = evidence - 0.5 * n * d * np.log(2.0) * in_unit
        return 1 + int(evidence.argmax())

    def _plane_of_all(self, rows: Floats) -> Plane:
        found = principal_axes(rows, self.n_components_, n_jobs=self.n_jobs, moments=self._moments)
        self._solver, self.n_iter_, self._scatter = found.solver, 1, found.scatter
        return _likeliest(found, _LEAST_NOISE)

    def _plane_of_gaps(self, rows: Floats, stages: Stages) -> Plane:
        d = rows.shape[1]
        if d == 1:
            raise InputError(
                "X has one column and values of it are missing, so there is nothing to fill them in from: leave these "
                "rows out."
            )
        if self.n_components_ >= d:
            raise InputError(
                f"n_components={self.n_components_}, X has {d} columns and values of it are missing: with no direction "
                f"left to the noise nothing can be filled in, so use n_components <= {d - 1}."
            )
        filled = with_means(rows, getattr(self, "feature_names_in_", None))
        rough = principal_axes(filled, self.n_components_, n_jobs=self.n_jobs)
        first = _likeliest(rough, _LEAST_NOISE_OF_GAPS)
        self._solver = "expectation and maximisation"
        if first.total == 0:  # what is known of each column is the same in all rows
            self.n_iter_, self.log_likelihoods_ = 0, np.empty(0)
            return first
        fit = fit_missing(rows, LoosePlane(first.mean, first.weights, first.noise), self.max_iter, self.tol, stages)
        self.n_iter_ = len(fit.log_likelihoods)
        self.log_likelihoods_ = fit.log_likelihoods - (~np.isnan(rows)).sum() * self._log_unit
        return fit.plane.principal()

    @property
    def _log_unit(self) -> float:
        """By what a value in the model's unit is likelier."""
        return float(np.log(2.0)) * self._unit.power

    def _seen(self, rows: Any) -> Any:
        if not has_gaps(rows):
            return rows
        warn_of_empty(rows)
        return self._filled(rows)

    def _projection(self, rows: Any, stages: Stages) -> Projection:
        directions = self._plane.latent
        if self.log_likelihoods_ is not None:
            # z is known up to a rotation: the one in which the latent points of these rows are uncorrelated, as they
            # are along principal axes when no value is missing
            places = project(rows, self._plane.mean, directions)
            directions = directions @ np.linalg.eigh(places.T @ places)[1][:, ::-1]
        return Projection(self._plane.mean, directions, self._solver, directions, self._scatter)

    def _solve(self, source: Any, rows: Integers, stages: Stages) -> Piece:
        piece = super()._solve(source, rows, stages)
        axes = self._plane.axes
        self._weights = axes @ (self._plane.variances[:, None] * (axes.T @ self._directions))  # W = C · W M⁻¹
        self.weights_ = self._unit.outward(self._weights)
        return piece

    def _warn_of_zeros(self, positive: int) -> None:
        warn(
            f"the rows stand out of the noise along {positive} directions and n_components={self._dimensions} were "
            f"asked for: the last {self._dimensions - positive} columns of the map are zero.",
            RankWarning,
        )

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
        check_is_fitted(self)
        X = self._read(X, reset=False)
        gaps = np.isnan(X).any(axis=1)
        values = np.empty(len(X))
        values[~gaps] = self._plane.log_density(X[~gaps] if gaps.any() else X)
        for numbers, _, latent in self._loose().read(X[gaps]):
            values[np.flatnonzero(gaps)[numbers]] = latent.log_density
        return values - (~np.isnan(X)).sum(axis=1) * self._log_unit if self._unit.power else values

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
        check_is_fitted(self)
        X = self._read(X, reset=False)
        n, p = len(X), self.n_components_
        loose = self._loose()
        if not has_gaps(X):
            noise = self._plane.noise or loose.noise
            covariance = noise * np.linalg.inv(self._weights.T @ self._weights + noise * np.eye(p))
            return LatentPosterior(project(X, self._mean, self._directions), np.broadcast_to(covariance, (n, p, p)))
        means, covariances = np.empty((n, p)), np.empty((n, p, p))
        for numbers, group, latent in loose.read(X):
            means[numbers], covariances[numbers] = latent.mean, loose.noise * latent.inverse[group]
        return LatentPosterior(means, covariances)

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
        check_is_fitted(self)
        return np.asarray(self._unit.outward(self._filled(self._read(X, reset=False))))

    def _filled(self, rows: Floats) -> Floats:
        loose, filled = self._loose(), rows.copy()
        gaps = np.flatnonzero(np.isnan(rows).any(axis=1))
        for numbers, _, latent in loose.read(rows[gaps]):
            those = gaps[numbers]
            rebuilt = loose.mean + latent.mean @ loose.weights.T
            filled[those] = np.where(np.isnan(rows[those]), rebuilt, rows[those])
        return filled

    def _loose(self) -> LoosePlane:
        floor = _LEAST_NOISE_OF_GAPS * self._plane.total / len(self._plane.mean)
        noise = max(self._plane.noise, floor) or 1.0  # any will do for rows that are all the same: W is 0
        return LoosePlane(self._plane.mean, self._weights, noise)

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
        check_is_fitted(self)
        rng = check_random_state(random_state)
        z = rng.standard_normal((n_samples, self.n_components_))
        noise = np.sqrt(self._plane.noise) * rng.standard_normal((n_samples, len(self._mean)))
        drawn = self._unit.outward(self._mean + z @ self._weights.T + noise)
        return np.asarray(drawn).astype(self.embedding_.dtype, copy=False)


def _likeliest(found: PrincipalAxes, least_noise: float) -> Plane:
    floor = least_noise * found.total / len(found.mean)
    return Plane.of_largest_likelihood(found.mean, found.axes, found.variances, found.total, floor)

"""Mixture of probabilistic PCA: several planes, each with its share of the rows.

    p(x) = Σ π_k N(x; m_k, W_k W_kᵀ + σ_k² I);    r_k(x) = π_k N_k(x) / p(x)
    x̂(x) = Σ r_k(x) (m_k + U_k U_kᵀ (x − m_k)): the row as the planes have it
    map: y(x) = Aᵀ (x̂(x) − mean), A the principal axes of the x̂ of the training rows

Coordinates within a plane are its own, and mean nothing in another (`projections` gives them all). The map shows the
planes in one frame: kernel PCA with K the Gram matrix of the rebuilt rows. The way back from y is the mean of the rows
there: on plane k, E[t | y] for t ~ N(0, Λ_k) and y = Aᵀ (m_k + U_k t − mean) + noise, each plane by its share at y.
Tipping, Bishop, Neural Computation 11 (1999); Burges, section 1.2.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from gramfold.embedding import method, parameter
from gramfold.errors import InputError
from gramfold.projective.linear_projection import LinearProjection, Projection
from gramfold.projective.mixture import Fit, Mixture, Steps
from gramfold.projective.plane import LOG_TWO_PI, Plane
from gramfold.projective.principal_axes import principal_axes
from gramfold.projective.settling import warn_unsettled
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Integers

_SAMPLE = 500
_SEEDS = 2**31 - 1
_TRIAL_STEPS = 5  # after which the likeliest of several starts goes on alone


@method
class MixturePPCA(LinearProjection):
    """Mixture of probabilistic PCA: planes of their own for groups of rows.

    `score` is the mean log-likelihood of the rows. `inverse_error_` is of training rows through the map and back.

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
        words="""Planes, each of n_components dimensions; "bic" tries 1, 2, … max_planes and takes the number with the
        least Bayesian information criterion.""",
    )
    max_planes: int = parameter(
        default=10, allowed=[Interval(Integral, 1, None, closed="left")], words="""How far n_planes="bic" tries."""
    )
    n_init: int = parameter(
        default=4,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Starts from k-means; after 5 steps the likeliest goes on alone.",
    )
    max_iter: int = parameter(default=300, allowed=[Interval(Integral, 1, None, closed="left")], words="Steps at most.")
    tol: float = parameter(
        default=1e-4,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="Steps end when one adds less than this to the mean log-likelihood of a row.",
    )
    least_noise: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, 1, closed="neither")],
        words="""No plane has a noise variance below this share of that about one plane for all rows: without it the
        likelihood grows beyond all bounds where a plane falls upon a few rows.""",
    )
    random_state: Any = parameter(default=0, allowed=["random_state"], words="Draws the starts of k-means.")

    _attributes: ClassVar[str] = """
    n_planes_ : int
        How many planes there are.
    planes_ : list of Plane
        Each with `mean` (n_features,), orthonormal `axes` (n_features, n_components), `variances` along them, `noise`.
    shares_ : ndarray of shape (n_planes_,)
        The share of the rows that each plane has.
    n_iter_ : int
        Steps taken.
    log_likelihoods_ : ndarray of shape (n_iter_,)
        Of the training rows before each step.
    bic_ : dict
        The criterion of the training rows for each number of planes tried.
    """
    _invariant: ClassVar[bool] = False  # k-means starts from rows by their number

    # --- fit

    def _memory(self, n: int, itemsize: int) -> float:
        # the rebuilt rows, which stay, beside what every projection needs
        return super()._memory(n, itemsize) + float(n) * itemsize * getattr(self, "_dense_columns", 0)

    def _learn(self, rows: Any, stages: Stages) -> Any:
        n = len(rows)
        most = self.max_planes if self.n_planes == "bic" else self.n_planes
        if most > n:
            raise InputError(f"{most} planes are asked for and there are {n} rows: use at most one plane for each row.")
        found = principal_axes(rows, min(self.n_components, rows.shape[1]))
        least = np.finfo(np.float64).eps * max(found.total, float(np.square(found.mean).mean()), 1e-300)
        whole = Plane.of_largest_likelihood(found.mean, found.axes, found.variances, found.total, least)
        # where one plane holds all rows its noise says nothing: then beside their variance
        floor = max(self.least_noise * whole.noise, self.least_noise**2 * found.total / rows.shape[1], least)
        steps = Steps(rows, whole, floor, self.tol, self.n_jobs, stages)
        rng = check_random_state(self.random_state)
        self.bic_: dict[int, float] = {}
        best: Fit | None = None
        with threadpool_limits(1, "blas"):  # the threads of the pool are enough; set once, for setting them takes long
            for count in range(1, most + 1) if self.n_planes == "bic" else [most]:
                fit = self._fitted(steps, count, rng)
                self.bic_[count] = _criterion(fit.mixture, fit.history[-1], n)
                if self.bic_[count] <= min(self.bic_.values()):
                    best = fit
        assert best is not None  # at least one number was tried
        self._keep(best, n)
        return self._seen(rows)

    def _fitted(self, steps: Steps, count: int, rng: np.random.RandomState) -> Fit:
        """From the start that is likeliest after a few steps."""
        starts = [self._start(steps.rows, count, rng) for _ in range(self.n_init if count > 1 else 1)]
        few = min(_TRIAL_STEPS, self.max_iter) if len(starts) > 1 else self.max_iter
        best = max((steps.go_on(steps.start(one), few) for one in starts), key=lambda fit: fit.history[-1])
        return best if best.settled else steps.go_on(best, self.max_iter)

    def _start(self, rows: Floats, count: int, rng: np.random.RandomState) -> Integers:
        """A first plane for each row."""
        if count == 1:
            return np.zeros(len(rows), dtype=np.intp)
        from sklearn.cluster import KMeans

        labels = KMeans(count, n_init=1, random_state=int(rng.randint(_SEEDS))).fit(rows).labels_
        return np.unique(labels, return_inverse=True)[1]  # numbered anew: fewer, where rows are too alike

    def _keep(self, fit: Fit, n: int) -> None:
        self._mixture = fit.mixture
        self.planes_, self.shares_, self.n_planes_ = fit.mixture.planes, fit.mixture.shares, len(fit.mixture.planes)
        self.log_likelihoods_, self.n_iter_ = np.array(fit.history), len(fit.history)
        if not fit.settled:
            warn_unsettled(fit.history, n, "row", stacklevel=6)

    def _seen(self, rows: Any) -> Any:
        return self._mixture.rebuilt(rows)

    def _projection(self, rows: Any, stages: Stages) -> Projection:
        found = principal_axes(rows, self.n_components)
        return Projection(found.mean, found.axes, found.solver, scatter=found.scatter)

    def _build_inverse(self, X: Any, stages: Stages) -> None:
        with stages("inverse"):
            self._inverse = _MixtureInverse.of(self._mixture, self.mean_, self.components_.T)
            sample = np.linspace(0, len(X) - 1, min(len(X), _SAMPLE)).astype(np.intp)
            misfit = np.linalg.norm(X[sample] - self._inverse(self.embedding_[sample].astype(np.float64)))
            spread = np.linalg.norm(X[sample] - X[sample].mean(axis=0, dtype=np.float64))
            self.inverse_error_ = float(misfit / spread) if spread > 0 else 0.0

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
        check_is_fitted(self)
        X = self._read(X, reset=False)
        values = np.empty(len(X))
        for part, _, likelihood, _ in self._mixture.read(X):
            values[part] = likelihood
        return values

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        log_likelihood : float
            The larger, the better the model foretells them.
        """
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Bayesian information criterion of the model for some rows; the smaller, the better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        bic : float
            freedom · log n − 2 log-likelihood.
        """
        values = self.score_samples(X)
        return _criterion(self._mixture, float(values.sum()), len(values))

    def responsibilities(self, X: Any) -> Floats:
        """How far each plane answers for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        responsibilities : ndarray of shape (n_samples, n_planes_)
            r_k(x), with sum 1.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        shares = np.empty((len(X), self.n_planes_))
        for part, responsibilities, _, _ in self._mixture.read(X):
            shares[part] = responsibilities
        return shares

    def projections(self, X: Any) -> Floats:
        """Coordinates of each row within each plane, about the plane's mean and along its axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_planes_, n_components)
            U_kᵀ (x − m_k).
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        places = np.empty((len(X), self.n_planes_, self.planes_[0].axes.shape[1]))
        for part, _, _, along in self._mixture.read(X):
            places[part] = along
        return places

    def reconstruct(self, X: Any) -> Floats:
        """Rows as the planes have them: the nearest points of all planes, each by its responsibility.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        rebuilt : ndarray of shape (n_samples, n_features)
            x̂(x).
        """
        check_is_fitted(self)
        return self._mixture.rebuilt(self._read(X, reset=False))

    def inverse_transform(self, Y: Any) -> Any:
        """Rebuild data rows from places on the map.

        The mean of the rows that the model has there: on each plane, and by the planes' shares. `inverse_error_` says
        how well training rows come back.

        Parameters
        ----------
        Y : array-like of shape (n_places, n_components)
            Places on the map.

        Returns
        -------
        X : ndarray of shape (n_places, n_features)
            Data rows.
        """
        return super().inverse_transform(Y)


def _criterion(mixture: Mixture, likelihood: float, n: int) -> float:
    return float(mixture.freedom * np.log(n) - 2.0 * likelihood)


@dataclass(frozen=True)
class _MixtureInverse:
    """Σ q_k(y) E[x | y, k]: each plane as the map shows it is a Gaussian of y."""

    constants: Floats  # (K,) log π_k − ½ log |2π V_k|, V_k the covariance of y
    middles: Floats  # (K, q) where the means are on the map
    roots: list[Floats]  # (q, q) of V_k⁻¹
    means: Floats  # (K, d)
    gains: list[Floats]  # (q, d) from y to the row

    @classmethod
    def of(cls, mixture: Mixture, mean: Floats, directions: Floats) -> "_MixtureInverse":
        constants, middles, roots, gains = [], [], [], []
        for share, plane in zip(mixture.shares, mixture.planes, strict=True):
            seen = directions.T @ plane.axes  # (q, p)
            spread = (seen * plane.variances) @ seen.T + plane.noise * np.eye(len(seen))
            values, vectors = np.linalg.eigh(spread)
            root = vectors / np.sqrt(values)
            log_determinant = float(np.log(values).sum()) + len(values) * LOG_TWO_PI
            constants.append(np.log(max(share, np.finfo(np.float64).tiny)) - 0.5 * log_determinant)
            middles.append((plane.mean - mean) @ directions)
            roots.append(root)
            gains.append(root @ root.T @ (seen * plane.variances) @ plane.axes.T)
        means = np.stack([plane.mean for plane in mixture.planes])
        return cls(np.array(constants), np.stack(middles), roots, means, gains)

    def __call__(self, places: Floats) -> Floats:
        away = places[:, None, :] - self.middles  # (b, K, q)
        squares = [np.square(away[:, k] @ root).sum(axis=1) for k, root in enumerate(self.roots)]
        joint = self.constants - 0.5 * np.stack(squares, axis=1)
        shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        rows = shares @ self.means
        for k, gain in enumerate(self.gains):
            rows += shares[:, k : k + 1] * (away[:, k] @ gain)
        return np.asarray(rows)

"""Mixture of probabilistic PCA: several planes, each with its share of the rows.

    p(x) = Σ π_k N(x; m_k, W_k W_kᵀ + σ_k² I);    r_k(x) = π_k N_k(x) / p(x)
    x̂(x) = Σ r_k(x) (m_k + U_k U_kᵀ (x − m_k)): the row as the planes have it
    map: y(x) = Aᵀ (x̂(x) − mean), A the principal axes of the x̂ of the training rows

Coordinates within a plane are its own, and mean nothing in another (`projections` gives them all). The map shows the
planes in one frame: kernel PCA with K the Gram matrix of the rebuilt rows. The way back from y is the mean of the rows
there: on plane k, E[t | y] for t ~ N(0, Λ_k) and y = Aᵀ (m_k + U_k t − mean) + noise, each plane by its share at y.
Tipping, Bishop, Neural Computation 11 (1999); Burges, section 1.2.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.linalg import solve
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gramfold.embedding import Inverse, method, parameter
from gramfold.errors import InputError, RankWarning
from gramfold.extension.judging import frobenius, judged_sample, relative
from gramfold.extension.mixture_inverse import AffineMixture
from gramfold.kernels.sampling import squarable
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.projective.linear_projection import LinearProjection, Projection
from gramfold.projective.mixture import SQUARES, Fit, Mixture, Steps
from gramfold.projective.plane import Plane
from gramfold.projective.principal_axes import principal_axes
from gramfold.projective.settling import warn_unsettled
from gramfold.projective.unit import Unit
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import one_blas_thread, openmp_threads
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

_SEEDS = 2**31 - 1
_LEAST_NOISE = 1e-12  # of the largest variance on the map, for which covariances can be solved
_TRIAL_STEPS = 5  # after which the likeliest of several starts goes on alone


@method
class MixturePPCA(LinearProjection):
    """Mixture of probabilistic PCA: planes of their own for groups of rows.

    `score` is the mean log-likelihood of the rows. `inverse_error()` is of training rows through the map and back.

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
        # the rebuilt rows, which stay, beside what every projection needs; the covariances
        columns = getattr(self, "_dense_columns", 0)
        covariances = 8.0 * SQUARES * self._most_planes * columns**2
        return super()._memory(n, itemsize) + float(n) * itemsize * columns + covariances

    @property
    def _most_planes(self) -> int:
        return self.max_planes if self.n_planes == "bic" else self.n_planes

    def _learn(self, rows: Any, stages: Stages) -> Any:
        n = len(rows)
        found = principal_axes(rows, min(self.n_components, rows.shape[1]), n_jobs=self.n_jobs, moments=self._moments)
        if not found.variances.size:
            raise InputError(
                f"the {n} rows are the same, or differ by no more than their rounding, and have no density: check the "
                "columns of X, or take off what they have in common before it is rounded."
            )
        most, distinct = self._most_planes, len(collapse_rows(rows))
        if most > distinct:
            if self.n_planes != "bic":
                raise InputError(
                    f"{most} planes are asked for and there are {distinct} {'distinct ' * (distinct < n)}rows: use at "
                    "most one plane for each row."
                )
            most = distinct
        # the rounding of a value, which is of the size of its column's mean where that is far away
        rounding = np.finfo(rows.dtype).eps ** 2 * float(np.square(found.mean).mean())
        least = max(np.finfo(np.float64).eps * found.total, rounding)
        whole = Plane.of_largest_likelihood(found.mean, found.axes, found.variances, found.total, least)
        # where one plane holds all rows its noise says nothing: then beside their variance
        floor = max(self.least_noise * whole.noise, self.least_noise**2 * found.total / rows.shape[1], least)
        steps = Steps(rows, whole, floor, self.tol, self.n_jobs, stages)
        rng = check_random_state(self.random_state)
        criteria: dict[int, float] = {}
        best: Fit | None = None
        with one_blas_thread():  # the threads of the pool are enough; set once, for setting them takes long
            for count in range(1, most + 1) if self.n_planes == "bic" else [most]:
                fit = self._fitted(steps, count, rng)
                criteria[count] = _criterion(fit.mixture, fit.history[-1], n)
                if criteria[count] <= min(criteria.values()):
                    best = fit
        assert best is not None  # at least one number was tried
        self._keep(best, n)
        self.bic_ = {count: value + 2.0 * n * self._log_unit for count, value in criteria.items()}
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
        from sklearn.exceptions import ConvergenceWarning

        means = KMeans(count, n_init=1, random_state=int(rng.randint(_SEEDS)))
        with openmp_threads(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of fewer groups: `_keep` says what became of it
            labels = means.fit(squarable(rows)[0]).labels_
        return np.unique(labels, return_inverse=True)[1]  # numbered anew: fewer, where rows are too alike

    def _keep(self, fit: Fit, n: int) -> None:
        self._mixture = fit.mixture
        back = Unit(-self._unit.power)
        self.planes_ = [plane.in_unit(back) for plane in fit.mixture.planes]
        self.shares_, self.n_planes_ = fit.mixture.shares, len(fit.mixture.planes)
        self.log_likelihoods_, self.n_iter_ = np.array(fit.history) - n * self._log_unit, len(fit.history)
        if not fit.settled:
            warn_unsettled(fit.history, n, "row")
        if self.n_planes != "bic" and self.n_planes_ < self.n_planes:
            warn(
                f"k-means tells {self.n_planes_} groups of rows apart and n_planes={self.n_planes} were asked for, so "
                "there are fewer: leave out rows beside which all others are alike, or ask for fewer planes.",
                RankWarning,
            )

    @property
    def _log_unit(self) -> float:
        """By what a row in the unit of the densities is likelier."""
        power = self._mixture.unit.power + self._unit.power
        return float(np.log(2.0)) * power * len(self._mixture.center)

    def _seen(self, rows: Any) -> Any:
        return self._mixture.rebuilt(rows)

    def _projection(self, rows: Any, stages: Stages) -> Projection:
        found = principal_axes(rows, self.n_components, n_jobs=self.n_jobs)
        return Projection(found.mean, found.axes, found.solver, scatter=found.scatter, proved=found.proved)

    def _rows_to_rebuild(self, X: Any) -> Any:
        return X  # as they came, not as the planes have them

    def _make_way(self, way: str) -> Inverse:
        if way not in {"auto", "mixture"}:
            return super()._make_way(way)
        return _PlanesInverse.of(self._mixture, self._mean, self._directions, *self._known())

    def _transform(self, X: Any) -> Floats:
        self._warn_of_outside(X)
        return self._place(self._pieces[0], self._seen(X))

    def _outside(self, X: Any) -> Floats:
        return self._around_rows()(X)

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
        return values - self._log_unit

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
        return np.asarray(self._unit.outward(places))

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
        return np.asarray(self._unit.outward(self._mixture.rebuilt(self._read(X, reset=False))))


def _criterion(mixture: Mixture, likelihood: float, n: int) -> float:
    return float(mixture.freedom * np.log(n) - 2.0 * likelihood)


@dataclass(frozen=True)
class _PlanesInverse:
    """Σ q_k(y) E[x | y, k]: each plane as the map shows it is a Gaussian of y."""

    mixture: AffineMixture
    rows: Floats
    places: Floats

    @classmethod
    def of(cls, planes: Mixture, mean: Floats, directions: Floats, places: Floats, rows: Floats) -> "_PlanesInverse":
        middles, covariances, gains = [], [], []
        for plane in planes.planes:
            seen = directions.T @ plane.axes  # (q, p)
            noise = max(plane.noise, _LEAST_NOISE * float(plane.variances.max()))  # a column of the map may be zero
            covariance = (seen * plane.variances) @ seen.T + noise * np.eye(len(seen))
            middles.append((plane.mean - mean) @ directions)
            covariances.append(covariance)
            gains.append(solve(covariance, (seen * plane.variances) @ plane.axes.T, assume_a="pos"))
        means = np.stack([plane.mean for plane in planes.planes])
        stacks = np.stack(middles), np.stack(covariances), means, np.stack(gains)
        return cls(AffineMixture.of(planes.shares, *stacks), rows, places)

    def __call__(self, places: Floats) -> Floats:
        return self.mixture(places)

    def judge(self) -> float:
        sample = judged_sample(len(self.places))
        truth = self.rows[sample]
        misfit = frobenius(truth - self(self.places[sample].astype(np.float64)))
        return relative(misfit, truth, self.rows)

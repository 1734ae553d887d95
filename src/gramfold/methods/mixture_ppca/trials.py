"""Initialisations of the planes by k-means, and the numbers of planes that are tried."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

import numpy as np

from gramfold.errors import InputError, RankWarning
from gramfold.kernels.landmarks import squarable
from gramfold.kernels.plane import Plane
from gramfold.kernels.principal_axes import Moments, principal_axes
from gramfold.kernels.settling import warn_unsettled
from gramfold.methods.mixture_ppca.mixture import Mixture
from gramfold.methods.mixture_ppca.steps import Ended, Starts, Steps, Whole
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.runtime.threads import one_blas_thread, openmp_threads
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

_SEEDS = 2**31 - 1
_TRIAL_STEPS = 5  # iterations after which only the start of largest likelihood is continued


@dataclass(frozen=True)
class Trials:
    """How mixtures are initialised and fitted."""

    n_components: int
    n_init: int
    max_iter: int
    tol: float
    least_noise: float

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """By the parameters of an estimator."""
        return cls(*(getattr(estimator, one.name) for one in fields(cls)))

    def whole(
        self,
        rows: Floats,
        moments: Moments | None,
        n_jobs: int | None,
        mass: Floats | None = None,
        dtype: np.dtype[Any] | None = None,
    ) -> Whole:
        """The one plane of these rows (of this mass, their values read in this type), and a floor of the noise."""
        found = principal_axes(rows, min(self.n_components, rows.shape[1]), n_jobs=n_jobs, moments=moments, mass=mass)
        if not found.variances.size:
            n = len(rows) if mass is None else float(mass.sum())
            raise InputError(
                f"the {n:.0f} rows are identical up to rounding, so they have no density: check the columns of "
                "X. If these have a large common offset, subtract it in higher precision."
            )
        # the rounding of a value, which is relative to the mean of its column where that is large
        rounding = np.finfo(rows.dtype if dtype is None else dtype).eps ** 2 * float(np.square(found.mean).mean())
        least = float(max(np.finfo(np.float64).eps * found.total, rounding))
        whole = Plane.of_largest_likelihood(found.mean, found.axes, found.variances, found.total, least)
        # where one plane fits all rows exactly its noise is 0: then relative to their variance
        floor = max(self.least_noise * whole.noise, self.least_noise**2 * found.total / rows.shape[1], least)
        return Whole(whole, floor)

    def each(
        self, starts: Starts, steps: Steps, numbers: Iterable[int], rng: np.random.RandomState
    ) -> dict[int, Ended]:
        """The fitted mixture for each number of planes."""
        with one_blas_thread():  # the threads of the pool are enough; set once, for setting them takes long
            return {count: self._likeliest(starts, steps, count, rng) for count in numbers}

    def _likeliest(self, starts: Starts, steps: Steps, count: int, rng: np.random.RandomState) -> Ended:
        """Fit from the start of largest likelihood after a few iterations."""
        labels = [_start(starts, count, rng) for _ in range(self.n_init if count > 1 else 1)]
        few = min(_TRIAL_STEPS, self.max_iter) if len(labels) > 1 else self.max_iter
        best = max((steps.go_on(starts.of(one), few) for one in labels), key=lambda ended: ended.history[-1])
        return best if best.settled else steps.go_on(best, self.max_iter)


def _start(starts: Starts, count: int, rng: np.random.RandomState) -> Integers:
    """A first assignment of rows to planes, by k-means of the distinct rows: those of copies, each with its mass."""
    rows, copies = starts.rows, starts.copies
    if count == 1:
        return np.zeros(len(rows), dtype=np.intp)
    distinct, weights = (rows, starts.mass) if len(copies) == len(rows) else (rows[copies.first], copies.multiplicity)
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    means = KMeans(count, n_init=1, random_state=int(rng.randint(_SEEDS)))
    with openmp_threads(distinct.size * count), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of fewer groups: `_warn_of_planes` reports it
        labels = means.fit(squarable(distinct)[0], sample_weight=weights).labels_
    return np.unique(labels, return_inverse=True)[1][copies.vertex]  # numbered anew: fewer, where rows are too alike


def numbers_of_planes(rows: Floats, asked: int | Literal["bic"], most: int) -> Iterable[int]:
    """The numbers of planes to try: at most one plane for each distinct row."""
    distinct = len(collapse_rows(rows))
    if asked == "bic":
        return range(1, min(most, distinct) + 1)
    if asked > distinct:
        raise InputError(
            f"n_planes={asked} is more than the {distinct} {'distinct ' * (distinct < len(rows))}rows of X: use "
            f"n_planes <= {distinct}."
        )
    return [asked]


@dataclass(frozen=True)
class Chosen:
    """The mixture of the smallest criterion."""

    mixture: Mixture
    history: list[float]  # as `Ended` has it
    criteria: dict[int, float]  # of each number of planes

    @classmethod
    def of(cls, tried: Mapping[int, Ended], n: float, asked: int | Literal["bic"]) -> Self:
        """Of those that were tried for n rows; warns of what it lacks."""
        criteria = {count: one.mixture.criterion(one.history[-1], n) for count, one in tried.items()}
        best = tried[min(criteria, key=lambda count: (criteria[count], -count))]
        _warn_of_planes(best, n, asked)
        return cls(best.mixture, best.history, criteria)


def _warn_of_planes(best: Ended, n: float, asked: int | Literal["bic"]) -> None:
    """Warn if the iteration did not converge, and if there are fewer planes than asked for."""
    if not best.settled:
        warn_unsettled(best.history, n, "row")
    planes = len(best.mixture.planes)
    if asked != "bic" and planes < asked:
        warn(
            f"k-means found only {planes} groups of rows, so there are {planes} planes instead of n_planes={asked}: "
            "remove extreme outliers (compared with which all other rows look identical), or use fewer planes.",
            RankWarning,
        )

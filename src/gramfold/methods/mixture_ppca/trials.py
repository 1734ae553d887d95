"""Initialisations of the planes by k-means, and the numbers of planes that are tried."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gramfold.errors import InputError, RankWarning
from gramfold.kernels.landmarks import squarable
from gramfold.kernels.plane import Plane
from gramfold.kernels.principal_axes import Moments, principal_axes
from gramfold.kernels.settling import warn_unsettled
from gramfold.methods.mixture_ppca.steps import Ended, Steps
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.runtime.progress import Stages
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

    def steps(
        self,
        rows: Floats,
        moments: Moments | None,
        n_jobs: int | None,
        stages: Stages,
        mass: Floats | None = None,
    ) -> Steps:
        """The iteration for these rows (of this mass), with a floor of the noise from the one plane of all rows."""
        found = principal_axes(rows, min(self.n_components, rows.shape[1]), n_jobs=n_jobs, moments=moments, mass=mass)
        if not found.variances.size:
            raise InputError(
                f"the {len(rows)} rows are identical up to rounding, so they have no density: check the columns of "
                "X. If these have a large common offset, subtract it in higher precision."
            )
        # the rounding of a value, which is relative to the mean of its column where that is large
        rounding = np.finfo(rows.dtype).eps ** 2 * float(np.square(found.mean).mean())
        least = float(max(np.finfo(np.float64).eps * found.total, rounding))
        whole = Plane.of_largest_likelihood(found.mean, found.axes, found.variances, found.total, least)
        # where one plane fits all rows exactly its noise is 0: then relative to their variance
        floor = max(self.least_noise * whole.noise, self.least_noise**2 * found.total / rows.shape[1], least)
        return Steps(rows, whole, floor, self.tol, n_jobs, stages, mass)

    def each(self, steps: Steps, numbers: Iterable[int], rng: np.random.RandomState) -> dict[int, Ended]:
        """The fitted mixture for each number of planes."""
        with one_blas_thread():  # the threads of the pool are enough; set once, for setting them takes long
            return {count: self._likeliest(steps, count, rng) for count in numbers}

    def _likeliest(self, steps: Steps, count: int, rng: np.random.RandomState) -> Ended:
        """Fit from the start of largest likelihood after a few iterations."""
        starts = [_start(steps, count, rng) for _ in range(self.n_init if count > 1 else 1)]
        few = min(_TRIAL_STEPS, self.max_iter) if len(starts) > 1 else self.max_iter
        best = max((steps.go_on(steps.start(one), few) for one in starts), key=lambda ended: ended.history[-1])
        return best if best.settled else steps.go_on(best, self.max_iter)


def _start(steps: Steps, count: int, rng: np.random.RandomState) -> Integers:
    """A first assignment of rows to planes, by k-means of the distinct rows: those of copies, each with its mass."""
    rows, copies = steps.rows, steps.copies
    if count == 1:
        return np.zeros(len(rows), dtype=np.intp)
    distinct, weights = (rows, steps.mass) if len(copies) == len(rows) else (rows[copies.first], copies.multiplicity)
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    means = KMeans(count, n_init=1, random_state=int(rng.randint(_SEEDS)))
    with openmp_threads(distinct.size * count), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of fewer groups: `warn_of_planes` reports it
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


def warn_of_planes(best: Ended, n: float, asked: int | Literal["bic"]) -> None:
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

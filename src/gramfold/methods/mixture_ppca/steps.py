"""Planes fitted to rows by expectation maximisation.

    π_k = mean of r_k;   m_k and the covariance S_k = means weighted by r_k;   W_k, σ_k² from S_k as for one plane

Each iteration takes the best plane for its S_k, so the likelihood cannot fall. The likelihood would be unbounded if a
plane could collapse onto a few rows. So no σ_k² falls below a floor (the best plane under that condition is the clipped
one, and the likelihood still cannot fall), and a plane with too few rows to determine it is not changed.
Tipping, Bishop, Neural Computation 11 (1999); the floor: Hathaway, Annals of Statistics 13 (1985).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from gramfold.kernels.linear import over_rows
from gramfold.kernels.plane import Plane
from gramfold.kernels.settling import has_settled
from gramfold.methods.mixture_ppca.mixture import ENTRIES_PER_BLOCK, Mixture, shared
from gramfold.neighbors.duplicates import Collapse, collapse_rows
from gramfold.neighbors.units import Unit
from gramfold.runtime.progress import Stages
from gramfold.spectral.dense import eigenpairs_between
from gramfold.types import Floats, Integers

SQUARES = 3  # d × d matrices held at once for each plane: sums over two stretches of the rows, and both together
_NEGLIGIBLE = 1e-16  # a responsibility below it is lost in the sums anyway
_FEW = 0.5  # share of a block below which it pays to pick the rows that are not negligible


@dataclass(frozen=True)
class Sums:
    """Sums over rows that an iteration needs; those of two tables add up."""

    likelihood: float
    counts: Floats  # (K,) Σ r
    firsts: Floats  # (K, d) Σ r x, from the centre
    seconds: Floats  # (K, d, d) Σ r x xᵀ

    def __add__(self, other: Self) -> "Sums":
        return Sums(
            self.likelihood + other.likelihood,
            self.counts + other.counts,
            self.firsts + other.firsts,
            self.seconds + other.seconds,
        )


Weigh = Callable[[slice, Floats], tuple[Floats, Floats]]  # rows and where they are -> r (b, K), log p (b,)


def _sums(rows: Floats, center: Floats, K: int, weigh: Weigh, n_jobs: int | None, mass: Floats | None = None) -> Sums:
    """The sums in one pass over the rows (of this mass); the same for any number of threads."""
    d = rows.shape[1]
    size = max(1, ENTRIES_PER_BLOCK // d)

    def work(stretch: slice) -> Sums:
        likelihood, counts, firsts, seconds = 0.0, np.zeros(K), np.zeros((K, d)), np.zeros((K, d, d))
        for start in range(stretch.start, stretch.stop, size):
            part = slice(start, min(start + size, stretch.stop))
            moved = rows[part] - center
            shares, gained = weigh(part, moved)
            r = shares if mass is None else mass[part, None] * shares
            likelihood += float(gained.sum() if mass is None else mass[part] @ gained)
            counts += r.sum(axis=0)
            firsts += r.T @ moved
            for k in range(K):
                some = shares[:, k] > _NEGLIGIBLE
                few = some.mean() < _FEW
                chosen, weights = (moved[some], r[some, k]) if few else (moved, r[:, k])
                rooted = chosen * np.sqrt(weights)[:, None]
                seconds[k] += rooted.T @ rooted
        return Sums(likelihood, counts, firsts, seconds)

    done = over_rows(rows, work, n_jobs, kept=K * d * d)
    total = done[0]
    for one in done[1:]:
        total = total + one
    return total


def expected(rows: Floats, mixture: Mixture, n_jobs: int | None = None, mass: Floats | None = None) -> Sums:
    """The sums over these rows (of this mass), with the responsibilities of the planes."""

    def weigh(_: slice, moved: Floats) -> tuple[Floats, Floats]:
        responsibilities, likelihood = shared(mixture.log_joint(moved, mixture.along(moved)))
        return responsibilities, likelihood

    return _sums(rows, mixture.center, len(mixture.planes), weigh, n_jobs, mass)


def _maximised(found: Sums, center: Floats, before: Sequence[Plane], floor: float, unit: Unit) -> Mixture:
    """The best planes for these sums; one with too few rows to determine it stays as it was `before`."""
    n, planes = float(found.counts.sum()), []
    d, p = before[0].axes.shape
    for count, first, second, old in zip(found.counts, found.firsts, found.seconds, before, strict=True):
        if count < p + 2:
            planes.append(old)
            continue
        mean = first / count
        covariance = second / count - np.outer(mean, mean)
        values, axes = eigenpairs_between(covariance, d - p, d - 1)
        total = float(np.trace(covariance))
        planes.append(
            Plane.of_largest_likelihood(center + mean, axes[:, ::-1], np.maximum(values[::-1], floor), total, floor)
        )
    return Mixture(center, found.counts / n, tuple(planes), unit)


@dataclass(frozen=True)
class Ended:
    """The mixture after the last iteration, and the log-likelihoods."""

    mixture: Mixture
    history: list[float]  # log-likelihoods of all rows in the unit of the mixture, before each iteration
    settled: bool


@dataclass(frozen=True)
class Whole:
    """The one plane of all rows."""

    plane: Plane
    floor: float  # the least noise of any plane

    @cached_property
    def unit(self) -> Unit:
        """That densities are measured in."""
        return Unit(int(np.frexp(self.plane.total)[1]) // 2)  # of a length, by a variance


@dataclass(frozen=True)
class Starts:
    """First mixtures, from some rows: all of them, or a sample."""

    rows: Floats
    whole: Whole
    n_jobs: int | None
    mass: Floats | None = None  # (n,) of the rows; None: 1 each

    @cached_property
    def copies(self) -> Collapse:
        """Which rows are the same, and the mass of each distinct one."""
        copies = collapse_rows(self.rows)
        return copies if self.mass is None else copies.weighted(self.mass)

    def of(self, labels: Integers) -> Ended:
        """The mixture of a first assignment of these rows to planes."""
        K, whole, floor = int(labels.max()) + 1, self.whole.plane, self.whole.floor
        none = np.zeros(len(labels))
        first = _sums(
            self.rows, whole.mean, K, lambda part, _: (np.eye(K)[labels[part]], none[part]), self.n_jobs, self.mass
        )
        means = whole.mean + first.firsts / np.where(first.counts > 0, first.counts, 1.0)[:, None]
        noise, variances = max(whole.noise, floor), np.maximum(whole.variances, floor)
        before = [Plane(mean, whole.axes, variances, noise) for mean in means]
        return Ended(_maximised(first, whole.mean, before, floor, self.whole.unit), [], settled=False)


@dataclass(frozen=True)
class Steps:
    """How planes are fitted to rows, wherever these are."""

    expected: Callable[[Mixture], Sums]  # the sums over all rows under a mixture
    total: float  # the mass of all rows
    floor: float  # the least noise
    tol: float  # iterations end when one adds less to the mean log-likelihood
    stages: Stages

    def go_on(self, so_far: Ended, max_iter: int) -> Ended:
        """Continue up to `max_iter` iterations in all."""
        mixture, history = so_far.mixture, list(so_far.history)
        left = max_iter - len(history)
        for _ in self.stages.bar(range(left), left, "planes"):
            found = self.expected(mixture)
            history.append(found.likelihood)
            if has_settled(history, self.tol * self.total):
                return Ended(mixture, history, settled=True)
            mixture = _maximised(found, mixture.center, mixture.planes, self.floor, mixture.unit)
        return Ended(mixture, history, settled=False)

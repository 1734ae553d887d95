"""Several planes, each a Gaussian of its own, and the share of the rows that each has: expectation and maximisation.

    p(x) = Σ π_k N(x; m_k, C_k),  C_k = W_k W_kᵀ + σ_k² I;    r_k(x) = π_k N_k(x) / p(x)
    π_k = mean of r_k;   m_k and the covariance S_k = means weighted by r_k;   W_k, σ_k² from S_k as for one plane

Each step takes the best plane for its S_k, so the likelihood cannot fall. It has no upper bound where a plane may fall
upon a few rows: so no σ_k² falls below a floor (the best plane under that condition is the clipped one, and the
likelihood still cannot fall), and a plane with too few rows to hold it stays where it is. Densities are those of rows
over a power of two near their size: logarithms then round, and steps end, alike whatever the unit of the rows.
Tipping, Bishop, Neural Computation 11 (1999); the floor: Hathaway, Annals of Statistics 13 (1985).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from gramfold.errors import InputError
from gramfold.kernels.linear import over_rows
from gramfold.projective.plane import LOG_TWO_PI, Plane
from gramfold.projective.settling import has_settled
from gramfold.projective.unit import Unit
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks
from gramfold.spectral.dense import eigenpairs_between
from gramfold.types import Floats, Integers

SQUARES = 3  # d × d matrices held at once for each plane: sums over two stretches of the rows, and both together
_ENTRIES_PER_BLOCK = 200_000  # of rows, which stay in the cache while each plane looks at them
_NEGLIGIBLE = 1e-16  # a responsibility below it is lost in the sums anyway
_FEW = 0.5  # share of a block below which it pays to pick the rows that are not negligible


@dataclass(frozen=True)
class Mixture:
    """See the module."""

    center: Floats  # (d,) a point amid the rows, from which they are measured
    shares: Floats  # (K,) π
    planes: list[Plane]
    unit: Unit  # of the densities

    @cached_property
    def means(self) -> Floats:
        """Of all planes, from the centre, (K, d)."""
        return np.stack([plane.mean for plane in self.planes]) - self.center

    @cached_property
    def axes(self) -> Floats:
        """Of all planes side by side, (d, K p)."""
        return np.hstack([plane.axes for plane in self.planes])

    @cached_property
    def _constants(self) -> Floats:
        # log π_k − ½ (log |C_k| + d log 2π)
        determinants = np.array([plane.in_unit(self.unit).log_determinant for plane in self.planes])
        return np.asarray(
            np.log(np.maximum(self.shares, np.finfo(np.float64).tiny))
            - 0.5 * (determinants + len(self.center) * LOG_TWO_PI)
        )

    @cached_property
    def _precisions(self) -> tuple[Floats, Floats]:
        """1/σ² (K,), 0 where a plane fills the space, and 1/λ − 1/σ² (K, p)."""
        full = self.planes[0].axes.shape[0] == self.planes[0].axes.shape[1]
        off = np.array([0.0 if full else 1.0 / plane.noise for plane in self.planes])
        return off, np.stack([1.0 / plane.variances for plane in self.planes]) - off[:, None]

    def along(self, moved: Floats) -> Floats:
        """Coordinates (b, K, p) in each plane, about its mean, of rows measured from the centre."""
        K = len(self.planes)
        own = np.stack([mean @ plane.axes for mean, plane in zip(self.means, self.planes, strict=True)])  # (K, p)
        return np.asarray((moved @ self.axes).reshape(len(moved), K, -1) - own)

    def log_joint(self, moved: Floats, along: Floats) -> Floats:
        """Logarithms of π_k N_k(x), (b, K)."""
        off, within = self._precisions
        squares = np.square(moved).sum(axis=1)[:, None] - 2.0 * (moved @ self.means.T)
        squares += np.square(self.means).sum(axis=1)  # |x − m_k|²
        return np.asarray(self._constants - 0.5 * (squares * off + np.einsum("bkp,kp->bk", np.square(along), within)))

    def read(self, rows: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Blocks of rows: r_k(x) (b, K), log p(x) (b,) in `unit`, and the coordinates in each plane (b, K, p)."""
        for part in blocks(len(rows), max(1, _ENTRIES_PER_BLOCK // len(self.center))):
            moved = rows[part] - self.center
            along = self.along(moved)
            with np.errstate(over="ignore", invalid="ignore"):
                joint = self.log_joint(moved, along)
            near = np.isfinite(joint).any(axis=1)
            if not near.all():
                raise InputError(
                    f"row {part.start + int(near.argmin())} is so far from every plane that the square of its distance "
                    "is beyond the range of floats: check its unit, or leave it out."
                )
            yield part, *_shared(joint), along

    def rebuilt(self, rows: Floats) -> Floats:
        """Σ r_k(x) · (the point of plane k nearest to x)."""
        made = np.empty_like(rows)
        for part, responsibilities, _, along in self.read(rows):
            weighted = (responsibilities[:, :, None] * along).reshape(len(along), -1)  # (b, K p)
            made[part] = self.center + responsibilities @ self.means + weighted @ self.axes.T
        return made

    @property
    def freedom(self) -> int:
        """How many numbers say it all: shares, means, axes with their variances, noises."""
        d, p = self.planes[0].axes.shape
        return len(self.planes) * int(d + d * p - p * (p - 1) // 2 + (d > p)) + len(self.planes) - 1


def _shared(joint: Floats) -> tuple[Floats, Floats]:
    """Responsibilities r_k (b, K), with sum 1 however small the densities are, and log p(x) (b,)."""
    top = joint.max(axis=1)
    parts = np.exp(joint - top[:, None])
    whole = parts.sum(axis=1)
    return parts / whole[:, None], top + np.log(whole)


@dataclass(frozen=True)
class _Sums:
    """What a step needs to know of all rows."""

    likelihood: float
    counts: Floats  # (K,) Σ r
    firsts: Floats  # (K, d) Σ r x, from the centre
    seconds: Floats  # (K, d, d) Σ r x xᵀ

    def __add__(self, other: Self) -> "_Sums":
        return _Sums(
            self.likelihood + other.likelihood,
            self.counts + other.counts,
            self.firsts + other.firsts,
            self.seconds + other.seconds,
        )


Weigh = Callable[[slice, Floats], tuple[Floats, float]]  # rows and where they are -> r (b, K), Σ log p


def sums(rows: Floats, center: Floats, K: int, weigh: Weigh, n_jobs: int | None) -> _Sums:
    """In one pass over the rows; the same whatever the number of threads."""
    d = rows.shape[1]
    size = max(1, _ENTRIES_PER_BLOCK // d)

    def work(stretch: slice) -> _Sums:
        likelihood, counts, firsts, seconds = 0.0, np.zeros(K), np.zeros((K, d)), np.zeros((K, d, d))
        for start in range(stretch.start, stretch.stop, size):
            part = slice(start, min(start + size, stretch.stop))
            moved = rows[part] - center
            r, gained = weigh(part, moved)
            likelihood += gained
            counts += r.sum(axis=0)
            firsts += r.T @ moved
            for k in range(K):
                some = r[:, k] > _NEGLIGIBLE
                few = some.mean() < _FEW
                chosen, weights = (moved[some], r[some, k]) if few else (moved, r[:, k])
                rooted = chosen * np.sqrt(weights)[:, None]
                seconds[k] += rooted.T @ rooted
        return _Sums(likelihood, counts, firsts, seconds)

    done = over_rows(rows, work, n_jobs, kept=K * d * d)
    total = done[0]
    for one in done[1:]:
        total = total + one
    return total


def maximised(found: _Sums, center: Floats, before: list[Plane], floor: float, unit: Unit) -> Mixture:
    """The best planes for these sums; one that too few rows hold stays as it was `before`."""
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
    return Mixture(center, found.counts / n, planes, unit)


@dataclass(frozen=True)
class Fit:
    """Where the iteration ended, and its way."""

    mixture: Mixture
    history: list[float]  # log-likelihoods of all rows in the unit of the mixture, before each step
    settled: bool


@dataclass(frozen=True)
class Steps:
    """How planes are fitted to rows."""

    rows: Floats
    whole: Plane  # the one plane of all rows
    floor: float  # the least noise
    tol: float  # steps end when one adds less to the mean log-likelihood
    n_jobs: int | None
    stages: Stages

    @cached_property
    def _unit(self) -> Unit:
        return Unit(int(np.frexp(self.whole.total)[1]) // 2)  # of a length, by a variance

    def start(self, labels: Integers) -> Fit:
        """From a first plane for each row."""
        K, center = int(labels.max()) + 1, self.whole.mean
        first = sums(self.rows, center, K, lambda part, _: (np.eye(K)[labels[part]], 0.0), self.n_jobs)
        means = center + first.firsts / np.maximum(first.counts, 1.0)[:, None]
        noise, variances = max(self.whole.noise, self.floor), np.maximum(self.whole.variances, self.floor)
        before = [Plane(mean, self.whole.axes, variances, noise) for mean in means]
        return Fit(maximised(first, center, before, self.floor, self._unit), [], settled=False)

    def go_on(self, fit: Fit, max_iter: int) -> Fit:
        """Up to so many steps in all."""
        mixture, history = fit.mixture, list(fit.history)
        left = max_iter - len(history)
        for _ in self.stages.bar(range(left), left, "planes"):

            def weigh(_: slice, moved: Floats, current: Mixture = mixture) -> tuple[Floats, float]:
                joint = current.log_joint(moved, current.along(moved))
                responsibilities, likelihood = _shared(joint)
                return responsibilities, float(likelihood.sum())

            found = sums(self.rows, mixture.center, len(mixture.planes), weigh, self.n_jobs)
            history.append(found.likelihood)
            if has_settled(history, self.tol * len(self.rows)):
                return Fit(mixture, history, settled=True)
            mixture = maximised(found, mixture.center, mixture.planes, self.floor, mixture.unit)
        return Fit(mixture, history, settled=False)

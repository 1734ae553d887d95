"""Fit a plane to rows with missing values, by expectation maximisation.

    given the known values o of a row:  M = W_oᵀ W_o + σ² I,  z = M⁻¹ W_oᵀ (x_o − mean_o),  Cov z = σ² M⁻¹
    each column j:  [W_j, mean_j] = least squares of its known values on [z, 1], Cov z counted in
    σ² = mean squared residual, per known value

The latent points are then scaled and shifted to mean 0 and variance 1 over the rows, and W and the mean are changed
accordingly. This cannot lower the likelihood and makes convergence much faster (parameter expansion). Rows with the
same columns missing share M. Tipping, Bishop (1999), appendix; Liu, Rubin, Wu, Biometrika 85 (1998).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Self

import numpy as np

from gramfold.errors import DegenerateMapWarning, InputError
from gramfold.kernels.settling import has_settled, warn_unsettled
from gramfold.methods.probabilistic_pca.loose_plane import LoosePlane, Patterns, unpacked, width_of
from gramfold.neighbors.units import Unit
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

NAMED = 12  # rows listed in a message
_LEAST_NOISE = 1e-9  # of the mean variance of a column


@dataclass(frozen=True)
class Ended:
    """The fitted plane, and the log-likelihoods of the iterations."""

    plane: LoosePlane
    log_likelihoods: Floats  # (n_iter,) of all known values, before each iteration


def has_gaps(rows: Floats) -> bool:
    """Whether a value is missing."""
    with np.errstate(over="ignore", invalid="ignore"):  # a sum is NaN where a value is; else only if it overflows
        return bool(np.isnan(rows.sum()) and np.isnan(rows).any())


def with_means(rows: Floats, names: Any = None, mass: Floats | None = None) -> Floats:
    """Rows with missing values replaced by the mean of their column (by the mass of the rows, where it is given).

    `names` are those of the columns, if any.
    """
    missing = np.isnan(rows)
    require_known(~missing.all(axis=0), names)
    if mass is None or (mass == 1).all():
        return np.where(missing, np.nanmean(rows, axis=0, dtype=np.float64), rows)
    sums = mass @ np.where(missing, 0.0, rows.astype(np.float64))
    return np.where(missing, sums / (mass @ ~missing), rows)


def require_known(known: Any, names: Any = None) -> None:
    """Refuse columns, of these names, without a known value; `known` (d,) says which have some."""
    empty = np.flatnonzero(~known)
    if empty.size:
        called = ", ".join(str(number) if names is None else f"'{names[number]}'" for number in empty)
        several = len(empty) > 1
        raise InputError(
            f"column{'s' * several} {called} of X contain{'s' * (not several)} only missing values, so they cannot be "
            f"estimated: remove {'these columns' if several else 'this column'}."
        )


def empty_rows(rows: Floats) -> Integers:
    """The numbers of rows without any value."""
    return np.flatnonzero(np.isnan(rows).all(axis=1))


def warn_of_empty(empty: Integers, count: int) -> None:
    """Warn of so many rows without any value, of which the first are given."""
    if not count:
        return
    more = f" and {count - NAMED:,} more" if count > NAMED else ""
    called = ", ".join(str(row) for row in empty[:NAMED]) + more
    which, hold, stand, them = "row", "contains", "it is placed", "this row"
    if count > 1:
        which, hold, stand, them = "rows", "contain", "they are placed", "these rows"
    warn(
        f"{which} {called} of X {hold} only missing values, so {stand} at the mean, the origin of the embedding: "
        f"remove {them}.",
        DegenerateMapWarning,
    )


@dataclass(frozen=True)
class Sums:
    """Sums over rows that an iteration needs; those of two tables add up."""

    likelihood: float
    squares: float  # Σ |x − mean|² over the known values
    moments: Floats  # (d, q(q+1)/2) Σ z zᵀ of the rows that know column j, z with a constant
    pulled: Floats  # (d, q) Σ (x_j − mean_j) z
    whole: Floats  # (q(q+1)/2,) Σ z zᵀ of all rows

    def __add__(self, other: Self) -> "Sums":
        return Sums(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Sums)))


@dataclass(frozen=True)
class KnownValues:
    """The known values of rows, wherever these are; all in a unit in which the largest is about 1.

    Rounding and convergence then do not depend on the unit of the rows.
    """

    expected: Callable[[LoosePlane], Sums]  # over all rows, given a plane
    unit: Unit
    there: float  # how many there are, by the mass of their rows
    mass: float  # of all rows
    floor: float  # the least noise

    @classmethod
    def of(cls, rows: Floats, mass: Floats) -> Self:
        """Of rows in memory, of this mass."""
        patterns = Patterns.of(rows)
        unit = Unit.of_size(float(np.nanmax(np.abs(rows))))
        values, mass = unit.inward(rows[patterns.order].astype(np.float64)), mass[patterns.order]
        there = float(patterns.seen.sum(axis=1) @ np.add.reduceat(mass, patterns.starts[:-1]))
        sums = partial(_expected, values, patterns, mass)
        return cls(sums, unit, there, float(mass.sum()), least_noise(_variances(values, mass)))

    def fitted(self, start: LoosePlane, max_iter: int, tol: float, stages: Stages) -> Ended:
        """The plane of largest likelihood.

        Stops when an iteration raises the log-likelihood per known value by less than `tol`.
        """
        plane = start.in_unit(self.unit)
        history: list[float] = []
        settled = False
        for _ in stages.bar(range(max_iter), max_iter, "missing values"):
            found = self.expected(plane)
            plane = self._maximised(found, plane)
            history.append(found.likelihood)
            settled = has_settled(history, tol * self.there)
            if settled:
                break
        if not settled:
            warn_unsettled(history, self.there, "value")
        back = Unit(-self.unit.power)
        return Ended(plane.in_unit(back), np.array(history) - self.there * np.log(2.0) * self.unit.power)

    def _maximised(self, found: Sums, plane: LoosePlane) -> LoosePlane:
        p = plane.weights.shape[1]
        # (d, q) rows [W_j, shift of the mean]
        both = np.linalg.solve(unpacked(found.moments, p + 1), found.pulled[:, :, None])[:, :, 0]
        noise = max((found.squares - float(np.vdot(both, found.pulled))) / self.there, self.floor)
        moment = unpacked(found.whole[None], p + 1)[0] / self.mass  # of [z, 1]
        middle = moment[:p, p]
        W = both[:, :p]
        scaled = W @ np.linalg.cholesky(moment[:p, :p] - np.outer(middle, middle))
        return LoosePlane(plane.mean + both[:, p] + W @ middle, scaled, noise)


def least_noise(variances: Floats) -> float:
    """The least noise of a plane, by the variances of the known values of each column."""
    return _LEAST_NOISE * float(variances.mean())


def _variances(values: Floats, mass: Floats) -> Floats:
    """Of the known values of each column, (d,)."""
    if (mass == 1).all():
        return np.asarray(np.nanvar(values, axis=0))
    known = ~np.isnan(values)
    sums = mass @ known
    mean = mass @ np.where(known, values, 0.0) / sums
    return np.asarray(mass @ np.where(known, np.square(values - mean), 0.0) / sums)


def expected(rows: Floats, unit: Unit, plane: LoosePlane) -> Sums:
    """The sums over rows given a plane in this unit."""
    patterns = Patterns.of(rows)
    return _expected(unit.inward(rows[patterns.order].astype(np.float64)), patterns, np.ones(len(rows)), plane)


def _expected(values: Floats, patterns: Patterns, mass: Floats, plane: LoosePlane) -> Sums:
    """The same of values in the order of their patterns."""
    d, p = plane.weights.shape
    q = p + 1
    pairs = np.triu_indices(q)
    inner = np.flatnonzero(pairs[1] < p)  # the pairs of latent coordinates, without the constant
    likelihood, squares, whole = 0.0, 0.0, np.zeros(len(pairs[0]))
    A, b = np.zeros((d, len(pairs[0]))), np.zeros((d, q))
    for part, stretch, group in patterns.stream(width_of(plane.weights)):
        seen, moved = patterns.seen[part], np.nan_to_num(values[stretch] - plane.mean)
        latent = plane.latent(moved, seen, group)
        z = np.column_stack([latent.mean, np.ones(len(moved))])  # (b, q)
        weighed, own = mass[stretch, None] * z, mass[stretch]
        begins = patterns.starts[part] - patterns.starts[part.start]
        moments = np.add.reduceat(weighed[:, pairs[0]] * z[:, pairs[1]], begins, axis=0)  # (g, ·) Σ z zᵀ of a group
        counts = np.add.reduceat(own, begins)
        moments[:, inner] += (plane.noise * counts)[:, None] * latent.inverse[:, pairs[0][inner], pairs[1][inner]]
        A += seen.T @ moments
        b += moved.T @ weighed
        whole += moments.sum(axis=0)
        squares += float(own @ np.einsum("nd,nd->n", moved, moved))
        likelihood += float(own @ latent.log_density)
    return Sums(likelihood, squares, A, b, whole)

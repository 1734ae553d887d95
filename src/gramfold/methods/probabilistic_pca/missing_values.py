"""Fit a plane to rows with missing values, by expectation maximisation.

    given the known values o of a row:  M = W_oᵀ W_o + σ² I,  z = M⁻¹ W_oᵀ (x_o − mean_o),  Cov z = σ² M⁻¹
    each column j:  [W_j, mean_j] = least squares of its known values on [z, 1], Cov z counted in
    σ² = mean squared residual, per known value

The latent points are then scaled and shifted to mean 0 and variance 1 over the rows, and W and the mean are changed
accordingly. This cannot lower the likelihood and makes convergence much faster (parameter expansion). Rows with the
same columns missing share M. Tipping, Bishop (1999), appendix; Liu, Rubin, Wu, Biometrika 85 (1998).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.errors import DegenerateMapWarning, InputError
from gramfold.kernels.settling import has_settled, warn_unsettled
from gramfold.methods.probabilistic_pca.loose_plane import LoosePlane, Patterns, unpacked, width_of
from gramfold.neighbors.units import Unit
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats

_NAMED = 12  # rows listed in a message
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
    empty = np.flatnonzero(missing.all(axis=0))
    if empty.size:
        called = ", ".join(str(number) if names is None else f"'{names[number]}'" for number in empty)
        several = len(empty) > 1
        raise InputError(
            f"column{'s' * several} {called} of X contain{'s' * (not several)} only missing values, so they cannot be "
            f"estimated: remove {'these columns' if several else 'this column'}."
        )
    if mass is None or (mass == 1).all():
        return np.where(missing, np.nanmean(rows, axis=0, dtype=np.float64), rows)
    sums = mass @ np.where(missing, 0.0, rows.astype(np.float64))
    return np.where(missing, sums / (mass @ ~missing), rows)


def warn_of_empty(rows: Floats) -> None:
    """Warn of rows without any value."""
    empty = np.flatnonzero(np.isnan(rows).all(axis=1))
    if not empty.size:
        return
    more = f" and {len(empty) - _NAMED:,} more" if len(empty) > _NAMED else ""
    called = ", ".join(str(row) for row in empty[:_NAMED]) + more
    which, hold, stand, them = "row", "contains", "it is placed", "this row"
    if len(empty) > 1:
        which, hold, stand, them = "rows", "contain", "they are placed", "these rows"
    warn(
        f"{which} {called} of X {hold} only missing values, so {stand} at the mean, the origin of the embedding: "
        f"remove {them}.",
        DegenerateMapWarning,
    )


def fit_missing(
    rows: Floats, start: LoosePlane, max_iter: int, tol: float, stages: Stages, mass: Floats | None = None
) -> Ended:
    """The plane of largest likelihood for the known values of rows of this mass.

    Stops when an iteration raises the log-likelihood per known value by less than `tol`.
    """
    patterns = Patterns.of(rows)
    # in a unit in which the largest value is about 1: rounding and convergence do not depend on the unit of the rows
    unit = Unit.of_size(float(np.nanmax(np.abs(rows))))
    values = unit.inward(rows[patterns.order].astype(np.float64))
    mass = np.ones(len(rows)) if mass is None else mass[patterns.order]
    there = float(patterns.seen.sum(axis=1) @ np.add.reduceat(mass, patterns.starts[:-1]))
    floor = _LEAST_NOISE * float(_variances(values, mass).mean())
    plane = start.in_unit(unit)
    history: list[float] = []
    settled = False
    for _ in stages.bar(range(max_iter), max_iter, "missing values"):
        plane, likelihood = _step(plane, values, patterns, there, floor, mass)
        history.append(likelihood)
        settled = has_settled(history, tol * there)
        if settled:
            break
    if not settled:
        warn_unsettled(history, there, "value")
    return Ended(plane.in_unit(Unit(-unit.power)), np.array(history) - there * np.log(2.0) * unit.power)


def _variances(values: Floats, mass: Floats) -> Floats:
    """Of the known values of each column, (d,)."""
    if (mass == 1).all():
        return np.asarray(np.nanvar(values, axis=0))
    known = ~np.isnan(values)
    sums = mass @ known
    mean = mass @ np.where(known, values, 0.0) / sums
    return np.asarray(mass @ np.where(known, np.square(values - mean), 0.0) / sums)


def _step(
    plane: LoosePlane, values: Floats, patterns: Patterns, there: float, floor: float, mass: Floats
) -> tuple[LoosePlane, float]:
    """One iteration, and the log-likelihood before it."""
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
    both = np.linalg.solve(unpacked(A, q), b[:, :, None])[:, :, 0]  # (d, q) rows [W_j, shift of the mean]
    noise = max((squares - float(np.vdot(both, b))) / there, floor)
    moment = unpacked(whole[None], q)[0] / mass.sum()  # of [z, 1]
    middle = moment[:p, p]
    W = both[:, :p]
    scaled = W @ np.linalg.cholesky(moment[:p, :p] - np.outer(middle, middle))
    return LoosePlane(plane.mean + both[:, p] + W @ middle, scaled, noise), likelihood

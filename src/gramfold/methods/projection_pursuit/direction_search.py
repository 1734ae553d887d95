"""The direction along which whitened rows look least Gaussian.

An index has many local maxima, and nearly all directions of many dimensions look Gaussian (Diaconis, Freedman 1984), so
a climb begins at each of many places. Half of them are random. The others are the most uneven axes of a second scatter

    S = Σ w_i z_i z_iᵀ / Σ w_i,   w = 1 / (1 + |z|²): rows far out count little

which of Gaussian rows has all eigenvalues equal: where they differ, something is not Gaussian (Tyler, Critchley,
Dümbgen, Oja, Journal of the Royal Statistical Society B 71, 2009).
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from gramfold.methods.projection_pursuit.projection_index import Judged, Negentropy, ProjectionIndex
from gramfold.types import Floats

# Enough to see which climbs are worth finishing: rows, steps, and the rise of the index in a step, relative to itself.
_ROUGH_ROWS, _ROUGH_STEPS, _ROUGH_RISE = 5_000, 50, 1e-5
_FINISHED = 5  # climbs that go on to the end
_RISE, _RISE_OF_ROUGH = 1e-13, 1e-7  # of an index with and without second derivatives: steps on the latter wander
_NEWTON_STEP = 1e-5
_NEWTON_STEPS = 3


@dataclass(frozen=True)
class Climb:
    """Where a climb ended."""

    direction: Floats  # (d,), of length 1
    value: float
    steps: int
    slope: float  # left along the sphere


def best_direction(
    rows: Floats, index: ProjectionIndex, *, n_starts: int, max_iter: int, tol: float, rng: np.random.RandomState
) -> Climb:
    """The best of the climbs from `n_starts` directions; rows (n, d) are white."""
    n, d = rows.shape
    if d == 1:
        only = np.ones(1)
        return Climb(only, index(rows, only).value, 0, 0.0)
    some = rows if n <= _ROUGH_ROWS else rows[np.sort(rng.choice(n, _ROUGH_ROWS, replace=False))]
    # every other climb is by a smooth index, which leads over bumps that would hold up one that is not
    guides = [index, index if index.smooth else Negentropy()]
    begun = [
        climb(some, guides[number % 2], start, _ROUGH_STEPS, _ROUGH_RISE, tol)
        for number, start in enumerate(starts(rows, n_starts, rng))
    ]
    # all rows judge: a shape that chance gave to some of them is not there in the others
    promise = np.array([index(rows, each.direction).value for each in begun])
    worth = np.argsort(-promise, kind="stable")[:_FINISHED]
    rise = _RISE if index.smooth else _RISE_OF_ROUGH
    climbs = [climb(rows, index, begun[each].direction, max_iter, rise, tol) for each in worth]
    best = max(climbs, key=lambda each: each.value)
    return sharpened(rows, index, best) if index.smooth else best


def starts(rows: Floats, count: int, rng: np.random.RandomState) -> Floats:
    """Directions to begin with, (count, d)."""
    d = rows.shape[1]
    weights = 1.0 / (1.0 + np.square(rows).sum(axis=1))
    scatter = (rows * (weights / weights.sum())[:, None]).T @ rows
    values, axes = np.linalg.eigh(scatter)
    uneven = np.argsort(-np.abs(values - np.median(values)), kind="stable")[: max(1, count // 2)]
    anywhere = rng.standard_normal((count - len(uneven), d))
    return np.vstack([axes[:, uneven].T, anywhere / np.linalg.norm(anywhere, axis=1, keepdims=True)])


def climb(rows: Floats, index: ProjectionIndex, start: Floats, max_iter: int, least_rise: float, tol: float) -> Climb:
    """Uphill from a direction, by L-BFGS on the sphere: the index of w/|w|, whose slope is across w."""

    def downhill(w: Floats) -> tuple[float, Floats]:
        length = float(np.linalg.norm(w))
        judged = across(index, rows, w / length)
        return -judged.value, -judged.slope / length

    found = minimize(
        downhill,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": least_rise},
    )
    return Climb(found.x / np.linalg.norm(found.x), -float(found.fun), int(found.nit), float(np.linalg.norm(found.jac)))


def across(index: ProjectionIndex, rows: Floats, direction: Floats) -> Judged:
    """The index with its slope along the sphere only."""
    value, slope = index(rows, direction)
    return Judged(value, slope - direction * (direction @ slope))


def sharpened(rows: Floats, index: ProjectionIndex, found: Climb) -> Climb:
    """The top itself, by Newton's steps: values of the index are flat there, and tell it to half the digits only."""
    basis = np.linalg.svd(found.direction[None, :])[2][1:].T  # (d, d − 1) across the direction
    curvature = np.empty((basis.shape[1], basis.shape[1]))
    for number, tangent in enumerate(basis.T):
        ahead, behind = (found.direction + sign * _NEWTON_STEP * tangent for sign in (1, -1))
        rise = [across(index, rows, each / np.linalg.norm(each)).slope for each in (ahead, behind)]
        curvature[number] = basis.T @ (rise[0] - rise[1]) / (2 * _NEWTON_STEP)
    try:
        step = np.linalg.inv(0.5 * (curvature + curvature.T))
    except np.linalg.LinAlgError:  # a ridge: all along it the index is the same, and where the climb ended is as good
        return found
    direction, judged = found.direction, across(index, rows, found.direction)
    for _ in range(_NEWTON_STEPS):
        moved = direction - basis @ (step @ (basis.T @ judged.slope))
        moved /= np.linalg.norm(moved)
        there = across(index, rows, moved)
        if np.linalg.norm(there.slope) >= np.linalg.norm(judged.slope) or there.value < found.value * (1 - 1e-6):
            break
        direction, judged = moved, there
    return Climb(direction, judged.value, found.steps, float(np.linalg.norm(judged.slope)))

"""The direction along which whitened rows are least Gaussian.

An index has many local maxima, and projections of high-dimensional rows are nearly Gaussian along most directions
(Diaconis, Freedman 1984), so the maximisation starts from many directions. Half of them are random. The others are
those axes of a second scatter matrix whose eigenvalues differ most from the median

    S = Σ w_i z_i z_iᵀ / Σ w_i,   w = 1 / (1 + |z|²): distant rows count little

For Gaussian rows all its eigenvalues are equal; where they differ, the rows are not Gaussian (Tyler, Critchley,
Dümbgen, Oja, Journal of the Royal Statistical Society B 71, 2009).
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from gramfold.methods.projection_pursuit.projection_index import Judged, Negentropy, ProjectionIndex
from gramfold.runtime.progress import beat
from gramfold.types import Floats

# For a first, rough maximisation from each start: rows, iterations, and relative rise of the index in an iteration.
_ROUGH_ROWS, _ROUGH_STEPS, _ROUGH_RISE = 5_000, 50, 1e-5
_FINISHED = 5  # starts that are continued to convergence
_RISE, _RISE_OF_ROUGH = 1e-13, 1e-7  # of an index with and without second derivatives
_NEWTON_STEP = 1e-5
_NEWTON_STEPS = 3


@dataclass(frozen=True)
class Climb:
    """Result of a maximisation."""

    direction: Floats  # (d,), of length 1
    value: float
    steps: int
    slope: float  # norm of the gradient along the sphere


def best_direction(
    rows: Floats, index: ProjectionIndex, *, n_starts: int, max_iter: int, tol: float, rng: np.random.RandomState
) -> Climb:
    """The best maximum from `n_starts` directions; rows (n, d) are whitened."""
    n, d = rows.shape
    if d == 1:
        only = np.ones(1)
        return Climb(only, index(rows, only).value, 0, 0.0)
    some = rows if n <= _ROUGH_ROWS else rows[np.sort(rng.choice(n, _ROUGH_ROWS, replace=False))]
    # for an index that is not smooth, every other start uses a smooth one, which has fewer local maxima
    guides = [index, index if index.smooth else Negentropy()]
    begun = [
        climb(some, guides[number % 2], start, _ROUGH_STEPS, _ROUGH_RISE, tol)
        for number, start in enumerate(starts(rows, n_starts, rng))
    ]
    # judged by all rows: structure that some of them have by chance is not in the others
    promise = np.array([index(rows, each.direction).value for each in begun])
    worth = np.argsort(-promise, kind="stable")[:_FINISHED]
    rise = _RISE if index.smooth else _RISE_OF_ROUGH
    climbs = [climb(rows, index, begun[each].direction, max_iter, rise, tol) for each in worth]
    best = max(climbs, key=lambda each: each.value)
    return sharpened(rows, index, best) if index.smooth else best


def starts(rows: Floats, count: int, rng: np.random.RandomState) -> Floats:
    """Starting directions (count, d)."""
    d = rows.shape[1]
    weights = 1.0 / (1.0 + np.square(rows).sum(axis=1))
    scatter = (rows * (weights / weights.sum())[:, None]).T @ rows
    values, axes = np.linalg.eigh(scatter)
    uneven = np.argsort(-np.abs(values - np.median(values)), kind="stable")[: max(1, count // 2)]
    anywhere = rng.standard_normal((count - len(uneven), d))
    return np.vstack([axes[:, uneven].T, anywhere / np.linalg.norm(anywhere, axis=1, keepdims=True)])


def climb(rows: Floats, index: ProjectionIndex, start: Floats, max_iter: int, least_rise: float, tol: float) -> Climb:
    """Maximise from a direction by L-BFGS on the sphere: the index of w/|w|, whose gradient is orthogonal to w."""

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
    """The index and its gradient along the sphere."""
    beat()
    value, slope = index(rows, direction)
    return Judged(value, slope - direction * (direction @ slope))


def sharpened(rows: Floats, index: ProjectionIndex, found: Climb) -> Climb:
    """Refine a maximum by Newton's method: the values of the index locate it to half the digits only."""
    basis = np.linalg.svd(found.direction[None, :])[2][1:].T  # (d, d − 1) across the direction
    curvature = np.empty((basis.shape[1], basis.shape[1]))
    for number, tangent in enumerate(basis.T):
        ahead, behind = (found.direction + sign * _NEWTON_STEP * tangent for sign in (1, -1))
        rise = [across(index, rows, each / np.linalg.norm(each)).slope for each in (ahead, behind)]
        curvature[number] = basis.T @ (rise[0] - rise[1]) / (2 * _NEWTON_STEP)
    try:
        step = np.linalg.inv(0.5 * (curvature + curvature.T))
    except np.linalg.LinAlgError:  # a ridge along which the index is constant: the direction found is as good as any
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

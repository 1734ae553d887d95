"""Stress by majorisation: iterations that bring the distances ever nearer to a given order.

    stress² = min over d̂ of Σ w (d − d̂)² / Σ w d²     d̂ in the order of the dissimilarities, d_ab = |y_a − y_b|
    iteration:  y ← c V⁺ B(y) y    c = Σ w d² / Σ w d̂², V and B as in `guttman`

c d̂ is the multiple of d̂ to which the configuration is scaled best, so the iteration (Guttman's transform) brings d
nearer to it, and the next d̂ is nearer still: the stress never rises. Iterations are accelerated with momentum, which is
dropped where it would raise the stress.

de Leeuw, in Recent Developments in Statistics (1977); Nesterov's momentum with O'Donoghue and Candès' restart (2015).
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist, squareform

from gramfold.errors import NotConvergedWarning
from gramfold.methods.ordinal_mds.guttman import Guttman
from gramfold.methods.ordinal_mds.monotone import RankOrder
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats


@dataclass(frozen=True)
class Layout:
    """Coordinates, their stress, and the coordinates after one iteration without momentum."""

    places: Floats  # (n, p)
    stress: float
    stepped: Floats  # (n, p)
    move: float  # size of the change relative to the embedding


@dataclass(frozen=True)
class Descent:
    """The last layout, and the stress after each iteration."""

    layout: Layout
    stresses: Floats  # (n_iter + 1,), the start first
    converged: bool


def descend(
    start: Floats, order: RankOrder, guttman: Guttman, *, max_iter: int, tol: float, stages: Stages = SILENT
) -> Descent:
    """Iterations from the start until one would move the embedding by less than `tol` of its size."""
    now = lay_out(_normalized(start, guttman.mass), order, guttman)
    before, since_restart = now.places, 0  # no momentum at first
    stresses = [now.stress]
    for _ in stages.bar(range(max_iter), max_iter, "steps"):
        if now.move < tol:
            break
        momentum = since_restart / (since_restart + 3)
        ahead = lay_out(now.stepped + momentum * (now.stepped - before), order, guttman)
        since_restart += 1
        if ahead.stress > now.stress and momentum > 0:
            ahead, since_restart = lay_out(now.stepped, order, guttman), 0
        before, now = now.stepped, ahead
        stresses.append(now.stress)
    return Descent(now, np.array(stresses), now.move < tol)


def lay_out(places: Floats, order: RankOrder, guttman: Guttman) -> Layout:
    """The stress of these coordinates, and their Guttman transform."""
    distances = pdist(places)[order.order]
    disparities = order.regress(distances)
    size = _sum_of_squares(distances, order.weights)
    unlisted = order.unlisted(disparities)
    misfit = _sum_of_squares(distances - disparities, order.weights) + unlisted
    scale = size / (_sum_of_squares(disparities, order.weights) + unlisted)
    # points that coincide have no direction to part in
    ratios = np.divide(scale * disparities, distances, out=np.zeros_like(distances), where=distances > 0)
    stepped = guttman.step(ratios, order, places)
    move = np.sqrt(_inertia(stepped - places, guttman.mass) / _inertia(places, guttman.mass))
    return Layout(places, float(np.sqrt(misfit / size)), stepped, float(move))


def squared_disparities(places: Floats, order: RankOrder) -> Floats:
    """D̂² of these coordinates, (n, n); for a pair of weight 0, which any disparity fits, its squared distance."""
    distances = pdist(places)
    distances[order.order] = order.regress(distances[order.order])
    return np.asarray(squareform(np.square(distances, out=distances), checks=False))


def upright(places: Floats, mass: Floats) -> Floats:
    """The same map with a root mean square of 1 over the distances of data rows, centred, on its principal axes."""
    places = _normalized(places, mass)
    axes = np.linalg.svd(np.sqrt(mass)[:, None] * places, full_matrices=False)[2]
    return np.asarray(places @ axes.T)


def warn_unless_converged(descent: Descent, max_iter: int, tol: float) -> None:
    """Warn where another iteration would still move the embedding."""
    if not descent.converged:
        warn(
            f"after max_iter={max_iter} iterations the next one would still move the embedding by "
            f"{descent.layout.move:.1e} of its size (tol={tol:g}), so its stress of {descent.layout.stress:.4g} may "
            "not be a minimum: raise max_iter, or tol.",
            NotConvergedWarning,
        )


def _normalized(places: Floats, mass: Floats) -> Floats:
    rows = mass.sum()
    places = places - mass @ places / rows
    # the sum of d² over the pairs of data rows is M Σ m |y|²
    return np.asarray(places * np.sqrt(0.5 * (rows - 1) / _inertia(places, mass)))


def _inertia(places: Floats, mass: Floats) -> float:
    return float(np.einsum("i,ij,ij->", mass, places, places))


def _sum_of_squares(values: Floats, weights: Floats) -> float:
    # without BLAS: its threads would wait for each other longer than such short work takes
    return float(np.einsum("i,i,i->", weights, values, values))

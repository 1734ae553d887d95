"""Stress by majorisation: places whose distances come ever nearer to a given order.

    stress² = min over d̂ of Σ w (d − d̂)² / Σ w d²     d̂ in the order of the dissimilarities, d_ab = |y_a − y_b|
    step:  y_a ← c/M Σ_b m_b (d̂_ab / d_ab)(y_a − y_b)    c = Σ w d² / Σ w d̂²

A vertex stands for m identical rows, M in all, and a pair weighs w_ab = m_a m_b. c d̂ is the multiple of d̂ to which the
places are scaled best, so the step (Guttman's transform) brings d nearer to it, and the next d̂ is nearer still: the
stress never rises. Steps are carried on with momentum, which is dropped where it would raise the stress.

de Leeuw, in Recent Developments in Statistics (1977); Nesterov's momentum with O'Donoghue and Candès' restart (2015).
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist, squareform

from gramfold.errors import NotConvergedWarning
from gramfold.methods.ordinal_mds.monotone import RankOrder
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats


@dataclass(frozen=True)
class Layout:
    """Places, their stress, and where the step would bring them."""

    places: Floats  # (n, p)
    stress: float
    stepped: Floats  # (n, p)
    move: float  # size of the step relative to the map


@dataclass(frozen=True)
class Descent:
    """The last layout, and the stress of each on the way to it."""

    layout: Layout
    stresses: Floats  # (n_iter + 1,), the start first
    converged: bool


def descend(
    start: Floats, order: RankOrder, mass: Floats, *, max_iter: int, tol: float, stages: Stages = SILENT
) -> Descent:
    """Steps from the start until one would move the map by less than `tol` of its size."""
    now = lay_out(_normalized(start, mass), order, mass)
    before, since_restart = now.places, 0  # no momentum at first
    stresses = [now.stress]
    for _ in stages.bar(range(max_iter), max_iter, "steps"):
        if now.move < tol:
            break
        momentum = since_restart / (since_restart + 3)
        ahead = lay_out(now.stepped + momentum * (now.stepped - before), order, mass)
        since_restart += 1
        if ahead.stress > now.stress and momentum > 0:
            ahead, since_restart = lay_out(now.stepped, order, mass), 0
        before, now = now.stepped, ahead
        stresses.append(now.stress)
    return Descent(now, np.array(stresses), now.move < tol)


def lay_out(places: Floats, order: RankOrder, mass: Floats) -> Layout:
    """Judge these places and prepare the step from them."""
    distances = pdist(places)[order.order]
    disparities = order.regress(distances)
    size = _sum_of_squares(distances, order.weights)
    unlisted = order.unlisted(disparities)
    misfit = _sum_of_squares(distances - disparities, order.weights) + unlisted
    scale = size / (_sum_of_squares(disparities, order.weights) + unlisted)
    # places that coincide have no direction to part in
    ratios = np.divide(scale * disparities, distances, out=np.zeros_like(distances), where=distances > 0)
    pull = _matrix(ratios, order)  # (n, n)
    sums = _times(pull, mass[:, None] * np.column_stack([np.ones(len(mass)), places]))  # (n, 1 + p)
    stepped = (sums[:, :1] * places - sums[:, 1:]) / mass.sum()
    move = np.sqrt(_inertia(stepped - places, mass) / _inertia(places, mass))
    return Layout(places, float(np.sqrt(misfit / size)), stepped, float(move))


def squared_disparities(places: Floats, order: RankOrder) -> Floats:
    """D̂² of these places, (n, n)."""
    disparities = order.regress(pdist(places)[order.order])
    return _matrix(np.square(disparities, out=disparities), order)


def upright(places: Floats, mass: Floats) -> Floats:
    """The same map with a root mean square of 1 over the distances of data rows, centred, on its principal axes."""
    places = _normalized(places, mass)
    axes = np.linalg.svd(np.sqrt(mass)[:, None] * places, full_matrices=False)[2]
    return np.asarray(places @ axes.T)


def _normalized(places: Floats, mass: Floats) -> Floats:
    rows = mass.sum()
    places = places - mass @ places / rows
    # the sum of d² over the pairs of data rows is M Σ m |y|²
    return np.asarray(places * np.sqrt(0.5 * (rows - 1) / _inertia(places, mass)))


def _inertia(places: Floats, mass: Floats) -> float:
    return float(np.einsum("i,ij,ij->", mass, places, places))


# Sums without BLAS: its threads would wait for each other longer than such short work takes.


def _sum_of_squares(values: Floats, weights: Floats) -> float:
    return float(np.einsum("i,i,i->", weights, values, values))


def _times(matrix: Floats, vectors: Floats) -> Floats:
    return np.stack([np.einsum("ij,j->i", matrix, vector) for vector in np.ascontiguousarray(vectors.T)], axis=1)


def _matrix(values: Floats, order: RankOrder) -> Floats:
    """The symmetric matrix of values that stand in rank order."""
    of_pairs = np.empty_like(values)
    of_pairs[order.order] = values
    return np.asarray(squareform(of_pairs, checks=False))


def warn_unless_converged(descent: Descent, max_iter: int, tol: float) -> None:
    """Say so where another step would still move the map."""
    if not descent.converged:
        warn(
            f"after max_iter={max_iter} steps the next would still move the map by {descent.layout.move:.1e} of its "
            f"size (tol={tol:g}), so its stress of {descent.layout.stress:.4g} may not be the least: raise max_iter, "
            "or tol.",
            NotConvergedWarning,
        )

"""Make coordinates that nearly satisfy |y_i − y_j| ≤ d_ij feasible."""

import numpy as np

from gramfold.sdp.plain_shorten import plain_shorten, shorten
from gramfold.sdp.problem import Problem
from gramfold.types import Floats

_NEARLY = 1e-4  # what sweeps leave is taken out by shrinking everything, which costs the objective twice as much
_SWEEPS = 100


def made_feasible(problem: Problem, coordinates: Floats, nearly: float = _NEARLY, sweeps: int = _SWEEPS) -> Floats:
    """Shorten over-long pairs by sweeps, then divide by the worst remaining ratio."""
    pulled = np.array(coordinates, dtype=np.float64, order="C")
    first, second = np.ascontiguousarray(problem.pairs.T)
    lengths = np.sqrt(problem.squared)
    if plain_shorten(len(first), sweeps):
        shorten(pulled, first, second, lengths, nearly, sweeps)
    else:
        from gramfold.sdp import feasible_kernels

        room = np.empty_like(pulled), np.empty((len(pulled), 2))
        feasible_kernels.shorten(pulled, first, second, lengths, *room, nearly, sweeps)
    return touching(problem, problem.centered(pulled))


def touching(problem: Problem, coordinates: Floats) -> Floats:
    """Coordinates divided by the worst ratio |y_i − y_j| / d_ij, so that one pair just has its distance."""
    differences = coordinates[problem.pairs[:, 0]] - coordinates[problem.pairs[:, 1]]  # (m, r)
    ratios = np.einsum("ec,ec->e", differences, differences) / problem.squared
    # by more than the rounding of a length, so that measured again no pair is too long; equal entries stay equal
    largest = np.where(differences == 0, 0.0, np.abs(coordinates).max(axis=0)).max(axis=1)
    coarse = np.maximum(1.0, largest / np.sqrt(problem.squared))
    worst = float((ratios * (1.0 + 8.0 * coarse * np.finfo(float).eps)).max())
    return np.asarray(coordinates / np.sqrt(worst))

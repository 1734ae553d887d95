"""Inverse transform sampling: solve F(x) = target for an increasing function F."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Newton takes about six iterations; bisection alone, the worst case, reaches the last bit of a double in 64
MOST_STEPS = 80


def invert_increasing(
    function: Callable[[Array], Array],
    slope: Callable[[Array], Array],
    target: Array,
    low: float,
    high: float,
) -> Array:
    """Solve function(x) = target on [low, high] to machine precision, for all targets at once.

    Newton's method inside a bracket that shrinks in every iteration: a step that would leave the bracket is replaced by
    a bisection, so that it converges for every increasing function.
    """
    left = np.full_like(target, low)
    right = np.full_like(target, high)
    x = 0.5 * (left + right)
    for _ in range(MOST_STEPS):
        excess = function(x) - target
        left = np.where(excess <= 0, x, left)
        right = np.where(excess >= 0, x, right)
        with np.errstate(divide="ignore", invalid="ignore"):  # where the slope is 0 the step leaves the bracket
            newton = x - excess / slope(x)
        inside = (newton >= left) & (newton <= right)
        following = np.where(inside, newton, 0.5 * (left + right))
        moved = np.abs(following - x)
        x = following
        if np.all(moved <= 2 * np.finfo(np.float64).eps * np.maximum(np.abs(x), 1.0)):
            break
    return x

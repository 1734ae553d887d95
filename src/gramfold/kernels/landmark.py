"""A Gram matrix of a few landmarks, and what all others are to them.

    K = −½ H D_ℓ² H over the landmarks;    any point: y = −½ Λ^-½ Vᵀ (d²(x, ·) − means of D_ℓ²)

de Silva, Tenenbaum, NIPS 15 (2003); Burges, section 2.2.3.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.kernels.gram import GramKernel, centered_gram
from gramfold.types import Floats, Integers


@dataclass(frozen=True)
class LandmarkGram(GramKernel):
    """The kernel is over the landmarks; `all_values` are the uncentred values of every vertex against them."""

    all_values: Floats = field(default_factory=lambda: np.empty((0, 0)))  # (n_vertices, n_landmarks), storage dtype
    landmarks: Integers = field(default_factory=lambda: np.empty(0, dtype=np.intp))  # (n_landmarks,) vertices

    @property
    def everybody(self) -> Floats:
        return self.all_values

    @property
    def _stored(self) -> Floats:
        return self.all_values


def landmark_gram(all_values: Any, landmarks: Integers, mass: Floats, scale: float = -0.5) -> LandmarkGram:
    """From the values (n_vertices, n_landmarks) of all vertices against the landmarks: squared distances, or others."""
    own = all_values[landmarks].astype(np.float64)
    gram = centered_gram(0.5 * (own + own.T), scale=scale, mass=mass[landmarks])  # float32 rounds the two ways apart
    return LandmarkGram(**vars(gram), all_values=all_values, landmarks=landmarks)


def max_min(distances_from: Callable[[int], Floats], n: int, count: int, first: int) -> Integers:
    """Farthest-point choice: each next landmark is the vertex farthest from those already chosen."""
    chosen = np.empty(count, dtype=np.intp)
    nearest = np.full(n, np.inf)
    chosen[0] = first
    for place in range(1, count):
        np.minimum(nearest, distances_from(int(chosen[place - 1])), out=nearest)
        chosen[place] = np.argmax(nearest)
    return chosen


def choose_landmarks(
    choice: str,
    distances_from: Callable[[int], Floats],
    n: int,
    count: int,
    random_state: np.random.RandomState,
    start: int,
) -> Integers:
    """`count` different vertices out of n, at random or by the max-min rule from `start`, ascending."""
    if count >= n:
        return np.arange(n)
    if choice == "random":
        return np.sort(random_state.choice(n, count, replace=False))
    return np.sort(max_min(distances_from, n, count, start))


def given_landmarks(landmarks: Any, n: int) -> Integers:
    """The landmarks that a user names, checked."""
    chosen = np.asarray(landmarks)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or len(np.unique(chosen)) != len(chosen) or len(chosen) < 2:
        raise InputError(
            f"landmarks={landmarks!r} are not the numbers of at least two different rows: pass a number of landmarks, "
            "or a list of row numbers."
        )
    if chosen.min() < 0 or chosen.max() >= n:
        raise InputError(f"landmarks name row {int(chosen.max())} and there are {n} rows: count rows from 0.")
    return chosen


def check_width(width: int, n: int, count: int, what: str) -> None:
    """Precomputed values are those against all n rows, or only against the landmarks that were named."""
    if width not in (n, count):
        raise InputError(
            f"X holds {width} {what} a row, which is neither all {n} nor those to the {count} landmarks: pass one "
            f"column per landmark, or all {what}."
        )

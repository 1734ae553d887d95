"""Which rows stand for all: those a user names, any, the farthest from one another, or by what the others say of them.

    farthest-point sampling (max-min): each next landmark is the row farthest from those chosen so far
    k-means: the row nearest each centre
    ridge leverage of row i:  ℓ_i = [K (K + λ I)⁻¹]_ii = (k_ii − k_i (K + λ I)⁻¹ k_i) / λ
    from a first, uniform subset S of s rows:  ℓ_i ≈ (k_ii − k_iS (K_SS + λ s/n I)⁻¹ k_Si) / λ

The last line takes Σ φφᵀ over all rows for n/s times that over S (Woodbury). λ is what the leading s/10 directions
leave of the trace, over s/10: the scores then sum to at most s/5. Max-min: de Silva, Tenenbaum, NIPS 15 (2003). Ridge
leverage: Alaoui, Mahoney, NIPS 28 (2015); Musco, Musco, NIPS 30 (2017). k-means: Zhang, Tsang, Kwok, ICML 2008, but
with the row nearest each centre, because a row has a number, a place and a value under any kernel, which a centre of
sparse rows or of words has not.
"""

from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse

from gramfold.errors import InputError
from gramfold.kernels.nystrom import LandmarkValues
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.runtime.threads import openmp_threads
from gramfold.types import Floats, Integers

Sampling = Literal["random", "kmeans", "leverage"]

# k-means sees at most this many rows for each centre, and few rounds: centres need only spread as the rows do.
ROWS_PER_CENTER = 20
_ROUNDS = 10
_CELL = 32  # times the rounding of a distance from squares: rows of one cell of that size are taken for one
# Directions that λ leaves out of account, as a share of the subset; and the least λ, relative to the trace.
_SHARE_CARRIED = 0.1
_LEAST_RIDGE = 1e-8


def given_landmarks(landmarks: Any, n: int) -> Integers:
    """The landmarks that a user names, checked."""
    chosen = np.asarray(landmarks)
    if chosen.dtype.kind == "b":
        raise InputError("landmarks are a mask of True and False: pass row indices, as np.flatnonzero(mask) gives.")
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or len(chosen) < 2:
        raise InputError(
            f"landmarks of type {type(landmarks).__name__} are not the indices of at least two rows: pass a number of "
            "landmarks, or a list of row indices."
        )
    outside = chosen[(chosen < 0) | (chosen >= n)]
    if outside.size:
        raise InputError(f"landmarks contain row {outside[0]}, but there are {n} rows: use indices from 0 to {n - 1}.")
    listed, counts = np.unique(chosen, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"landmarks contain row {listed[counts > 1][0]} more than once: name each row once.")
    return chosen


def landmark_count(landmarks: Any) -> int:
    """How many landmarks a number, or a list of rows, asks for."""
    return int(landmarks) if isinstance(landmarks, Integral) else int(np.size(landmarks))


def check_width(width: int, n: int, count: int, what: str) -> None:
    """Precomputed values are those against all n rows, or only against the landmarks that were named."""
    if width not in (n, count):
        raise InputError(
            f"X has {width} columns, but precomputed {what} need one column for each of the {n} rows or one for each "
            f"of the {count} landmarks."
        )


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


def random_rows(n: int, count: int, random_state: np.random.RandomState) -> Integers:
    """`count` different rows, ascending."""
    return np.asarray(np.sort(random_state.choice(n, min(count, n), replace=False)))


def kmeans_rows(rows: Any, count: int, random_state: np.random.RandomState) -> Integers:
    """The rows nearest the centres of k-means, ascending; fewer than `count` where one is nearest to two centres."""
    from sklearn.metrics import pairwise_distances_argmin

    centers = kmeans_centers(rows, np.arange(rows.shape[0]), count, random_state)
    with openmp_threads():
        return np.unique(pairwise_distances_argmin(centers.astype(rows.dtype), rows))


def kmeans_centers(rows: Any, numbers: Integers, count: int, random_state: np.random.RandomState) -> Floats:
    """Centres (at most `count`, d) of k-means on a sample of the rows with these numbers."""
    seen = numbers[random_rows(len(numbers), ROWS_PER_CENTER * count, random_state)]
    return centers_of(rows[seen], count, random_state)


def centers_of(seen: Any, count: int, random_state: np.random.RandomState) -> Floats:
    """Centres (at most `count`, d) of k-means on these rows."""
    from sklearn.cluster import KMeans

    small, power = squarable(seen)
    if not issparse(seen):
        count = min(count, told_apart(small))
    with openmp_threads(float(small.size) * count):
        found = KMeans(count, n_init=1, max_iter=_ROUNDS, random_state=random_state).fit(small)
    return np.asarray(np.ldexp(found.cluster_centers_, power))


def told_apart(rows: Floats) -> int:
    """How many of these rows k-means can tell apart: others cannot have centres of their own.

    It takes distances from squares, which leaves half of the digits.
    """
    away = rows - rows.mean(axis=0, dtype=np.float64)
    cell = _CELL * np.sqrt(np.finfo(rows.dtype).eps) * float(np.abs(away).max())
    return len(collapse_rows(np.round(away / cell) + 0.0)) if cell > 0 else 1  # −0 is 0


def squarable(rows: Any) -> tuple[Any, int]:
    """Rows of which k-means can take squares in their own dtype; times 2 to this power they are the rows, unrounded."""
    power = int(np.frexp(np.abs(rows).max())[1])
    if not issparse(rows):
        return np.ldexp(rows, -power), power
    small = rows.copy()
    small.data = np.ldexp(rows.data, -power)
    return small, power


def leverage_rows(
    values: LandmarkValues, first: Integers, diagonal: Floats, random_state: np.random.RandomState
) -> Integers:
    """As many rows as the uniform subset `first` has, drawn by their ridge leverage, ascending.

    `values` are those of all rows against that subset, `diagonal` their k(x, x).
    """
    scores = leverage_scores(values, first, diagonal)
    # every row keeps some chance: a score of 0 is known only up to rounding
    chance = scores + 1e-6 * scores.mean() + np.finfo(np.float64).tiny
    return np.asarray(np.sort(random_state.choice(len(chance), len(first), replace=False, p=chance / chance.sum())))


def leverage_scores(values: LandmarkValues, first: Integers, diagonal: Floats) -> Floats:
    """The estimate of the module, (n,)."""
    n, s = values.shape
    eigenvalues, vectors = eigh(values.among(first))
    eigenvalues = np.maximum(eigenvalues, 0.0)
    carried = max(1, int(_SHARE_CARRIED * s))
    tail = (n / s) * float(eigenvalues[:-carried].sum())
    ridge = max(tail, _LEAST_RIDGE * float(np.abs(diagonal).sum())) / carried
    root = vectors / np.sqrt(eigenvalues + ridge * s / n)  # (K_SS + λ s/n I)^-½
    scores = np.empty(n)
    for part, block in values.stream():
        scores[part] = (diagonal[part] - np.square(block @ root).sum(axis=1)) / ridge
    return np.maximum(scores, 0.0)

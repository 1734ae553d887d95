"""Eigenvectors that show a new direction, as opposed to functions of earlier ones.

On a sheet much longer than high the smoothest functions cos(πs/a), cos(2πs/a), … all vary along its length s; the first
one that varies with its height comes later. An eigenvector φ is compared with its prediction by the vectors Φ taken
before it:

    r² = Σ_i (φ_i − φ̂_i)² / Σ_i (φ_i − mean φ)²
    φ̂_i = value at i of the plane fitted to all φ_j but φ_i itself, with weights exp(−|Φ_i − Φ_j|² / h_i²)

r is near 0 for a function of Φ and near 1 for a new direction.

Dsilva, Talmon, Coifman, Kevrekidis, Appl. Comput. Harmon. Anal. 44 (2018). There Φ holds all earlier vectors and h is
a third of their median distance. Here Φ holds only those taken, because an overtone with a trace of the height in it
would predict the height itself; and h_i is the distance to a fixed number of neighbours, because at a fixed width the
higher overtones bend too much for a plane and would count as new.

Data in groups do not form a sheet. There the first eigenvectors are nearly constant on each group and step from one to
another, each in another way; and since no two groups have quite the same value, any of them predicts all others. But on
the map it shows groups of similar values as one, and each group as a point. So a vector of steps counts as new, and its
variation within a group, which is not visible, is not used for prediction. Steps and slopes are distinguished by the
graph. Let μ(φ) be the sum of W_ij (φ_i − φ_j)² over the edges divided by Σ D_i φ_i². The normalised cut of the graph
where φ crosses a threshold is about μ at a step between groups and 4/π^1.5 √μ on a slope (along a wave of frequency ω
whose edges have steps of variance s², μ = s²ω²/2, and the two thresholds of a period cut s √(2/π) ω/π of all edges). A
threshold of less than half of the latter is a step; and φ consists of steps if its values between them are nearly
equal, and q, the mean of φ on each level, is nearly as smooth on the graph as φ itself. Branches of a curve are not
recognised: a branch on which the first vector hardly varies counts as a function of it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from gramfold.graph.cut import threshold_cuts
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers

# Below this r an eigenvector is not taken as a new direction: others predict three quarters of its variance.
NEW_DIRECTION = 0.5
# Below this one it repeats others: they predict 96%. On strips and curves, also noisy ones, r is at most 0.13 for
# repetitions; on digits and cells vectors of 0.22 to 0.36 separate classes that those before them do not.
REPEATED = 0.2
# The largest number of rows that are compared, evenly spaced in the data: the same ones every time.
_SAMPLE = 1_000
# h_i is the distance to this many neighbours for each coefficient of a plane; the weights are cut off at twice as many
# neighbours. With fewer rows than this many such neighbourhoods r is not computed ...
_NEIGHBORS_PER_TERM = 5
_CUT = 2
_NEIGHBORHOODS = 5
# ... and at most the first six taken are used: in seven dimensions no sample is dense.
_MOST_TAKEN = 6
# A threshold lies at a step if the graph is cut there for less than this multiple of √μ.
_STEP = 2.0 / np.pi**1.5
# A vector consists of steps if the variance left on its levels is less than this share of what evenly spread values
# would leave on as many levels, and μ(q) / μ(φ) not more than this: 1 to 2 for groups apart (cells, digits, far blobs),
# 2 to 3 for groups that touch, 4 and more on strips and threads, 10 and more on sheets.
_LEFT_OVER = 0.6
_ROUGHER = 3.4
_NO_ENERGY = 1e-13  # μ that is rounding
_BLUR = 1e-6  # of the spread, on levels: among rows of a group those at random are the nearest
_RIDGE = 1e-3  # on slopes: where neighbours lie along a line, or coincide, a plane would be anything
_ENTRIES_PER_BLOCK = 1_000_000


@dataclass(frozen=True)
class Directions:
    """Indices of the eigenvectors taken as new directions, and r of each one compared."""

    taken: Integers  # (q,) ascending
    novelty: Floats  # (p,) r; 1 for the first, NaN where there are too few rows to tell


def new_directions(
    vectors: Floats,
    most: int,
    penalty: csr_array | None = None,
    *,
    entries_per_block: int = _ENTRIES_PER_BLOCK,
) -> Directions:
    """The first `most` new directions among eigenvectors (n, p); one whose r is not known counts as new.

    `penalty` is the Laplacian whose eigenvectors they are, plain or divided by degrees; without it, steps and slopes
    are not distinguished.
    """
    n, p = vectors.shape
    rows = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)
    sample = _standardized(vectors[rows])
    novelty = np.full(p, np.nan)
    novelty[0] = 1.0
    blur = _BLUR * np.random.default_rng(0).standard_normal(len(rows))
    taken: list[int] = []
    seen: list[Floats] = []  # what those taken show of the sample
    for candidate in range(p):
        levels = None if penalty is None else step_levels(penalty, vectors[:, candidate])
        if levels is not None:
            novelty[candidate] = 1.0
        if novelty[candidate] < NEW_DIRECTION:  # an unknown one is new
            continue
        taken.append(candidate)
        if len(taken) == most:
            break
        seen.append(sample[:, candidate] if levels is None else _standardized(levels[rows]) + blur)
        rest = slice(candidate + 1, p)
        # what fewer predict is predicted, though in more dimensions neighbours are farther and the planes rougher
        novelty[rest] = np.fmin(novelty[rest], _unpredicted(np.column_stack(seen), sample[:, rest], entries_per_block))
    return Directions(np.array(taken), novelty)


def step_levels(penalty: csr_array, vector: Floats) -> Floats | None:
    """The levels (n,) of a vector that consists of steps between groups, one value for each group; otherwise None."""
    degrees = penalty.diagonal()
    away = vector - (degrees @ vector) / degrees.sum()
    spread = degrees @ away**2
    if not spread > 0:
        return None
    # between groups so far apart that no weight joins them it is rounding
    energy = max(float(away @ (penalty @ away)), _NO_ENERGY * spread)
    order, cost = threshold_cuts(-penalty, degrees, vector)
    low = np.flatnonzero(cost <= _STEP * np.sqrt(energy / spread))
    if not low.size:
        return None
    gaps = np.split(low, np.flatnonzero(np.diff(low) > 1) + 1)
    thresholds = [gap[np.argmin(cost[gap])] for gap in gaps]
    level = np.empty(len(vector), dtype=np.intp)
    level[order] = np.searchsorted(thresholds, np.arange(len(vector)))
    volume = np.bincount(level, weights=degrees)
    values = (np.bincount(level, weights=degrees * away) / volume)[level]
    # as many levels of one size as these are worth: evenly spread values would leave 1 / count² of their variance
    count = volume.sum() ** 2 / (volume**2).sum()
    left = degrees @ (away - values) ** 2 / spread
    rougher = float(values @ (penalty @ values)) / (degrees @ values**2) / (energy / spread)
    return np.asarray(values) if left * count**2 <= _LEFT_OVER and rougher <= _ROUGHER else None


def _standardized(columns: Floats) -> Floats:
    centered = columns - columns.mean(axis=0)
    spread = np.sqrt(np.mean(centered**2, axis=0))
    return np.asarray(centered / np.where(spread > 0, spread, 1.0))


def _unpredicted(taken: Floats, others: Floats, entries_per_block: int) -> Floats:
    """The r of each of the other vectors, given those taken (columns of mean 0 and variance 1)."""
    m, q = taken.shape
    near = _NEIGHBORS_PER_TERM * (q + 1)
    if q > _MOST_TAKEN or m < _NEIGHBORHOODS * near:
        return np.full(others.shape[1], np.nan)
    misfit = others - _local_planes(taken, near, entries_per_block) @ others
    return np.asarray(np.sqrt(np.mean(misfit**2, axis=0)))


def _local_planes(places: Floats, near: int, entries_per_block: int) -> csr_array:
    """S (m, m): S φ are the leave-one-out values of local planes fitted around each point."""
    m, q = places.shape
    distances, columns = cKDTree(places).query(places, _CUT * near + 1)
    itself = columns == np.arange(m)[:, None]
    itself[~itself.any(axis=1), -1] = True  # among more than so many at one place it may not be the first
    distances, columns = (kept[~itself].reshape(m, -1) for kept in (distances, columns))
    smoother = np.empty_like(distances)
    value = np.eye(q + 1)[0]  # of a plane at its centre
    for part in beats(blocks(m, max(1, entries_per_block // (_CUT * near * (q + 1))))):
        width = distances[part, near - 1, None]
        width = np.where(width > 0, width, 1.0)
        steps = (places[columns[part]] - places[part][:, None, :]) / width[..., None]  # (b, k, q)
        terms = np.concatenate([np.ones((*steps.shape[:2], 1)), steps], axis=2)  # (b, k, 1 + q)
        weighted = terms * np.exp(-((distances[part] / width) ** 2))[..., None]
        grams = terms.transpose(0, 2, 1) @ weighted
        grams += _RIDGE * grams[:, :1, :1] * np.diag(1 - value)
        at_center = np.linalg.solve(grams, np.broadcast_to(value[:, None], (len(grams), q + 1, 1)))
        smoother[part] = (weighted @ at_center)[..., 0]
    return csr_array((smoother.ravel(), columns.ravel(), columns.shape[1] * np.arange(m + 1)), shape=(m, m))

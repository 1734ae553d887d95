"""Which eigenvectors show a new direction, and which are functions of those before them.

On a sheet much longer than high the smoothest functions cos(πs/a), cos(2πs/a), … all run along its length s; the first
that knows of its height comes later. An eigenvector φ is compared with what the vectors Φ taken before it predict:

    r² = Σ_i (φ_i − φ̂_i)² / Σ_i (φ_i − mean φ)²
    φ̂_i = value at i of the plane fitted to all φ_j but φ_i itself, with weights exp(−|Φ_i − Φ_j|² / h_i²)

r is near 0 for a function of Φ and near 1 for a new direction.

Dsilva, Talmon, Coifman, Kevrekidis, Appl. Comput. Harmon. Anal. 44 (2018). There Φ holds all earlier vectors and h is
a third of their median distance. Here Φ holds only those taken, for an overtone with a trace of the height in it would
predict the height itself; and h_i reaches a set number of neighbours, for at a fixed width the higher overtones
bend too much for a plane and would pass as new.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers

# Below this r an eigenvector repeats others: they predict three quarters of its variance.
NEW_DIRECTION = 0.5
# At most so many rows are looked at, at even steps through the data: the same ones every time.
_SAMPLE = 4_000
# h_i reaches this many neighbours for each number that a plane is made of; the weights are cut off where twice as many
# lie nearer. With fewer rows than so many such neighbourhoods nothing is told ...
_NEIGHBORS_PER_TERM = 5
_CUT = 2
_NEIGHBORHOODS = 5
# ... and more than the first six taken are not asked: in seven dimensions no sample is dense.
_MOST_TAKEN = 6
_RIDGE = 1e-3  # on slopes: where neighbours lie along a line, or coincide, a plane would be anything
_ENTRIES_PER_BLOCK = 1_000_000
_EUCLIDEAN = Metric("euclidean", "euclidean")


@dataclass(frozen=True)
class Directions:
    """Which eigenvectors were taken as new directions, and r of each that was looked at."""

    taken: Integers  # (q,) ascending
    novelty: Floats  # (p,) r; 1 for the first, NaN where there are too few rows to tell


def new_directions(vectors: Floats, most: int) -> Directions:
    """The first `most` new directions among eigenvectors (n, p); one whose r is not known counts as new."""
    n, p = vectors.shape
    rows = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)
    sample = vectors[rows] - vectors[rows].mean(axis=0)
    spread = np.sqrt(np.mean(sample**2, axis=0))
    sample /= np.where(spread > 0, spread, 1.0)
    taken, novelty = [0], np.full(p, np.nan)
    novelty[0] = 1.0
    while len(taken) < most and taken[-1] + 1 < p:
        rest = np.arange(taken[-1] + 1, p)
        # what fewer predict is predicted, though in more dimensions neighbours are farther and the planes rougher
        novelty[rest] = np.fmin(novelty[rest], _unpredicted(sample[:, taken], sample[:, rest]))
        fresh = rest[~(novelty[rest] < NEW_DIRECTION)]  # an unknown one too
        if not fresh.size:
            break
        taken.append(int(fresh[0]))
    return Directions(np.array(taken), novelty)


def _unpredicted(taken: Floats, others: Floats) -> Floats:
    """How far each of the other vectors is from a function of those taken: its r (columns of mean 0 and variance 1)."""
    m, q = taken.shape
    near = _NEIGHBORS_PER_TERM * (q + 1)
    if q > _MOST_TAKEN or m < _NEIGHBORHOODS * near:
        return np.full(others.shape[1], np.nan)
    misfit = others - _local_planes(taken, near) @ others
    return np.asarray(np.sqrt(np.mean(misfit**2, axis=0)))


def _local_planes(places: Floats, near: int) -> csr_array:
    """S (m, m): S φ are the values that planes fitted around each place, without it, have there."""
    m, q = places.shape
    lists = TreeIndex(places, _EUCLIDEAN, n_jobs=1).own(_CUT * near, None)
    columns, distances = lists.indices.reshape(m, -1), lists.distances.reshape(m, -1)
    smoother = np.empty_like(distances)
    value = np.eye(q + 1)[0]  # of a plane at its centre
    for part in blocks(m, max(1, _ENTRIES_PER_BLOCK // (_CUT * near * (q + 1)))):
        width = distances[part, near - 1, None]
        width = np.where(width > 0, width, 1.0)
        steps = (places[columns[part]] - places[part][:, None, :]) / width[..., None]  # (b, k, q)
        terms = np.concatenate([np.ones((*steps.shape[:2], 1)), steps], axis=2)  # (b, k, 1 + q)
        weighted = terms * np.exp(-((distances[part] / width) ** 2))[..., None]
        grams = terms.transpose(0, 2, 1) @ weighted
        grams += _RIDGE * grams[:, :1, :1] * np.diag(1 - value)
        at_center = np.linalg.solve(grams, np.broadcast_to(value[:, None], (len(grams), q + 1, 1)))
        smoother[part] = (weighted @ at_center)[..., 0]
    return csr_array((smoother.ravel(), columns.ravel(), lists.indptr), shape=(m, m))

"""The way back by a mixture of local affine maps, from the map to the data.

    x(y) = Σ_k q_k(y) (x_k + (y − y_k) B_k),    q_k(y) ∝ π_k N(y; y_k, V_k),  Σ_k q_k = 1

A kernel k is a patch of the data: y_k, V_k are the mean and covariance of its places on the map, B_k carries a step on
the map to a step in the data. A method that knows its affine maps gives them (`AffineMixture.of`; kernel eigenmaps: the
pseudo-inverses of its blocks). For any other map `MixtureInverse` makes patches by k-means on the map and finds x_k and
B_k by least squares over the training rows, weighted by q_k. Brand, IJCAI 2003, section 3.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from gramfold.extension.judging import cross_validated
from gramfold.kernels.landmarks import told_apart
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks, openmp_threads
from gramfold.types import Floats, Integers

_ENTRIES_PER_BLOCK = 2_000_000
_ROWS_PER_NUMBER = 4  # training rows for each of the p + 1 numbers that a patch learns for a column
_LEAST_ROWS = 2  # and at least so many
_MOST_PATCHES = 400  # beyond which a place costs more than the patches gain
_ROWS_PER_CENTER = 20  # that k-means sees
_ROUNDS = 20
# Variance of a patch that is added to each of its directions, relative to its largest: patches meet without gaps.
_FLOOR = 1e-3
_RANK_CUT = 1e-12  # relative to the largest eigenvalue of a patch: what is below it has no slope


@dataclass(frozen=True)
class AffineMixture:
    """Affine maps of kernels on the map, blended by their responsibilities."""

    constants: Floats  # (m,) log π_k − ½ log |V_k|
    middles: Floats  # (m, p) y_k
    roots: Floats  # (m, p, p) R with R Rᵀ = V_k⁻¹
    rows: Floats  # (m, d) x_k
    slopes: Floats  # (m, p, d) B_k
    bounds: Floats | None = None  # (2, m, d) the least and largest values of each kernel; blended as its map is

    @classmethod
    def of(
        cls,
        shares: Floats,
        middles: Floats,
        covariances: Floats,
        rows: Floats,
        slopes: Floats,
        bounds: Floats | None = None,
    ) -> "AffineMixture":
        """From π (m,), y (m, p), V (m, p, p) positive definite, x (m, d) and B (m, p, d)."""
        constants, roots = _gaussians(shares, covariances)
        return cls(constants, middles, roots, rows, slopes, bounds)

    def responsibilities(self, places: Floats) -> Floats:
        """q_k(y), (b, m)."""
        return _responsibilities(places[:, None, :] - self.middles, self.constants, self.roots)

    def __call__(self, places: Floats) -> Floats:
        """Data rows (b, d) that belong to these places."""
        (m, p, d), made = self.slopes.shape, np.empty((len(places), self.rows.shape[1]))
        slopes = self.slopes.reshape(m * p, d)
        for part in beats(blocks(len(places), max(1, _ENTRIES_PER_BLOCK // (m * p)))):
            away = places[part, None, :] - self.middles  # (b, m, p)
            shares = _responsibilities(away, self.constants, self.roots)
            steps = (shares[:, :, None] * away).reshape(len(away), m * p)
            made[part] = shares @ self.rows + steps @ slopes
            if self.bounds is not None:
                np.clip(made[part], shares @ self.bounds[0], shares @ self.bounds[1], out=made[part])
        return made


class MixtureInverse:
    """A mixture of affine maps learned from training rows and their places."""

    def __init__(self, places: Floats, rows: Floats) -> None:
        places = np.asarray(places, dtype=np.float64)
        self._places, self._rows = places, rows
        self.mixture = learned_mixture(places, rows)

    def __call__(self, places: Floats) -> Floats:
        """Data rows that belong to these places."""
        return self.mixture(places)

    def judge(self) -> float:
        """Root mean square misfit of rows that the mixture has not seen, relative to their spread."""
        return cross_validated(learned_mixture, self._places, self._rows)


def learned_mixture(places: Floats, rows: Floats) -> AffineMixture:
    """Patches by k-means on the map, their affine maps by weighted least squares."""
    with openmp_threads():
        label = _patches(places)
    m, p = int(label.max()) + 1, places.shape[1]
    counts = np.bincount(label).astype(np.float64)
    middles = np.stack([np.bincount(label, weights=column) for column in places.T], axis=1) / counts[:, None]
    covariances = np.empty((m, p, p))
    smallest = np.finfo(np.float64).tiny + np.finfo(np.float64).eps * float(np.square(places).max())
    for k in range(m):
        away = places[label == k] - middles[k]
        scatter = away.T @ away / counts[k]
        covariances[k] = scatter + (_FLOOR * float(scatter.diagonal().max()) + smallest) * np.eye(p)
    constants, roots = _gaussians(counts / len(places), covariances)
    sums = _weighted_sums(places, rows, middles, constants, roots)
    slopes = sums.slopes()
    # each affine map stated about the middle of its Gaussian
    at_middles = sums.rows + np.einsum("mp,mpd->md", middles - sums.middles, slopes)
    return AffineMixture(constants, middles, roots, at_middles, slopes)


def _patches(places: Floats) -> Integers:
    """The patch (n,) of each place, numbered without gaps."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    n, p = places.shape
    m = min(_MOST_PATCHES, n // (_ROWS_PER_NUMBER * (p + 1)))
    if m < 2:
        return np.zeros(n, dtype=np.intp)
    seen = places[np.linspace(0, n - 1, min(n, _ROWS_PER_CENTER * m)).astype(np.intp)]
    m = min(m, told_apart(seen))  # copies cannot have patches of their own
    found = KMeans(m, n_init=1, max_iter=_ROUNDS, random_state=0).fit(seen)
    centers = found.cluster_centers_
    label = pairwise_distances_argmin(places, centers)
    # a patch of too few rows for an affine map of its own, as around a row that lies alone, is its neighbours'
    large = np.bincount(label, minlength=len(centers)) > _LEAST_ROWS * (p + 1)
    if large.any():
        label = pairwise_distances_argmin(places, centers[large])
    return np.asarray(np.unique(label, return_inverse=True)[1])


def _gaussians(shares: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """The logarithms log π − ½ log |V|, and R with R Rᵀ = V⁻¹."""
    values, vectors = np.linalg.eigh(covariances)
    with np.errstate(divide="ignore"):  # a kernel without a share answers for nothing
        logarithms = np.log(shares)
    return logarithms - 0.5 * np.log(values).sum(axis=1), vectors / np.sqrt(values)[:, None, :]


def _responsibilities(away: Floats, constants: Floats, roots: Floats) -> Floats:
    whitened = np.einsum("bmp,mpq->bmq", away, roots, optimize=True)
    joint = constants - 0.5 * np.square(whitened).sum(axis=2)
    return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))


@dataclass(frozen=True)
class _Sums:
    """Weighted means of places and rows for each kernel, and their second moments about them."""

    middles: Floats  # (m, p)
    rows: Floats  # (m, d)
    scatters: Floats  # (m, p, p) Σ q dy dyᵀ
    pulled: Floats  # (m, p, d) Σ q dy dxᵀ

    def slopes(self) -> Floats:
        """Least squares: scatter† pulled."""
        values, vectors = np.linalg.eigh(self.scatters)
        kept = values > _RANK_CUT * values[:, -1:]
        inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
        return np.asarray(vectors @ (inverse[:, :, None] * (vectors.transpose(0, 2, 1) @ self.pulled)))


def _weighted_sums(places: Floats, rows: Any, middles: Floats, constants: Floats, roots: Floats) -> _Sums:
    (n, p), (m, d) = places.shape, (len(middles), rows.shape[1])
    center = rows.mean(axis=0, dtype=np.float64)  # rows far from the origin would lose digits
    weights, steps, own = np.zeros(m), np.zeros((m, p)), np.zeros((m, d))
    squares, pulled = np.zeros((m, p, p)), np.zeros((m * p, d))
    for part in beats(blocks(n, max(1, _ENTRIES_PER_BLOCK // (m * p)))):
        away = places[part, None, :] - middles
        shares = _responsibilities(away, constants, roots)
        moved = rows[part] - center
        weighted = shares[:, :, None] * away
        weights += shares.sum(axis=0)
        steps += weighted.sum(axis=0)
        own += shares.T @ moved
        squares += np.einsum("bmp,bmq->mpq", weighted, away, optimize=True)
        pulled += weighted.reshape(len(away), m * p).T @ moved
    mean_step, mean_row = steps / weights[:, None], own / weights[:, None]
    scatters = squares - weights[:, None, None] * mean_step[:, :, None] * mean_step[:, None, :]
    pulled = pulled.reshape(m, p, d) - steps[:, :, None] * mean_row[:, None, :]
    return _Sums(middles + mean_step, center + mean_row, scatters, pulled)

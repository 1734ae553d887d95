"""The Gram matrix of rows in a linear kernel, known through the rows themselves and never n × n.

    K = F Fᵀ,  F = (X − 1 meanᵀ) · root;    K_ij = (x_i − mean)ᵀ G (x_j − mean) with the metric G = root rootᵀ

Principal components have root = I; white noise of covariance R has root = R^-½. Rows stay in their own dtype, dense or
sparse, and are centred in float64, a block at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers, Kernel

_ENTRIES_PER_BLOCK = 100_000


@dataclass(frozen=True)
class LinearGram(Kernel):
    """See the module."""

    points: Any  # (n, d) the rows, dense or CSR
    mean: Floats  # (d,)
    root: Floats | None  # (d, r); None is the identity
    mass: Floats
    null: Floats
    rows: Integers
    scatter: Floats | None = None  # (d, d) S = Σ (x − mean)(x − mean)ᵀ, where it is at hand
    exponent: float = 0.5
    kind: Literal["gram"] = "gram"

    @property
    def everybody(self) -> Any:
        """What is stored of every row."""
        return self.points

    def product(self, vectors: Floats) -> Floats:
        """F (Fᵀ V)."""
        pulled = pull(self.points, self.mean, np.asarray(vectors, dtype=np.float64))  # (d, p)
        return project(self.points, self.mean, pulled if self.root is None else self.root @ (self.root.T @ pulled))

    def matrix(self) -> Floats:
        """The whole matrix, n × n."""
        if self.root is not None or not issparse(self.points):
            features = self._features()
            return np.asarray(features @ features.T)
        wide = self.points.astype(np.float64)
        against_mean = wide @ self.mean
        values = (wide @ wide.T).toarray()
        return np.asarray(values - against_mean[:, None] - against_mean[None, :] + self.mean @ self.mean)

    def trace(self) -> float:
        """Σ |f|² over the rows."""
        return self._squares

    @cached_property
    def _squares(self) -> float:
        if self.scatter is not None:
            return float(np.trace(self.scatter) if self.root is None else np.vdot(self.root, self.scatter @ self.root))
        if self.root is None:
            return squared_spread(self.points, self.mean)
        return float(np.square(self._features()).sum())

    def misfit(self, directions: Floats, values: Floats) -> Floats | None:
        """‖K v − λ v‖ of v = (X − 1 meanᵀ) n / √λ, for each n; None without the scatter.

        It is |(X − 1 meanᵀ) g| / √λ with g = (root rootᵀ S − λ) n, so that nothing of the size of the table is read.
        """
        if self.scatter is None:
            return None
        pulled = self.scatter @ directions
        g = (pulled if self.root is None else self.root @ (self.root.T @ pulled)) - directions * values
        size = np.abs(g).max(axis=0, initial=np.finfo(np.float64).tiny)  # whose square may overflow
        g /= size
        return np.asarray(size * np.sqrt(np.maximum((g * (self.scatter @ g)).sum(axis=0), 0.0) / values))

    def offset(self) -> float:
        """Size of what the centring takes out: rows round by eps·|mean| each, which the other factor multiplies."""
        stretch = 1.0 if self.root is None else float(np.linalg.norm(self.root, 2))
        return float(np.linalg.norm(self.mean)) * stretch * float(np.sqrt(self.trace()))

    def _features(self) -> Floats:
        if self.root is not None:
            return project(self.points, self.mean, self.root)
        return np.asarray(self.points - self.mean)


def linear_gram(points: Any, mean: Floats, root: Floats | None = None, scatter: Floats | None = None) -> LinearGram:
    """The Gram matrix of these rows about a mean; they are kept, not copied."""
    n = points.shape[0]
    return LinearGram(points, mean, root, mass=np.ones(n), null=np.ones((n, 1)), rows=np.arange(n), scatter=scatter)


def project(points: Any, mean: Floats, directions: Floats) -> Floats:
    """(X − 1 meanᵀ) · directions, (n, p)."""
    if issparse(points):
        return np.asarray(points @ directions - mean @ directions)
    places = np.empty((points.shape[0], directions.shape[1]))
    for part, block in centered(points, mean):
        np.matmul(block, directions, out=places[part])
    return places


def pull(points: Any, mean: Floats, vectors: Floats) -> Floats:
    """(X − 1 meanᵀ)ᵀ · vectors, (d, p)."""
    if issparse(points):
        return np.asarray(points.T @ vectors - np.outer(mean, vectors.sum(axis=0)))
    pulled = np.zeros((points.shape[1], vectors.shape[1]))
    for part, block in centered(points, mean):
        pulled += block.T @ vectors[part]
    return pulled


def squared_spread(points: Any, mean: Floats) -> float:
    """Σ |x − mean|² over the rows."""
    if issparse(points):
        values = points.data.astype(np.float64)
        # Σ|x|² − 2 Σ⟨x, mean⟩ + n|mean|²
        return float(values @ values - 2 * (points @ mean).sum() + points.shape[0] * (mean @ mean))
    return float(sum(np.vdot(block, block) for _, block in centered(points, mean)))


def row_blocks(points: Floats) -> Iterator[slice]:
    """Stretches of dense rows that stay in the cache."""
    yield from blocks(len(points), max(1, _ENTRIES_PER_BLOCK // points.shape[1]))


def centered(points: Floats, mean: Floats) -> Iterator[tuple[slice, Floats]]:
    """Blocks of dense rows with the mean taken off, in float64."""
    for part in row_blocks(points):
        yield part, points[part] - mean

"""The map that a plain method makes of some rows, to compare another with: PCA, or classical scaling of distances.

Beyond one pass over each column its cost does not grow with the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from gramfold.neighbors.metrics import Metric
from gramfold.types import Floats, Integers

_MORE_VECTORS, _ROUNDS = 6, 5  # of the block power method: a plain map need not be exact
_FEW_COLUMNS = 32  # of which all eigenvectors are sooner found than some


class Data(Protocol):
    """What the rows of a map are in the data."""

    def squares(self, left: Integers, right: Integers) -> Floats:
        """Squared distances between these rows and those."""

    def plain_map(self, rows: Integers, dimensions: int) -> Floats:
        """Places of these rows on the map of PCA, or for distances of classical scaling."""


@dataclass(frozen=True)
class Rows:
    """A table, dense or sparse, under the Euclidean metric, or the cosine one if `unit` makes rows of one length."""

    table: Any
    unit: Metric

    def _rows(self, rows: Integers) -> Any:
        return self.unit.prepare(self.table[rows]).astype(np.float64)

    def squares(self, left: Integers, right: Integers) -> Floats:
        asked, points = self._rows(left), self._rows(right)
        if not issparse(points):
            mean = points.mean(axis=0)  # so that less is lost to rounding
            asked, points = asked - mean, points - mean
        products = asked @ points.T
        products = products.toarray() if issparse(products) else products
        return np.asarray(np.maximum(_lengths(asked)[:, None] + _lengths(points) - 2.0 * products, 0.0))

    def plain_map(self, rows: Integers, dimensions: int) -> Floats:
        points = self._rows(rows)
        if issparse(points) and points.shape[1] > points.shape[0]:  # vectors of all columns would be long
            return classical_map(self.squares(rows, rows), dimensions)
        mean = np.asarray(points.mean(axis=0)).ravel()

        def scatter(axes: Floats) -> Floats:
            places = points @ axes - mean @ axes
            return np.asarray(points.T @ places - np.outer(mean, places.sum(axis=0)))

        return np.asarray(points @ _leading(scatter, len(mean), dimensions))


@dataclass(frozen=True)
class Distances:
    """A square matrix of all distances."""

    matrix: Floats

    def squares(self, left: Integers, right: Integers) -> Floats:
        return np.asarray(np.square(self.matrix[np.ix_(left, right)], dtype=np.float64))

    def plain_map(self, rows: Integers, dimensions: int) -> Floats:
        return classical_map(self.squares(rows, rows), dimensions)


def rows_by(metric: Metric, table: Any) -> Rows | None:
    """A table under this metric; None where that has no products to make distances quickly."""
    return Rows(table, metric) if metric.family == "euclidean" else None


def all_distances(matrix: Any) -> Distances | None:
    """A matrix of all distances; None of one that holds some."""
    return None if issparse(matrix) or matrix.shape[0] != matrix.shape[1] else Distances(matrix)


def classical_map(squared: Floats, dimensions: int) -> Floats:
    """Classical scaling (m, p) of squared distances."""
    means = squared.mean(axis=1)
    gram = -0.5 * (squared - means[:, None] - means[None, :] + means.mean())
    vectors = _leading(lambda block: gram @ block, len(gram), dimensions)
    lengths = np.einsum("ij,ij->j", vectors, gram @ vectors)
    return np.asarray(vectors * np.sqrt(np.maximum(lengths, 0.0)))


def _leading(product: Callable[[Floats], Floats], n: int, count: int) -> Floats:
    """About the leading eigenvectors (n, p) of a matrix that is known by its products: a block power method."""
    count = min(count, n)
    if n <= _FEW_COLUMNS:
        return np.asarray(np.linalg.eigh(product(np.eye(n)))[1][:, ::-1][:, :count])
    width = min(n, count + _MORE_VECTORS)
    # waves of all lengths: vectors that no data are made to be orthogonal to
    block = np.cos(np.outer(np.arange(n) + 0.5, np.arange(width) * (np.pi / n) * max(1, n // width) + 1.0))
    block = np.linalg.qr(block)[0]
    for _ in range(_ROUNDS):
        block = np.linalg.qr(product(block))[0]
    _, turn = np.linalg.eigh(block.T @ product(block))
    return np.asarray((block @ turn)[:, ::-1][:, :count])


def _lengths(points: Any) -> Floats:
    """|x|² of each row."""
    if issparse(points):
        return np.asarray(points.multiply(points).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", points, points))

"""Slopes of the axes of a map by the columns of the data, within cells of the map.

    in cell c:  y − ȳ_c ≈ B_c (x − x̄_c) / s,    s the standard deviation of each column over all rows

By ridge regression, with the largest penalty whose leave-one-out R² is within a hundredth of the best: with less,
columns that vary together would have large slopes of both signs. For X̃ = U S Vᵀ, the rows of a cell less their mean and
over s, and f = S² / (S² + λ),

    ŷ = U f Uᵀ y,    h_i = 1/n + Σ_k U_ik² f_k,    e_i = (y_i − ŷ_i) / (1 − h_i)
    R² = 1 − Σ e_i² / Σ (y_i n/(n − 1))²

so that R² is what the slopes would say of rows that they were not made of: 0 for a map that has nothing to do with the
columns, however many of them there are. A cell is chosen by places on the map, which leaves less of y to explain in it;
R² within cells is rather too small than too large.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.neighbors.units import Unit
from gramfold.types import Floats, Integers

_PENALTIES = 10.0 ** np.arange(-6.0, 1.5, 0.5)  # of the largest S² of the cell
_WITHIN = 0.01  # of the variance of an axis
_LEAST = 1e-12  # of the largest S²: rounding
_LEAST_LEFT = 1e-6  # 1 − h of a row that only its own slope explains


@dataclass(frozen=True, eq=False)
class CellSlopes:
    """Slopes in each of some cells."""

    values: Floats  # (cells, p, d): change of y for one spread of a column, in standard deviations of the axis
    rows: Integers  # (cells,) number of rows
    unexplained: Floats  # (cells, p) Σ e²
    total: Floats  # (cells, p) Σ (y − ȳ)²

    @property
    def explained(self) -> Floats:
        """R² of each cell and axis, at least 0."""
        return shares_explained(self.unexplained, self.total)

    @property
    def explained_by_all(self) -> Floats:
        """R² of each axis over all cells."""
        return shares_explained(self.unexplained.sum(axis=0), self.total.sum(axis=0))


def shares_explained(unexplained: Floats, total: Floats) -> Floats:
    """1 − unexplained / total, at least 0."""
    shares = 1.0 - np.divide(unexplained, total, out=np.ones_like(total), where=total > 0)
    return np.asarray(np.maximum(shares, 0.0))


def spreads_of(X: Any) -> Floats:
    """Standard deviation of each column, (d,)."""
    unit = Unit.of_rows(X).size  # no square overflows
    if not issparse(X):
        return np.asarray(unit * (X / unit).std(axis=0, dtype=np.float64))
    X = X / unit
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0, dtype=np.float64)).ravel()
    return np.asarray(unit * np.sqrt(np.maximum(squares - mean**2, 0.0)))


def regressed(X: Any, Y: Floats, spreads: Floats, cell: Integers) -> CellSlopes:
    """By ridge regression; Y has the unit of its standard deviations, `cell` is that of each row."""
    count = int(cell.max()) + 1
    parts = [_Cell.of(X[cell == c], Y[cell == c], spreads) for c in range(count)]
    # one penalty for all cells, relative to each: a cell alone has few rows to choose it from
    errors = np.array([[part.misses(share) for share in _PENALTIES] for part in parts])  # (cells, penalties, p)
    by_penalty, total = errors.sum(axis=0), sum(part.total for part in parts)  # (penalties, p) and (p,)
    good = by_penalty <= by_penalty.min(axis=0) + _WITHIN * total
    best = len(good) - 1 - good[::-1].argmax(axis=0)  # (p,) the largest of them
    chosen = _PENALTIES[best]
    return CellSlopes(
        np.stack([part.slopes(chosen) for part in parts]),
        np.bincount(cell, minlength=count),
        errors[:, best, np.arange(Y.shape[1])],
        np.stack([part.total for part in parts]),
    )


def derived(X: Any, Y: Floats, spreads: Floats, cell: Integers, slopes: Iterable[tuple[slice, Floats]]) -> CellSlopes:
    """By the mean of derivatives (b, p, d), a block of rows at a time, in the same units."""
    count, d = int(cell.max()) + 1, X.shape[1]
    sums, rows = np.zeros((count, Y.shape[1], d)), np.bincount(cell, minlength=count)
    for some, values in slopes:
        for c in np.unique(cell[some]):
            sums[c] += values[cell[some] == c].sum(axis=0)
    means = sums / np.maximum(rows, 1)[:, None, None]
    left, total = np.zeros((count, Y.shape[1])), np.zeros((count, Y.shape[1]))
    for c in range(count):
        y, z = Y[cell == c], _Centered.of(X[cell == c], spreads)
        away = y - y.mean(axis=0)
        left[c], total[c] = np.square(away - z.times(means[c].T)).sum(axis=0), np.square(away).sum(axis=0)
    return CellSlopes(means, rows, left, total)


def left_by(slopes: Floats, X: Any, Y: Floats, spreads: Floats, cell: Integers) -> Floats:
    """Σ e² (cells, p) that these slopes (p, d) leave in each cell, the same ones in all."""
    left = np.zeros((int(cell.max()) + 1, Y.shape[1]))
    for c in range(len(left)):
        y, z = Y[cell == c], _Centered.of(X[cell == c], spreads)
        left[c] = np.square(y - y.mean(axis=0) - z.times(slopes.T)).sum(axis=0)
    return left


def varies_with(X: Any, spreads: Floats, columns: Integers, least: float) -> np.ndarray:
    """Which columns (d,) have a correlation above `least`, of either sign, with one of these; these too."""
    own, z = _Centered.of(X[:, columns], spreads[columns]), _Centered.of(X, spreads)
    correlations = z.pulled(own.times(np.eye(len(columns)))) / X.shape[0]  # (d, few)
    return np.asarray((np.abs(correlations) > least).any(axis=1))


@dataclass(frozen=True, eq=False)
class _Centered:
    """Rows over the spreads of the columns, less their mean, which sparse ones keep beside."""

    rows: Any
    mean: Floats  # (d,); 0 where rows are centred

    @classmethod
    def of(cls, X: Any, spreads: Floats) -> "_Centered":
        units = np.where(spreads > 0, spreads, np.inf)  # a constant column is 0; one over a tiny spread would overflow
        if issparse(X):
            scaled = X.astype(np.float64).tocsr()
            scaled.data /= units[scaled.indices]
            return cls(scaled, np.asarray(scaled.mean(axis=0)).ravel())
        away = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
        return cls(away / units, np.zeros(X.shape[1]))

    def times(self, vectors: Floats) -> Floats:
        return np.asarray(self.rows @ vectors - self.mean @ vectors)

    def pulled(self, vectors: Floats) -> Floats:
        return np.asarray(self.rows.T @ vectors - np.outer(self.mean, vectors.sum(axis=0)))

    def gram(self) -> Floats:
        products = self.rows @ self.rows.T
        products = products.toarray() if issparse(products) else products
        own = self.rows @ self.mean
        return np.asarray(products - own[:, None] - own + self.mean @ self.mean)


@dataclass(frozen=True, eq=False)
class _Cell:
    """X̃ = U S Vᵀ of a cell, with y."""

    z: _Centered
    y: Floats  # (n, p) centred
    U: Floats  # (n, r)
    squares: Floats  # (r,) S²

    @classmethod
    def of(cls, X: Any, Y: Floats, spreads: Floats) -> "_Cell":
        z, y = _Centered.of(X, spreads), Y - Y.mean(axis=0)
        n, d = X.shape
        if n > d:
            scatter = z.pulled(z.times(np.eye(d)))
            values, vectors = np.linalg.eigh(scatter)
        else:
            values, vectors = np.linalg.eigh(z.gram())
        kept = values > _LEAST * max(float(values[-1]), np.finfo(np.float64).tiny)
        values, vectors = values[kept], vectors[:, kept]
        U = z.times(vectors) / np.sqrt(values) if n > d else vectors
        return cls(z, y, U, values)

    def _shrunk(self, share: float) -> Floats:
        return np.asarray(self.squares / (self.squares + share * self.squares.max(initial=0.0)))

    @property
    def total(self) -> Floats:
        """Σ of the squared leave-one-out errors of the mean alone."""
        n = len(self.y)
        return np.asarray(np.square(self.y * (n / max(n - 1, 1))).sum(axis=0))

    def misses(self, share: float) -> Floats:
        """Σ of the squared leave-one-out errors with this penalty, (p,)."""
        shrunk = self._shrunk(share)
        left = 1.0 - 1.0 / len(self.y) - np.square(self.U) @ shrunk
        off = self.y - self.U @ (shrunk[:, None] * (self.U.T @ self.y))
        return np.asarray(np.square(off / np.maximum(left, _LEAST_LEFT)[:, None]).sum(axis=0))

    def slopes(self, shares: Floats) -> Floats:
        """(p, d), with a penalty for each axis."""
        inside = self.U.T @ self.y  # (r, p)
        duals = np.stack([inside[:, a] * self._shrunk(share) / self.squares for a, share in enumerate(shares)], axis=1)
        return np.asarray(self.z.pulled(self.U @ duals).T)

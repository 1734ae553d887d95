"""Correlations of columns: what factor analysis reads of a table."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gramfold.errors import NotConvergedError
from gramfold.spectral.dense import eigenpairs_between, leading_eigenpairs
from gramfold.types import Floats, Integers

_RIDGE = 1e-3  # added to correlations whose inverse is asked for: columns may be the same, or more than rows
_EXACTLY = 1e-9  # eigenvalue of the correlations of columns that are functions of one another, at most
_INVOLVED = 1e-3  # what a column contributes to such a function, at least


@dataclass(frozen=True)
class Correlations:
    """Correlations of m columns: the matrix, or the rows themselves where these are fewer."""

    matrix: Floats | None  # (m, m)
    rows: Floats | None = None  # (n, m) of mean 0 and variance 1

    def leading(self, shares: Floats, count: int) -> tuple[Floats, Floats]:
        """The leading eigenpairs of Ψ^-½ R Ψ^-½, at most so many, descending; only those above 1."""
        weights = 1.0 / np.sqrt(shares)
        if self.matrix is not None:
            values, vectors = _eigenpairs(self.matrix * weights * weights[:, None], count)
            kept = values > 1
            return values[kept], vectors[:, kept]
        assert self.rows is not None
        scaled = self.rows * (weights / np.sqrt(len(self.rows)))
        values, vectors = _eigenpairs(scaled @ scaled.T, count)
        kept = values > 1
        return values[kept], scaled.T @ (vectors[:, kept] / np.sqrt(values[kept]))

    def dependent(self, columns: Integers) -> Integers:
        """Those of these columns that are linear functions of the others of them."""
        if self.matrix is not None:
            own = self.matrix[np.ix_(columns, columns)]
        else:
            assert self.rows is not None
            if len(columns) >= len(self.rows):
                return columns
            own = self.rows[:, columns].T @ self.rows[:, columns] / len(self.rows)
        values, vectors = np.linalg.eigh(own)
        return np.asarray(columns[(np.abs(vectors[:, values < _EXACTLY]) > _INVOLVED).any(axis=1)])

    def unexplained(self) -> Floats:
        """The share of each column's variance that the others do not explain, 1 / (R⁻¹)_jj, (m,)."""
        if self.matrix is not None:
            return np.asarray(1.0 / np.diag(np.linalg.inv(self.matrix + _RIDGE * np.eye(len(self.matrix)))))
        assert self.rows is not None
        n = len(self.rows)
        factor = cho_factor(self.rows @ self.rows.T + n * _RIDGE * np.eye(n))
        return np.asarray(_RIDGE / (1.0 - (self.rows * cho_solve(factor, self.rows)).sum(axis=0)))


def _eigenpairs(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    try:
        return leading_eigenpairs(matrix, count)[1:]
    except NotConvergedError:  # eigenvalues of a large matrix that lie close together
        values, vectors = eigenpairs_between(matrix, len(matrix) - count, len(matrix) - 1)
        return values[::-1], vectors[:, ::-1]

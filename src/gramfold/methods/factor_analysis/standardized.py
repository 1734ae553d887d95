"""Columns made alike: each with mean 0 and variance 1, so that the unit of none of them matters."""

from dataclasses import dataclass

import numpy as np

from gramfold.embedding import Table
from gramfold.kernels.linear import mean_and_scatter, mean_of
from gramfold.methods.factor_analysis.correlations import Correlations
from gramfold.types import Floats

_ROUNDING = 4 * float(np.finfo(np.float64).eps)  # of the mean: a column that varies by no more is constant


@dataclass(frozen=True)
class Standardized:
    """What is known of the columns of a table."""

    mean: Floats  # (d,)
    deviations: Floats  # (d,) by n; 0 where a column never varies
    correlations: Correlations  # of the others
    scatter: Floats | None  # (d, d) Σ m (x − mean)(x − mean)ᵀ, where it was made


def memory(n: int, columns: int) -> float:
    """Bytes beyond what all linear maps need."""
    # correlations, the same in units of the noise, and what LAPACK does with them; or two copies of the rows
    return 8.0 * (4 * columns**2 if columns <= n else 2 * n * columns + 4 * n**2)


def standardized(table: Table, n_jobs: int | None, mass: Floats | None = None) -> Standardized:
    """From the covariance matrix, or from the rows (of this mass) where columns outnumber them."""
    n, d = table.rows.shape
    total = float(n) if mass is None else float(mass.sum())
    if d <= n:
        mean, scatter = table.moments or mean_and_scatter(table.rows, n_jobs, mass)
        deviations = _deviations(np.diag(scatter), mean, total)
        varies = deviations > 0
        sizes = np.sqrt(total) * deviations[varies]
        matrix = scatter[np.ix_(varies, varies)] / sizes / sizes[:, None]
        np.fill_diagonal(matrix, 1.0)
        return Standardized(mean, deviations, Correlations(matrix), scatter)
    mean = mean_of(table.rows, n_jobs, mass)
    moved = table.rows - mean
    if mass is not None:  # n rows that have the sums of squares of rows of this mass
        moved *= np.sqrt(mass * (n / total))[:, None]
    deviations = _deviations(np.square(moved).sum(axis=0), mean, n)
    varies = deviations > 0
    return Standardized(mean, deviations, Correlations(None, moved[:, varies] / deviations[varies]), None)


def _deviations(squares: Floats, mean: Floats, n: float) -> Floats:
    deviations = np.sqrt(np.maximum(squares, 0.0) / n)
    return np.where(deviations > _ROUNDING * np.abs(mean), deviations, 0.0)

"""Mean and scatter of rows in partitions.

    two parts a, b:  mean = mean_a + (n_b/n) δ,  S = S_a + S_b + (n_a n_b/n) δ δᵀ,  δ = mean_b − mean_a

Chan, Golub, LeVeque, The American Statistician 37 (1983).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gramfold.kernels.linear import mean_and_scatter
from gramfold.neighbors.units import Unit
from gramfold.types import Floats

_ENTRIES_BESIDE = 2_000


@dataclass(frozen=True, eq=False)
class Moments:
    """Of some rows; mean and scatter are not finite where a value is missing, or where squares overflow."""

    mean: Floats  # (d,)
    scatter: Floats  # (d, d) Σ (x − mean)(x − mean)ᵀ
    least: Floats  # (d,) of the values that are there
    most: Floats  # (d,)
    gaps: bool  # whether a value is missing
    sizes: Mapping[int, int]  # rows of each partition that has some

    @property
    def n(self) -> int:
        """How many rows they are of."""
        return sum(self.sizes.values())

    @property
    def varies(self) -> Any:
        """Which columns hold more than one value, (d,) of bool."""
        return self.least < self.most

    def unit(self, dtype: np.dtype[Any]) -> Unit:
        """That these rows are measured in, as the same rows in memory are."""
        return Unit.of_rows(np.fmax(np.abs(self.least), np.abs(self.most)).astype(dtype)[None])


def moments_of(rows: Floats, number: int) -> Moments:
    """Of the rows of the partition of this number."""
    mean, scatter = mean_and_scatter(rows)
    gaps = bool(np.isnan(mean).any() and np.isnan(rows).any())
    return Moments(mean, scatter, _over_rows(np.fmin, rows), _over_rows(np.fmax, rows), gaps, {number: len(rows)})


def _over_rows(reduce: np.ufunc, rows: Floats) -> Floats:
    """Of each column: of many rows side by side first, which is several times as fast where columns are few."""
    beside = max(1, _ENTRIES_BESIDE // rows.shape[1])
    whole = len(rows) // beside * beside
    if whole:
        wide = reduce.reduce(rows[:whole].reshape(-1, beside * rows.shape[1]), axis=0)
        rows = np.vstack([wide.reshape(beside, -1), rows[whole:]])
    return np.asarray(reduce.reduce(rows, axis=0))


def merged(a: Moments, b: Moments) -> Moments:
    """Of both together."""
    mean, scatter = joint(a.n, a, b.n, b)
    least, most = np.fmin(a.least, b.least), np.fmax(a.most, b.most)
    return Moments(mean, scatter, least, most, a.gaps or b.gaps, {**a.sizes, **b.sizes})


class Spread(Protocol):
    """Mean and scatter of some rows."""

    @property
    def mean(self) -> Floats:
        """(d,)."""

    @property
    def scatter(self) -> Floats:
        """(d, d) Σ (x − mean)(x − mean)ᵀ."""


def joint(m: int, a: Spread, n: int, b: Spread) -> tuple[Floats, Floats]:
    """Mean and scatter of m rows and n others."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = b.mean - a.mean
        scatter = a.scatter + b.scatter + (m * (n / (m + n))) * np.outer(away, away)
        return a.mean + (n / (m + n)) * away, scatter

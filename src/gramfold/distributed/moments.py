"""Mean and scatter of rows in partitions, and a few rows with masses that have the same.

    two parts a, b:  mean = mean_a + (n_b/n) δ,  S = S_a + S_b + (n_a n_b/n) δ δᵀ,  δ = mean_b − mean_a
    stand-ins:       mean ± h R/√n for the rows h of a Hadamard matrix, Rᵀ R = S, all of the same mass; they add up to n

Any fit that sees rows only through their mean and scatter finds the same map for the stand-ins as for all n rows.
Along each principal axis a stand-in is one standard deviation from the mean, so that no row of the table is amid them
where the table ends.  Chan, Golub, LeVeque, The American Statistician 37 (1983).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import hadamard

from gramfold.errors import InputError
from gramfold.kernels.linear import mean_and_scatter
from gramfold.types import Floats

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Moments:
    """Of some rows."""

    mean: Floats  # (d,)
    scatter: Floats  # (d, d) Σ (x − mean)(x − mean)ᵀ
    sizes: Mapping[int, int]  # rows of each partition that has some

    @property
    def n(self) -> int:
        """How many rows they are of."""
        return sum(self.sizes.values())


def moments_of(rows: Floats, number: int) -> Moments:
    """Of the rows of the partition of this number."""
    mean, scatter = mean_and_scatter(rows)
    return Moments(mean, scatter, {number: len(rows)})


def merged(a: Moments, b: Moments) -> Moments:
    """Of both together."""
    n, away = a.n + b.n, b.mean - a.mean
    scatter = a.scatter + b.scatter + (a.n * (b.n / n)) * np.outer(away, away)
    return Moments(a.mean + (b.n / n) * away, scatter, {**a.sizes, **b.sizes})


def root_of(scatter: Floats) -> Floats:
    """R (d, d) with Rᵀ R = S; directions that are no more than the rounding of S have none."""
    values, axes = np.linalg.eigh(scatter)
    values = np.where(values > 4 * len(values) * _EPS * values[-1], values, 0.0)
    return np.asarray(np.sqrt(values)[:, None] * axes.T)


@dataclass(frozen=True, eq=False)
class StandIns:
    """A few rows with the mean and scatter of n others."""

    rows: Floats  # (m, d)
    mass: float  # of each

    @classmethod
    def of(cls, mean: Floats, scatter: Floats, n: float) -> "StandIns":
        """For n rows of this mean and scatter."""
        if not (np.isfinite(mean).all() and np.isfinite(scatter).all()):
            raise InputError("the squares of some values of X overflow: divide X by a constant.")
        signs = signs_for(len(mean))
        away = signs @ root_of(scatter) / np.sqrt(n)
        return cls(mean + away, n / len(signs))


def signs_for(d: int) -> Floats:
    """±1 in d columns (m, d) that are orthogonal and add up to 0."""
    size = 1 << max(0, d - 1).bit_length()
    one: Any = hadamard(size)[:, :d]
    return np.vstack([one, -one]).astype(np.float64)

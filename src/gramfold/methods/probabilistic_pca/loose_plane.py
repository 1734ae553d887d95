"""A plane, and the latent points of rows with missing values.

    given the known values o of a row:  M = W_oᵀ W_o + σ² I,  z = M⁻¹ W_oᵀ (x_o − mean_o),  Cov z = σ² M⁻¹

Rows with the same values missing share M. Tipping, Bishop (1999), appendix.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.kernels.plane import LOG_TWO_PI, Plane
from gramfold.neighbors.units import Unit
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers

_ENTRIES_PER_BLOCK = 1_000_000
_ROWS_PER_GROUP = 1_000  # a longer group is cut, so that blocks stay small


@dataclass(frozen=True)
class Patterns:
    """Groups of rows with the same columns missing."""

    order: Integers  # (n,) row numbers, group by group
    starts: Integers  # (g + 1,) where each group begins
    seen: np.ndarray  # (g, d) 1.0 where a value is known

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """Group rows with NaN."""
        missing = np.isnan(rows)
        packed = np.packbits(missing, axis=1)
        order = np.lexsort(packed.T[::-1])
        fresh = (packed[order[1:]] != packed[order[:-1]]).any(axis=1)
        first = np.concatenate([[0], 1 + np.flatnonzero(fresh), [len(rows)]])
        starts = np.unique(np.concatenate([first, *(np.arange(a, b, _ROWS_PER_GROUP) for a, b in _pairs(first))]))
        return cls(order, starts, (~missing[order[starts[:-1]]]).astype(np.float64))

    def stream(self, width: int) -> Iterator[tuple[slice, slice, Integers]]:
        """Blocks of groups, the stretch of `order` that they cover, and the group of each of its rows in the block."""
        size = max(1, _ENTRIES_PER_BLOCK // (width * _typical(self.starts)))
        for part in blocks(len(self.seen), size):
            stretch = slice(self.starts[part.start], self.starts[part.stop])
            counts = np.diff(self.starts[part.start : part.stop + 1])
            yield part, stretch, np.repeat(np.arange(len(counts)), counts)


def _pairs(ends: Integers) -> Iterator[tuple[int, int]]:
    return zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)


def _typical(starts: Integers) -> int:
    return max(1, int(np.diff(starts).max(initial=1)))


@dataclass(frozen=True)
class Latent:
    """Posterior of the latent points of some rows, given their known values."""

    mean: Floats  # (b, p)
    inverse: Floats  # (g, p, p) M⁻¹ of each group: the covariance is σ² M⁻¹
    log_density: Floats  # (b,) of the known values


@dataclass(frozen=True)
class LoosePlane:
    """Mean, W and σ² of a plane; W in any rotation."""

    mean: Floats  # (d,)
    weights: Floats  # (d, p)
    noise: float

    def in_unit(self, unit: Unit) -> "LoosePlane":
        """The same plane in another unit."""
        return LoosePlane(unit.inward(self.mean), unit.inward(self.weights), float(unit.inward(self.noise, 2)))

    def principal(self) -> Plane:
        """The same plane by its principal axes."""
        axes, lengths, _ = np.linalg.svd(self.weights, full_matrices=False)
        return Plane(self.mean, axes, lengths**2 + self.noise, self.noise)

    def latent(self, moved: Floats, seen: Floats, group: Integers) -> Latent:
        """Latent points of centred rows (b, d), 0 where missing, of groups (g, d)."""
        W, p = self.weights, self.weights.shape[1]
        pairs = np.triu_indices(p)
        M = unpacked(seen @ (W[:, pairs[0]] * W[:, pairs[1]]), p)  # (g, p, p)
        M[:, np.arange(p), np.arange(p)] += self.noise
        inverse = np.linalg.inv(M)
        z = np.matmul(inverse[group], (moved @ W)[:, :, None])[:, :, 0]
        counts = seen.sum(axis=1)
        constant = counts * LOG_TWO_PI + (counts - p) * np.log(self.noise) + np.linalg.slogdet(M)[1]  # (g,)
        # (x − mean)ᵀ C⁻¹ (x − mean) = |x − mean − W z|² / σ² + |z|², over the known values
        off = np.square((moved - z @ W.T) * seen[group]).sum(axis=1) / self.noise
        return Latent(z, inverse, -0.5 * (constant[group] + off + np.square(z).sum(axis=1)))

    def read(self, rows: Floats) -> Iterator[tuple[Integers, Integers, Latent]]:
        """Blocks of row numbers, the group of each, and their latent points."""
        patterns = Patterns.of(rows)
        for part, stretch, group in patterns.stream(width_of(self.weights)):
            numbers = patterns.order[stretch]
            yield numbers, group, self.latent(np.nan_to_num(rows[numbers] - self.mean), patterns.seen[part], group)


def width_of(weights: Floats) -> int:
    """The number of values that a group of rows takes."""
    return int(weights.shape[0] + weights.shape[1] ** 2)


def unpacked(packed: Floats, p: int) -> Floats:
    """Symmetric matrices (g, p, p) from their upper triangles (g, p(p+1)/2)."""
    full = np.empty((len(packed), p, p))
    first, second = np.triu_indices(p)
    full[:, first, second] = packed
    full[:, second, first] = packed
    return full

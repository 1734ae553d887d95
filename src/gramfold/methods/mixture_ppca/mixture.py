"""Several planes, each a Gaussian, and the weight of each in the mixture.

    p(x) = Σ π_k N(x; m_k, C_k),  C_k = W_k W_kᵀ + σ_k² I;    r_k(x) = π_k N_k(x) / p(x)

Densities are those of rows divided by a power of two near their size: rounding and convergence then do not depend on
the unit of the rows. Tipping, Bishop, Neural Computation 11 (1999).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from gramfold.errors import InputError
from gramfold.kernels.plane import LOG_TWO_PI, Plane
from gramfold.neighbors.units import Unit
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import CENTERS, Floats, Plain

ENTRIES_PER_BLOCK = 200_000  # of rows, which stay in the cache while each plane reads them


@dataclass(frozen=True, eq=False)
class Mixture(Plain):
    """See the module."""

    center: Floats  # (d,) a point amid the rows, relative to which they are measured
    shares: Floats  # (K,) π
    planes: tuple[Plane, ...] = field(metadata=CENTERS)
    unit: Unit  # of the densities

    @cached_property
    def means(self) -> Floats:
        """Means (K, d) of all planes, relative to the centre."""
        return np.stack([plane.mean for plane in self.planes]) - self.center

    @cached_property
    def axes(self) -> Floats:
        """Axes (d, K p) of all planes, side by side."""
        return np.hstack([plane.axes for plane in self.planes])

    @cached_property
    def _constants(self) -> Floats:
        # log π_k − ½ (log |C_k| + d log 2π)
        determinants = np.array([plane.in_unit(self.unit).log_determinant for plane in self.planes])
        return np.asarray(
            np.log(np.maximum(self.shares, np.finfo(np.float64).tiny))
            - 0.5 * (determinants + len(self.center) * LOG_TWO_PI)
        )

    @cached_property
    def _precisions(self) -> tuple[Floats, Floats]:
        """1/σ² (K,), 0 where a plane fills the space, and 1/λ − 1/σ² (K, p)."""
        full = self.planes[0].axes.shape[0] == self.planes[0].axes.shape[1]
        off = np.array([0.0 if full else 1.0 / plane.noise for plane in self.planes])
        return off, np.stack([1.0 / plane.variances for plane in self.planes]) - off[:, None]

    def contiguous(self) -> Self:
        """The same with axes in one block of memory, as a pickle holds them: products then round as after loading."""
        planes = (replace(plane, axes=np.ascontiguousarray(plane.axes)) for plane in self.planes)
        return replace(self, planes=tuple(planes))

    def along(self, moved: Floats) -> Floats:
        """Coordinates (b, K, p) in each plane, relative to its mean, of rows relative to the centre."""
        K = len(self.planes)
        own = np.stack([mean @ plane.axes for mean, plane in zip(self.means, self.planes, strict=True)])  # (K, p)
        return np.asarray((moved @ self.axes).reshape(len(moved), K, -1) - own)

    def log_joint(self, moved: Floats, along: Floats) -> Floats:
        """Logarithms of π_k N_k(x), (b, K)."""
        off, within = self._precisions
        squares = np.square(moved).sum(axis=1)[:, None] - 2.0 * (moved @ self.means.T)
        squares += np.square(self.means).sum(axis=1)  # |x − m_k|²
        return np.asarray(self._constants - 0.5 * (squares * off + np.einsum("bkp,kp->bk", np.square(along), within)))

    def log_slopes(self, moved: Floats, along: Floats) -> Floats:
        """∇log N_k(x) = −(x − m_k) / σ² − U_k (1/λ − 1/σ²) Uᵀ_k (x − m_k), (b, K, d)."""
        off, within = self._precisions
        away = (moved[:, None] - self.means) * off[:, None]
        planes = np.stack([plane.axes for plane in self.planes])  # (K, d, p)
        return np.asarray(-away - np.einsum("bkp,kdp->bkd", along * within, planes))

    def read(self, rows: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Blocks of rows: r_k(x) (b, K), log p(x) (b,) in `unit`, and the coordinates in each plane (b, K, p)."""
        for part in beats(blocks(len(rows), max(1, ENTRIES_PER_BLOCK // len(self.center)))):
            moved = rows[part] - self.center
            along = self.along(moved)
            with np.errstate(over="ignore", invalid="ignore"):
                joint = self.log_joint(moved, along)
            near = np.isfinite(joint).any(axis=1)
            if not near.all():
                raise InputError(
                    f"row {part.start + int(near.argmin())} is so far from every plane that its squared distance "
                    "overflows: check the unit of this row, or remove it."
                )
            yield part, *shared(joint), along

    def rebuilt(self, rows: Floats) -> Floats:
        """Σ r_k(x) · (the point of plane k nearest to x)."""
        made = np.empty_like(rows)
        for part, responsibilities, _, along in self.read(rows):
            weighted = (responsibilities[:, :, None] * along).reshape(len(along), -1)  # (b, K p)
            made[part] = self.center + responsibilities @ self.means + weighted @ self.axes.T
        return made

    def log_density(self, rows: Floats) -> Floats:
        """Log p(x) of each row, in `unit`."""
        values = np.empty(len(rows))
        for part, _, likelihood, _ in self.read(rows):
            values[part] = likelihood
        return values

    def responsibilities(self, rows: Floats) -> Floats:
        """r_k(x), (n, K)."""
        shares = np.empty((len(rows), len(self.planes)))
        for part, responsibilities, _, _ in self.read(rows):
            shares[part] = responsibilities
        return shares

    def projections(self, rows: Floats) -> Floats:
        """Coordinates in each plane, (n, K, p)."""
        places = np.empty((len(rows), len(self.planes), self.planes[0].axes.shape[1]))
        for part, _, _, along in self.read(rows):
            places[part] = along
        return places

    @property
    def freedom(self) -> int:
        """The number of parameters: weights, means, axes with their variances, noises."""
        d, p = self.planes[0].axes.shape
        return len(self.planes) * int(d + d * p - p * (p - 1) // 2 + (d > p)) + len(self.planes) - 1

    def criterion(self, likelihood: float, n: float) -> float:
        """Bayesian information criterion of n rows with this log-likelihood."""
        return float(self.freedom * np.log(n) - 2.0 * likelihood)

    def log_unit(self, rows: Unit) -> float:
        """Log-density of a row in `unit` minus that in the user's unit; `rows` is the unit of the rows."""
        return float(np.log(2.0)) * (self.unit.power + rows.power) * len(self.center)


def shared(joint: Floats) -> tuple[Floats, Floats]:
    """Responsibilities r_k (b, K), with sum 1 however small the densities are, and log p(x) (b,)."""
    top = joint.max(axis=1)
    parts = np.exp(joint - top[:, None])
    whole = parts.sum(axis=1)
    return parts / whole[:, None], top + np.log(whole)

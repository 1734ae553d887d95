"""A Gram matrix that is at hand: K = H B H, with B stored once and the centring done on the way.

B is a kernel function's values, or −½ times squared distances. H takes out the mean over the data rows, so a
vertex that stands for m rows counts m times.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers, Kernel

_ENTRIES_PER_BLOCK = 500_000  # of a float32 matrix, raised to float64 a block at a time


@dataclass(frozen=True)
class GramKernel(Kernel):
    """See the module. `means` and `grand_mean` of B are what a new row is centred with."""

    array: Floats  # (n, n) symmetric, in the storage dtype
    scale: float  # B = scale · array
    means: Floats  # (n,)
    grand_mean: float
    mass: Floats
    null: Floats
    rows: Integers
    exponent: float = 0.5
    kind: Literal["gram"] = "gram"

    def product(self, vectors: Floats) -> Floats:
        """H B H V."""
        vectors = np.asarray(vectors, dtype=np.float64)
        sums = vectors.sum(axis=0)  # (p,)
        plain = self.scale * _times(self.array, vectors)
        return np.asarray(plain - np.outer(self.means, sums) - (self.means @ vectors - self.grand_mean * sums))

    def matrix(self) -> Floats:
        """The centred matrix, in float64."""
        return self.cross(self.array)

    def cross(self, fresh: Floats) -> Floats:
        """Centred kernel values (m, n) of new rows from their uncentred ones (or squared distances)."""
        values = self.scale * np.asarray(fresh, dtype=np.float64)
        own_means = values @ (self.mass / self.mass.sum())
        values -= own_means[:, None]
        values -= self.means[None, :] - self.grand_mean
        return values

    def offset(self) -> float:
        """Size of what the centring takes out of B, ‖B 1‖ / ‖1‖ over the data rows: products round relative to it."""
        return float(np.sqrt(self.mass.sum() * (self.mass @ self.means**2)))

    def trace(self) -> float:
        """Trace over the data rows."""
        diagonal = self.scale * np.diagonal(self.array).astype(np.float64) - 2 * self.means + self.grand_mean
        return float(self.mass @ diagonal)


def centered_gram(
    array: Floats, *, scale: float = 1.0, mass: Floats | None = None, rows: Integers | None = None
) -> GramKernel:
    """The centred Gram matrix of `scale · array`; `array` is kept, not copied."""
    n = len(array)
    mass = np.ones(n) if mass is None else mass
    share = mass / mass.sum()
    means = scale * _times(array, share[:, None]).ravel()
    return GramKernel(
        array=array,
        scale=scale,
        means=means,
        grand_mean=float(share @ means),
        mass=mass,
        null=np.ones((n, 1)),
        rows=np.arange(n) if rows is None else rows,
    )


def _times(array: Floats, vectors: Floats) -> Floats:
    """The product in float64, whatever the storage."""
    if array.dtype == np.float64:
        return np.asarray(array @ vectors)
    out = np.empty((len(array), vectors.shape[1]))
    for part in blocks(len(array), max(1, _ENTRIES_PER_BLOCK // len(array))):
        out[part] = array[part].astype(np.float64) @ vectors
    return out

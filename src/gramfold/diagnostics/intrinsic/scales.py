"""The dimension at several scales: from the ratio of the distances to the neighbours m and 2m.

    (r_m / r_2m)^d ~ Beta(m, m),    E log(r_2m / r_m) = (ψ(2m) − ψ(m)) / d

Denti, Doimo, Laio, Mira, Scientific Reports 12 (2022); m = 1 is TwoNN. Noise is seen at small scales: the dimension
falls with m. Curvature, and layers that come near one another, are seen at large ones: it rises.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from gramfold.diagnostics.intrinsic.estimate import shown
from gramfold.diagnostics.intrinsic.nearby import Nearby
from gramfold.diagnostics.intrinsic.normal_reference import dimension_that_reads, log_ratio
from gramfold.types import Floats, Integers


@dataclass(frozen=True, eq=False, repr=False)
class Scales:
    """The dimension at several scales.

    Attributes
    ----------
    n_neighbors : ndarray of int of shape (n_scales,)
        2m: 2, 4, 8, …
    radius : ndarray of shape (n_scales,)
        Median distance to that neighbour.
    value : ndarray of shape (n_scales,)
        The dimension at this scale.
    corrected : ndarray of shape (n_scales,)
        The dimension of a normal distribution of as many rows that reads the same at this scale; infinite where one of
        1,000 dimensions reads less.
    """

    n_neighbors: Integers
    radius: Floats
    value: Floats
    corrected: Floats

    def __len__(self) -> int:
        return len(self.n_neighbors)

    def __repr__(self) -> str:
        return f"Scales({', '.join(f'{k}: {one}' for k, one in self.shown.items())})"

    @property
    def shown(self) -> dict[int, str]:
        """The corrected dimension by the number of neighbours, as it is printed."""
        each = zip(self.n_neighbors, self.value, self.corrected, strict=True)
        return {int(k): shown(value, corrected) for k, value, corrected in each}


def scales_of(near: Nearby) -> Scales:
    """At all scales that the searched neighbours have."""
    counts = 2 ** np.arange(1, int(np.log2(near.n_neighbors)) + 1)
    radii = near.distances[near.apart]
    values, corrected = [], []
    for k in counts:
        m = int(k) // 2
        mean = float(np.log(radii[:, k - 1] / radii[:, m - 1]).mean()) if len(radii) else 0.0
        expected = float(digamma(k) - digamma(m))
        value = expected / mean if mean > 0.0 else np.inf
        values.append(value)
        corrected.append(_corrected(value, near.n_distinct, m, expected))
    typical = near.unit * np.median(near.distances[:, counts - 1], axis=0)
    return Scales(counts, typical, np.array(values), np.array(corrected))


def _corrected(value: float, n: int, m: int, expected: float) -> float:
    if not np.isfinite(value):
        return value
    return dimension_that_reads(value, lambda d: expected / log_ratio(d, n, m, 2 * m))

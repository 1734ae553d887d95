"""The inverse of a map that is itself a mixture of affine maps: its kernels carried onto the embedding.

    y_k, V_k = mean and covariance of the coordinates of the rows of kernel k, weighted by p_k(x)
    x(y) = Σ_k q_k(y) (x_k + (y − y_k) V_k⁻¹ cov_k(y, x)),    q_k(y) ∝ π_k N(y; y_k, V_k)

Brand carries the kernels over in the same way and takes the pseudo-inverse of each kernel's block of the map for the
slope. That is the shortest step in the data that changes the coordinates as asked, and leaves the sheet wherever the
block is not 0 across it; the slope here is the mean of such steps over the kernel's own rows. IJCAI 2003, section 3.
The slope of a kernel of few rows is uncertain, so it stays near them: x(y) is kept between Σ q_k(y) times the least
and the largest row that kernel k has a share of, and half of the way between them more.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gramfold.extension.judging import cross_validated
from gramfold.extension.mixture_inverse import AffineMixture
from gramfold.kernels.basis import MARGIN, lower_ends
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

_ENTRIES_PER_BLOCK = 2_000_000
# Variance added to each direction of a kernel, relative to its largest: kernels of few rows meet the others too.
_FLOOR = 1e-3
_RANK_CUT = 1e-12  # of the largest variance of a kernel's coordinates: directions below it have no slope


class CarriedInverse:
    """The mixture that a kernel mixture becomes on the embedding."""

    def __init__(
        self, responsibilities: Callable[[Floats], Any], places: Floats, rows: Floats, *, bounded: bool = True
    ) -> None:
        """`responsibilities` gives the shares p (b, m) of the kernels in any rows, sparse."""
        self.responsibilities, self.bounded = responsibilities, bounded
        self._places, self._rows = np.asarray(places, dtype=np.float64), rows
        self.mixture = self._carried(self._places, rows)

    def __call__(self, places: Floats) -> Floats:
        """Data rows that belong to these coordinates."""
        return self.mixture(places)

    def judge(self) -> float:
        """Cross-validated root mean square error of the rows, relative to their spread."""
        return cross_validated(self._carried, self._places, self._rows)

    def _carried(self, places: Floats, rows: Floats) -> AffineMixture:
        (n, p), d, m = places.shape, rows.shape[1], self.responsibilities(rows[:1]).shape[1]
        here, there = places.mean(axis=0), rows.mean(axis=0, dtype=np.float64)
        # Σ p_k · [1, y, x, y yᵀ, y xᵀ] about the means of all; the least x and the least −x
        sums, ends = np.zeros((m, 1 + (p + 1) * (p + d))), np.full((2, m, d), np.inf)
        for part in beats(blocks(n, max(1, _ENTRIES_PER_BLOCK // ((p + 1) * (p + d + 1))))):
            y, x = places[part] - here, rows[part] - there
            both = np.hstack([np.ones((len(y), 1)), y, x])
            moments = np.hstack([both, *(y[:, [a]] * both[:, 1:] for a in range(p))])
            shares = self.responsibilities(rows[part])
            sums += shares.T @ moments
            if self.bounded:
                lower_ends(ends[0], shares, x)
                lower_ends(ends[1], shares, -x)
        weights, seen = sums[:, 0], sums[:, 0] > 0
        means = sums[:, 1:] / np.where(seen, weights, 1.0)[:, None]
        first, second = means[:, : p + d], means[:, p + d :].reshape(-1, p, p + d)
        second = second - first[:, :p, None] * first[:, None, :]
        values, vectors = np.linalg.eigh(second[:, :, :p])
        values = np.maximum(values, 0.0)  # of clusters that are points on the map rounding may leave less
        kept = values > _RANK_CUT * max(float(values.max()), np.finfo(np.float64).tiny)
        inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
        slopes = vectors @ (inverse[:, :, None] * (vectors.transpose(0, 2, 1) @ second[:, :, p:]))
        typical = float(np.median(values[seen, -1])) or float(values.max()) or 1.0
        floor = _FLOOR * np.maximum(values[:, -1], typical)
        return AffineMixture.of(
            weights / n,
            here + first[:, :p],
            (vectors * (values + floor[:, None])[:, None, :]) @ vectors.transpose(0, 2, 1),
            there + first[:, p:],
            slopes,
            there + _widened(np.where(seen[:, None], ends, 0.0)) if self.bounded else None,
        )


def _widened(ends: Floats) -> Floats:
    """From the least x and the least −x to where x may be, (2, m, d)."""
    low, high = ends[0], -ends[1]
    margin = MARGIN * (high - low)
    return np.stack([low - margin, high + margin])

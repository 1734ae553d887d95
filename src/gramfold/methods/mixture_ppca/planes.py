"""Planes on one linear map: the embedding of new rows, and its inverse.

    embedding: y(x) = Aᵀ (x̂(x) − mean), x̂ the reconstruction of the row by the planes
    inverse:   x(y) = Σ q_k(y) E[x | y, k], because each plane is a Gaussian of y on the map

On plane k that mean is m_k + U_k E[t | y] for t ~ N(0, Λ_k) and y = Aᵀ (m_k + U_k t − mean) + noise.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve

from gramfold.extension.judging import frobenius, judged_sample, relative
from gramfold.extension.mixture_inverse import AffineMixture
from gramfold.extension.placement import Part
from gramfold.kernels.linear import project
from gramfold.kernels.plane import Plane
from gramfold.methods.mixture_ppca.mixture import Mixture
from gramfold.neighbors.units import Unit
from gramfold.types import Floats, Plain

_LEAST_NOISE = 1e-12  # relative to the largest variance on the map, so that covariances can be solved


@dataclass(frozen=True, eq=False)
class PlanesPlacement(Plain):
    """Rows are reconstructed by the planes and projected."""

    mixture: Mixture
    mean: Floats  # (d,)
    directions: Floats  # (d, q) A

    def place(self, new: Floats, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q) of rows."""
        return project(self.mixture.rebuilt(new), self.mean, self.directions, n_jobs)

    def compacted(self, part: Part) -> Part:
        """Nothing of the part but how large the map is: it is a function of the columns."""
        return part.boxed().without("kernel", "spectrum")

    def needs(self, rows: Any) -> bool:
        """None of them."""
        return False

    def slopes(self, new: Floats, part: Part, n_jobs: int | None) -> Floats:
        """Σ r_k Aᵀ U_k U_kᵀ + Σ r_k Aᵀ x̂_k ∇log N_k, with x̂_k the nearest point of plane k, relative to x̂."""
        mixture, found = self.mixture, np.empty((len(new), self.directions.shape[1], new.shape[1]))
        turned = np.stack([self.directions.T @ plane.axes @ plane.axes.T for plane in mixture.planes])  # (K, q, d)
        middles = mixture.means @ self.directions  # (K, q)
        seen = np.stack([plane.axes.T @ self.directions for plane in mixture.planes])  # (K, p, q)
        for part_, shares, _, along in mixture.read(new):
            places = middles + np.einsum("bkp,kpq->bkq", along, seen)
            places -= np.einsum("bk,bkq->bq", shares, places)[:, None]
            found[part_] = np.tensordot(shares, turned, axes=1)
            falls = mixture.log_slopes(new[part_] - mixture.center, along)  # (b, K, d)
            found[part_] += np.einsum("bk,bkq,bkd->bqd", shares, places, falls, optimize=True)
        return found


@dataclass(frozen=True, eq=False)
class PlanesWay(Plain):
    """The inverse "auto" of such a map, which is also its "mixture"."""

    everywhere: bool = True

    def make(self, way: str, model: Any, n_jobs: int | None) -> "PlanesInverse | None":
        """The inverse of this name; None where it is not the method's own."""
        if way not in {"auto", "mixture"}:
            return None
        placed = model.parts[0].placement
        return PlanesInverse.of(placed.mixture, placed.mean, placed.directions, *model.known())


@dataclass(frozen=True)
class PlanesInverse:
    """See the module."""

    mixture: AffineMixture
    rows: Floats
    places: Floats

    @classmethod
    def of(cls, planes: Mixture, mean: Floats, directions: Floats, places: Floats, rows: Floats) -> "PlanesInverse":
        """From the training rows and their coordinates."""
        middles, covariances, gains = [], [], []
        for plane in planes.planes:
            seen = directions.T @ plane.axes  # (q, p)
            noise = max(plane.noise, _LEAST_NOISE * float(plane.variances.max()))  # a column of the map may be zero
            covariance = (seen * plane.variances) @ seen.T + noise * np.eye(len(seen))
            middles.append((plane.mean - mean) @ directions)
            covariances.append(covariance)
            gains.append(solve(covariance, (seen * plane.variances) @ plane.axes.T, assume_a="pos"))
        means = np.stack([plane.mean for plane in planes.planes])
        stacks = np.stack(middles), np.stack(covariances), means, np.stack(gains)
        return cls(AffineMixture.of(planes.shares, *stacks), rows, places)

    def __call__(self, places: Floats) -> Floats:
        """Data rows for these coordinates."""
        return self.mixture(places)

    def judge(self) -> float:
        """Root mean square error of training rows reconstructed from the map, relative to their spread."""
        sample = judged_sample(len(self.places))
        truth = self.rows[sample]
        misfit = frobenius(truth - self(self.places[sample].astype(np.float64)))
        return relative(misfit, truth, self.rows)


def mixture_of(model: Any) -> Mixture:
    """The planes of a fitted model, in its unit."""
    mixture: Mixture = model.parts[0].placement.mixture
    return mixture


def planes_of(model: Any) -> list[Plane]:
    """The same in the unit of the rows."""
    back = Unit(-model.source.unit.power)
    return [plane.in_unit(back) for plane in mixture_of(model).planes]

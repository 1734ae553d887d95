"""Surfaces: whether they have an edge, and loops that cannot be drawn together.

A row lies at an edge where its neighbours leave a gap: seen from it, in the plane of the two main directions of its 20
nearest, no neighbour lies in an angle of more than 140°. Inside of a surface that happens to a share

    p = k (1 − g)^(k − 1)        of the rows, by chance, with g = 140/360

(Fisher 1929, first term). A disc of n rows has as many as lie within r cos 70° of its rim, r = √(k / nπ) in units of
the root of its area, which is a share of about 2√π r cos 70°. A surface has an edge if the share is above p by a
quarter of that.

Each row stands for the area π r² / k of a disc with k neighbours.
"""

from dataclasses import dataclass
from math import cos, pi, radians, sqrt

import numpy as np
from scipy.sparse import csr_array

from gramfold.diagnostics.shapes.cloud import Cloud
from gramfold.diagnostics.shapes.holes import Loops, loops
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

_NEIGHBORS = 20
_GAP = radians(140.0)
_QUARTER = 0.25
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Surface:
    """What is known of rows of about two dimensions."""

    edge: float  # share of the rows at an edge
    threshold: float
    loops: Loops
    bent: float  # how far distances are from Euclidean ones: negative over positive eigenvalues of neighbourhoods

    @property
    def n_loops(self) -> int:
        """Loops that cannot be drawn together."""
        return self.loops.count

    @property
    def closed(self) -> bool:
        """Whether it has no edge."""
        return self.edge < self.threshold


def surface_of(cloud: Cloud) -> Surface:
    """Of the largest connected component of the neighbour graph."""
    n, rows = len(cloud), cloud.main
    k = min(_NEIGHBORS, cloud.near.n_neighbors)
    gap, bent = gaps(cloud, k)
    edge = float(np.mean(gap > _GAP))
    by_chance = k * (1.0 - _GAP / (2 * pi)) ** (k - 1)
    disc = 2.0 * sqrt(pi) * sqrt(k / (n * pi)) * cos(_GAP / 2)
    _, reach = cloud.lists(k)
    area = float(pi * np.square(reach[rows, -1]).sum() / k)
    return Surface(edge, by_chance + _QUARTER * disc, loops(csr_array(cloud.graph[rows][:, rows]), area), bent)


def gaps(cloud: Cloud, k: int) -> tuple[Floats, float]:
    """The widest angle at each row without one of its k neighbours, (m,), in radians; and `bent`."""
    near, _ = cloud.lists(k)
    found, negative = np.empty(len(cloud)), np.empty(len(cloud))
    for part in blocks(len(cloud), _BLOCK):
        members = np.column_stack([np.arange(len(cloud))[part], near[part]])  # the row itself first
        squares = cloud.distances[members[:, :, None], members[:, None, :]] ** 2  # (b, k + 1, k + 1)
        means = squares.mean(axis=1)
        gram = -0.5 * (squares - means[:, :, None] - means[:, None, :] + means.mean(axis=1)[:, None, None])
        values, vectors = np.linalg.eigh(gram)
        negative[part] = -np.minimum(values, 0.0).sum(axis=1) / np.maximum(values, 0.0).sum(axis=1)
        plane = vectors[:, :, -2:] * np.sqrt(np.maximum(values[:, None, -2:], 0.0))
        away = plane[:, 1:] - plane[:, :1]
        angles = np.sort(np.arctan2(away[..., 1], away[..., 0]), axis=1)
        around = angles[:, 0] + 2 * pi - angles[:, -1]
        found[part] = np.maximum(np.diff(angles, axis=1).max(axis=1), around)
    return found, float(np.median(negative))

"""A new point meets a graph: its edges follow the fit's own rule, and its place balances them.

Row i of L v = μ M v reads (d_i − μ M_i) v_i = Σ_j W_ij v_j; for a new point x likewise

    y(x) = Σ_j a(x, j) y_j / (d(x) − μ M(x)),    a(x, j) = w(d)·[d ≤ max(r(x), r_j)],   d(x) = Σ_j a(x, j)

with M(x) = d(x) for the normalised form and 1 for the plain one. r_j is the distance from j to its k-th
neighbour. For x we take r(x) = min_i (r_i + |x − x_i|): the distance to the k-th *other* point is a function with
slope at most 1, and this is its largest continuation from the training points. So the edges of a point that
comes close to x_i become those of x_i, and a training row (itself left out) returns to its own place.
"""

import warnings

import numpy as np
from scipy.sparse import csr_array

from gramfold.errors import DisconnectedGraphWarning
from gramfold.graph.affinity import weigh
from gramfold.types import Floats, Neighbors

# Below this multiple of μ a vertex is tied too weakly for the plain form to place it.
_WEAK_TIE = 2.0


def carried_reach(nearest: Neighbors, reach: Floats) -> Floats:
    """r(x) = min over the nearest vertices i of r_i + |x − x_i|."""
    sums = reach[nearest.indices] + nearest.distances
    return np.minimum.reduceat(sums, nearest.indptr[:-1])


def average(
    edges: Neighbors,
    coordinates: Floats,
    *,
    width: float | None,
    multiplicity: Floats,
    penalties: Floats,
    normalized: bool,
) -> Floats:
    """Coordinates (m, p) of new points from their edges; a row's edges of length 0 are its own and left out."""
    edges = edges.keep(edges.distances > 0)
    if normalized and width is not None:
        # only ratios count, and far from all data the weights themselves would underflow
        nearest = np.minimum.reduceat(edges.distances, edges.indptr[:-1])[edges.rows]
        weights = np.exp(-0.5 * (edges.distances - nearest) * (edges.distances + nearest) / width**2)
    else:
        weights = weigh(edges.distances, width)
    weights = weights * multiplicity[edges.indices]
    matrix = csr_array((weights, edges.indices, edges.indptr), shape=(len(edges), edges.n_vertices))
    degrees = np.asarray(matrix.sum(axis=1))[:, None]
    mass = degrees if normalized else np.ones_like(degrees)
    balance = degrees - penalties[None, :] * mass
    weak = degrees.ravel() < _WEAK_TIE * penalties.max() * mass.ravel()
    if weak.any() and not normalized:
        warnings.warn(
            f"{int(weak.sum())} of {len(edges)} new rows are so far from the training rows that their balance is not "
            "defined; they were put at the mean of their neighbours.",
            DisconnectedGraphWarning,
            stacklevel=2,
        )
        balance[weak] = degrees[weak]
    return np.asarray((matrix @ coordinates) / np.where(balance > 0, balance, 1.0))

"""A new point meets a graph: its edges follow the fit's own rule, and its place balances them.

Row i of L v = μ M v reads (d_i − μ M_i) v_i = Σ_j W_ij v_j; for a new point x likewise

    y(x) = Σ_j a(x, j) y_j / (d(x) − μ M(x)),    a(x, j) = w(d)·[d ≤ max(r(x), r_j)],   d(x) = Σ_j a(x, j)

with M(x) = d(x) for the normalised form and 1 for the plain one. r_j is the distance from j to its k-th
neighbour. For x we take r(x) = min_i (r_i + |x − x_i|): the distance to the k-th *other* point is a function with
slope at most 1, and this is its largest continuation from the training points. So the edges of a point that
comes close to x_i become those of x_i, and a training row (itself left out) returns to its own place. Self-tuned
widths σ_i are distances to a neighbour too, and σ(x) continues them in the same way.
"""

import warnings

import numpy as np
from scipy.sparse import csr_array

from gramfold.errors import DisconnectedGraphWarning
from gramfold.graph.affinity import Width, log_weights
from gramfold.types import Floats, Neighbors

# Below this multiple of μ a vertex is tied too weakly for the plain form to place it.
_WEAK_TIE = 2.0
# At μ M = d the balance holds for any place; so near to it we take the mean.
_UNDEFINED = 1e-8


def carried_reach(nearest: Neighbors, reach: Floats) -> Floats:
    """r(x) = min over the nearest vertices i of r_i + |x − x_i|; of self-tuned widths likewise."""
    sums = reach[nearest.indices] + nearest.distances
    return np.minimum.reduceat(sums, nearest.indptr[:-1])


def average(
    edges: Neighbors,
    coordinates: Floats,
    *,
    width: Width,
    multiplicity: Floats,
    penalties: Floats,
    normalized: bool,
) -> Floats:
    """Coordinates (m, p) of new points from their edges; a row's edges of length 0 are its own and left out.

    Every row needs an edge. `multiplicity` is how often each vertex counts. Where the graph's weights were divided by
    (q_i q_j)^α it is over q_j^α too; q(x) divides all weights of x alike, which the normalised form does not see.
    """
    matrix, largest = edge_weights(edges, width, multiplicity)
    degrees = np.asarray(matrix.sum(axis=1))[:, None]
    mean = (matrix @ coordinates) / degrees
    # y = mean / (1 − μ M / d), with M / d = 1 in the normalised form
    loss = np.broadcast_to(penalties, mean.shape)
    if not normalized:
        tie = largest[:, None] * degrees
        weak = tie < _WEAK_TIE * penalties.max()
        if weak.any():
            warnings.warn(
                f"{int(weak.sum())} of {len(edges)} new rows are tied too weakly to the training rows for their "
                "balance to be defined; they were put at the mean of their neighbours.",
                DisconnectedGraphWarning,
                stacklevel=2,
            )
        loss = np.where(weak, 0.0, penalties / np.where(weak, 1.0, tie))
    balance = 1.0 - loss
    return np.asarray(mean / np.where(np.abs(balance) > _UNDEFINED, balance, 1.0))


def edge_weights(met: Neighbors, width: Width, multiplicity: Floats) -> tuple[csr_array, Floats]:
    """a(x, j) (m, n) over the largest of each row, and those (m,): far from all data they themselves would underflow.

    A row's edges of length 0 are its own and left out; it needs another.
    """
    edges = met.keep(met.distances > 0)
    if isinstance(width, np.ndarray):
        width = np.sqrt(carried_reach(met, width)[edges.rows] * width[edges.indices])
    logarithms = log_weights(edges.distances, width)
    largest = np.maximum.reduceat(logarithms, edges.indptr[:-1])
    weights = np.exp(logarithms - largest[edges.rows]) * multiplicity[edges.indices]
    matrix = csr_array((weights, edges.indices, edges.indptr), shape=(len(edges), edges.n_vertices))
    return matrix, np.exp(largest)

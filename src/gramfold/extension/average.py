"""A new point meets a graph: it gets the edges that the graph would give it, and its place balances them.

Row i of L v = μ M v reads (d_i − μ M_i) v_i = Σ_j W_ij v_j; for a new point x likewise

    y(x) = Σ_j a(x, j) y_j / (d(x) − μ M(x)),    d(x) = Σ_j a(x, j),    M(x) = d(x) (normalised) or 1 (plain)

Coordinates D^½ y (eigenvectors of the normalised Laplacian itself) are those of y times √d(x). A regularised Laplacian
has edges of weight τ/n to all n rows in addition: d(x) + τ in place of d(x), and τ times the mean of y in the sum.

a(x, ·) weighs the edges that x would have as one more row of the graph. Beside a training row x_i these are not those
of x_i: x has an edge to x_i itself in the place of one to a k-th neighbour, and of those who chose x_i for their k-th
some do not reach x. So y(x) passes over into the place of x_i, which solves the same equation with its own edges:

    y(x) ← s y_i + (1 − s) y(x),    s = 1 − |x − x_i| / (ρ_i / 4), not below 0

with ρ_i the length of the shortest edge of x_i. Balls of this radius do not overlap (a quarter, so that those of the
cosine distance, which is a squared length, do not either); in many columns hardly any new row lies in one.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramfold.errors import DisconnectedGraphWarning
from gramfold.graph.affinity import Width, log_weights
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Neighbors

# Of the length of a vertex's shortest edge: nearer rows pass over into the vertex.
_BESIDE = 0.25
# Below this multiple of μ a vertex is tied too weakly for the plain form to place it.
_WEAK_TIE = 2.0
# At μ M = d the balance holds for any place; so near to it we take the mean.
_UNDEFINED = 1e-8


@dataclass(frozen=True)
class Spread:
    """The weak edges of a regularised Laplacian, of weight τ/n to each of the n rows."""

    tau: float
    center: Floats  # mean of y over the rows, (p,), or of the rows that each new point is tied to, (m, p)


def average(
    met: Neighbors,
    graph: Graph,
    coordinates: Floats,
    *,
    width: Width,
    pull: Floats,
    penalties: Floats,
    normalized: bool,
    scale: Floats | None = None,
    new_width: Floats | None = None,
    spread: Spread | None = None,
) -> Floats:
    """Coordinates (m, p) of new points from the vertices of a graph that they meet; each meets somebody.

    `pull` is how often each vertex counts. Where the graph's weights were divided by (q_i q_j)^α it is over q_j^α too;
    q(x) divides all weights of x alike, which the normalised form does not see. `scale` is D^½ at the vertices where
    the coordinates are D^½ y and not y. `new_width` is the σ of each new point where each vertex has one; `spread` are
    the weak edges to all rows of a regularised Laplacian, in the normalised form.
    """
    matrix, largest = edge_weights(met, width, pull, new_width)
    degrees = np.asarray(matrix.sum(axis=1))[:, None]
    mean = (matrix @ (coordinates if scale is None else coordinates / scale[:, None])) / degrees
    degrees = largest[:, None] * degrees
    if spread is not None:
        mean = (degrees * mean + spread.tau * spread.center) / (degrees + spread.tau)
        degrees = degrees + spread.tau
    gain = _constant_gain(penalties) if normalized else _gain_of_ties(degrees, penalties)
    if scale is not None:
        gain = np.sqrt(degrees) * gain
    if isinstance(width, str):  # weights were given, and say nothing of how near a vertex is
        return np.asarray(gain * mean)
    share = _shares(met, graph)[:, None]
    return np.asarray(share * coordinates[met.nearest] + (1.0 - share) * gain * mean)


def edge_weights(
    met: Neighbors, width: Width, pull: Floats, new_width: Floats | None = None
) -> tuple[csr_array, Floats]:
    """a(x, j) (m, n) over the largest of each row, and those (m,): far from all data the weights would underflow."""
    if isinstance(width, np.ndarray):
        assert new_width is not None
        width = np.sqrt(new_width[met.rows] * width[met.indices])
    logarithms = log_weights(met.distances, width)
    largest = np.maximum.reduceat(logarithms, met.indptr[:-1])
    weights = np.exp(logarithms - largest[met.rows]) * pull[met.indices]
    return csr_array((weights, met.indices, met.indptr), shape=(len(met), met.n_vertices)), np.exp(largest)


def _constant_gain(penalties: Floats) -> Floats:
    """1 / (1 − μ): y over the mean of its neighbours in the normalised form, (p,)."""
    balance = 1.0 - penalties
    return np.asarray(1.0 / np.where(np.abs(balance) > _UNDEFINED, balance, 1.0))


def _gain_of_ties(tie: Floats, penalties: Floats) -> Floats:
    """1 / (1 − μ / d) of the plain form, (m, p), and below a tie of 2μ what falls from there to 1 at none."""
    weak = tie < _WEAK_TIE * penalties
    count = int(weak.any(axis=1).sum())
    if count:
        warn(
            f"{count} of {len(tie)} new rows have edge weights too small for the out-of-sample formula; their "
            "coordinates are near the mean of their neighbours.",
            DisconnectedGraphWarning,
        )
    faded = 1.0 + tie / (_WEAK_TIE * np.where(weak, penalties, 1.0))
    return np.where(weak, faded, 1.0 / (1.0 - penalties / np.where(weak, np.inf, tie)))


def _shares(met: Neighbors, graph: Graph) -> Floats:
    """S (m,): how far each new point has passed over into the vertex nearest to it."""
    edges = csr_array(graph.lengths[met.nearest])
    rows = np.repeat(np.arange(len(met)), np.diff(edges.indptr))
    radius = np.full(len(met), np.inf)  # a vertex without any edge has nobody else near it
    np.minimum.at(radius, rows, _BESIDE * edges.data)
    distance = met.distances[met.indptr[:-1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance > 0, np.maximum(1.0 - distance / radius, 0.0), 1.0)

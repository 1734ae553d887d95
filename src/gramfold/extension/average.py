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

Where weights are Gaussian, y has a derivative. With e_j the exponents, m the mean of the y_j, d their sum and F(d) what
the mean is multiplied with,

    ∂y = F Σ_j a_j (y_j − m) ∂e_j / d + m F′ Σ_j a_j ∂e_j,    ∂e_j = −d_j ∇d_j / σ²

and where σ² is σ(x) σ_j, with σ(x) the distance of a neighbour l, ½ d_j² ∇d_l / σ(x)² σ_j in addition.
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
    mean, degrees = _mean(matrix, largest, coordinates if scale is None else coordinates / scale[:, None], spread)
    gain = _constant_gain(penalties) if normalized else _gain_of_ties(degrees, penalties)
    if scale is not None:
        gain = np.sqrt(degrees) * gain
    if isinstance(width, str):  # weights were given, and say nothing of how near a vertex is
        return np.asarray(gain * mean)
    share = _shares(met, graph)[:, None]
    return np.asarray(share * coordinates[met.nearest] + (1.0 - share) * gain * mean)


def average_slopes(
    met: Neighbors,
    graph: Graph,
    coordinates: Floats,
    *,
    width: float | Floats,
    pull: Floats,
    penalties: Floats,
    normalized: bool,
    scale: Floats | None = None,
    new_width: Floats | None = None,
    spread: Spread | None = None,
) -> Floats:
    """Weights (pairs, p) of the ∇d of all pairs in the derivative of `average`, whose arguments these are.

    A row at distance 0 is not passed over into its vertex: the derivative is that of the balance.
    """
    matrix, largest = edge_weights(met, width, pull, new_width)
    plain = coordinates if scale is None else coordinates / scale[:, None]
    mean, degrees = _mean(matrix, largest, plain, spread)
    gain, steeper = _gain_and_slope(degrees, penalties, normalized, scale is not None)
    gain, steeper = np.broadcast_to(gain, mean.shape), np.broadcast_to(steeper, mean.shape)
    whole = np.asarray(matrix.sum(axis=1))
    if spread is not None:
        with np.errstate(divide="ignore"):
            whole = whole + spread.tau / largest
    rows, shares = met.rows, (matrix.data / whole[met.rows])[:, None]  # a_j / d, also where all a_j underflow
    by_exponent = gain[rows] * shares * (plain[met.indices] - mean[rows])  # (pairs, p)
    by_exponent += (steeper * mean)[rows] * (largest[rows] * matrix.data)[:, None]
    pulls = _through_exponents(by_exponent, met, width, new_width)
    return _passed_over(pulls, met, graph, gain * mean - coordinates[met.nearest])


def _gain_and_slope(
    degrees: Floats, penalties: Floats, normalized: bool, rooted: bool
) -> tuple[Floats, Floats | float]:
    """F, which the mean is multiplied with, and its derivative by the degree."""
    gain: Floats = _constant_gain(penalties)[None]
    steeper: Floats | float = 0.0
    if not normalized:
        gain, weak = _gain_of_ties(degrees, penalties), degrees < _WEAK_TIE * penalties
        with np.errstate(divide="ignore", invalid="ignore"):
            steeper = np.where(weak, 1.0 / (_WEAK_TIE * penalties), -(gain**2) * penalties / degrees**2)
    if not rooted:
        return gain, steeper
    root = np.sqrt(degrees)
    over = np.divide(0.5, root, out=np.zeros_like(root), where=root > 0)
    return root * gain, over * gain + root * steeper


def _through_exponents(by_exponent: Floats, met: Neighbors, width: float | Floats, own: Floats | None) -> Floats:
    """Weights of the ∇d from those (pairs, p) of the ∂e."""
    if own is None or not isinstance(width, np.ndarray):
        return np.asarray(by_exponent * (-met.distances / (width * width))[:, None])
    squares = own[met.rows] * width[met.indices]
    pulls = by_exponent * (-met.distances / squares)[:, None]
    wider = 0.5 * met.distances**2 / (squares * own[met.rows])
    _add_own_width(pulls, by_exponent * wider[:, None], met, own)
    return np.asarray(pulls)


def _passed_over(pulls: Floats, met: Neighbors, graph: Graph, away: Floats) -> Floats:
    """Weights of the ∇d where rows pass over into the vertices that they are this far `away` from on the map."""
    first = met.indptr[:-1]
    share = np.where(met.distances[first] > 0, _shares(met, graph), 0.0)
    near = np.flatnonzero(share > 0)
    pulls = pulls * (1.0 - share[met.rows])[:, None]
    over = (1.0 - share[near]) / met.distances[first[near]]  # 1 / radius
    pulls[first[near]] += over[:, None] * away[near]
    return pulls


def _add_own_width(pulls: Floats, weights: Floats, met: Neighbors, new_width: Floats) -> None:
    """Add the sums of these weights to the pair whose distance is the width of its row, where there is one."""
    is_width = met.distances == new_width[met.rows]
    rows, first = np.unique(met.rows[is_width], return_index=True)
    pulls[np.flatnonzero(is_width)[first]] += np.add.reduceat(weights, met.indptr[:-1], axis=0)[rows]


def _mean(matrix: csr_array, largest: Floats, plain: Floats, spread: Spread | None) -> tuple[Floats, Floats]:
    """The mean of the y that each new point is tied to, (m, p), and its degree, (m, 1), both with the weak edges."""
    degrees = np.asarray(matrix.sum(axis=1))[:, None]
    mean = (matrix @ plain) / degrees
    degrees = largest[:, None] * degrees
    if spread is None:
        return mean, degrees
    return (degrees * mean + spread.tau * spread.center) / (degrees + spread.tau), degrees + spread.tau


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
    radius = _BESIDE * graph.shortest_edges(met.nearest)  # a vertex without any edge has nobody else near it
    distance = met.distances[met.indptr[:-1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance > 0, np.maximum(1.0 - distance / radius, 0.0), 1.0)

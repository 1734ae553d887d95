"""Edge lengths become weights: 1 for an edge, or a Gaussian of its length whose width may follow the density.

    one width:    w_ij = exp(−d²/2σ²)
    self-tuning:  w_ij = exp(−d²/2σ_iσ_j), with σ_i the distance from i to its 7th neighbour
    inverse:      w_ij = 1/d; so are the weights of a given graph, whose edges have the lengths 1/w

Zelnik-Manor, Perona, NIPS 17 (2005). The seventh is their choice: it tells the density just around a point, however
many neighbours the graph has. New points have it from those they meet.
"""

from typing import Literal

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from gramfold.errors import InputError
from gramfold.types import Floats, Graph, Integers, Neighbors

Weights = Literal["binary", "gaussian", "precomputed"]
# one σ, one for each vertex (or edge), "inverse" where an edge of length d weighs 1/d, None where every edge weighs 1
Width = float | Floats | Literal["inverse"] | None

_TUNING_NEIGHBOR = 7
_SHORTEST = 1e-3  # of the median length, for weights that fall with it


def check_width(weights: Weights, width: float | str) -> None:
    """Refuse a width for weights that are not Gaussian."""
    if weights != "gaussian" and width != "auto":
        raise InputError(
            f"width={width!r} applies only to Gaussian weights, but weights={weights!r}: use weights='gaussian', or "
            "leave width at 'auto'."
        )


def default_width(graph: Graph) -> float:
    """The root mean square edge length: w = exp(−d²/2σ²) is then e^-½ for a typical edge."""
    lengths = graph.lengths.data
    width = float(np.sqrt(np.mean(lengths**2))) if lengths.size else 0.0
    return width or 1.0  # all edges of length 0 weigh 1 at any width


def local_widths(lists: Neighbors, radii: Floats | None) -> Floats:
    """σ_i: the distance from i to its 7th neighbour, at most its neighbourhood radius."""
    widths = (lists.farthest if radii is None else radii).copy()
    full = lists.counts >= _TUNING_NEIGHBOR
    seventh = lists.distances[lists.indptr[:-1][full] + _TUNING_NEIGHBOR - 1]
    widths[full] = seventh if radii is None else np.minimum(seventh, radii[full])
    known = widths > 0  # else nobody was chosen, or everybody lies at distance 0
    return np.where(known, widths, widths[known].mean() if known.any() else 1.0)


def width_of_rows(width: Width, vertex: Integers) -> float | Floats | None:
    """σ as users see it, for data rows that are these vertices (-1: none, its σ is NaN); None where there is none."""
    if not isinstance(width, np.ndarray):
        return None if isinstance(width, str) else width
    return np.where(vertex >= 0, width[vertex], np.nan)


def log_weights(lengths: Floats, width: Width) -> Floats:
    """Logarithms of the weights of edges of these lengths, of one width or one for each; None weighs every edge 1."""
    if width is None:
        return np.zeros_like(lengths)
    if isinstance(width, str):
        return np.asarray(-np.log(lengths))
    with np.errstate(over="ignore"):  # −∞: such an edge weighs nothing
        return np.asarray(-0.5 * (lengths / width) ** 2)


def weigh(lengths: Floats, width: Width) -> Floats:
    """Weights of edges of these lengths."""
    if isinstance(width, str):
        return np.asarray(1.0 / lengths)
    return np.asarray(np.exp(log_weights(lengths, width)))


def affinity(graph: Graph, width: Width) -> csr_array:
    """W (n, n), symmetric. Vertices that stand for several rows have all their copies' edges."""
    edges = graph.lengths
    rows = np.repeat(np.arange(len(graph)), np.diff(edges.indptr))
    tuned = np.sqrt(width[rows] * width[edges.indices]) if isinstance(width, np.ndarray) else width
    weights = weigh(edges.data, tuned)
    if not weights.all():
        _check_hold(edges, weights, "self-tuned width" if isinstance(width, np.ndarray) else f"width {width:.3g}")
    if not (graph.multiplicity == 1).all():
        weights = weights * graph.multiplicity[rows] * graph.multiplicity[edges.indices]
    return csr_array((weights, edges.indices, edges.indptr), shape=edges.shape)


def inverse_lengths(graph: Graph) -> csr_array:
    """W_ij = 1/d_ij; lengths below a thousandth of the median count as that, or one pair would outweigh all others."""
    edges = graph.lengths
    floor = _SHORTEST * float(np.median(edges.data)) if edges.nnz else 0.0
    weights = 1.0 / np.maximum(edges.data, floor or 1.0)  # all edges of length 0 weigh 1
    if not (graph.multiplicity == 1).all():
        rows = np.repeat(np.arange(len(graph)), np.diff(edges.indptr))
        weights = weights * graph.multiplicity[rows] * graph.multiplicity[edges.indices]
    return csr_array((weights, edges.indices, edges.indptr), shape=edges.shape)


def divided_by_density(weights: csr_array, density: Floats, alpha: float) -> csr_array:
    """W_ij / (q_i q_j)^α."""
    inverse = diags_array(density**-alpha)
    return csr_array(inverse @ weights @ inverse)


def _check_hold(edges: csr_array, weights: Floats, width: str) -> None:
    """Refuse weights so small that they are 0 on every path between some vertices."""
    left = csr_array((weights, edges.indices, edges.indptr), shape=edges.shape, copy=True)
    left.eliminate_zeros()
    count = connected_components(left, directed=False)[0]
    if count > 1:
        raise InputError(
            f"Gaussian weights of {width} underflow to 0 for edges of length {edges.data[weights == 0].min():.3g}, "
            f"which leaves {count} connected components: use a larger width, or weights='binary'."
        )

"""Edge lengths become weights: 1 for an edge, or a Gaussian of its length."""

from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramfold.errors import InputError
from gramfold.types import Floats, Graph

Weights = Literal["binary", "gaussian"]


def default_width(graph: Graph) -> float:
    """The root mean square edge length: w = exp(−d²/2σ²) is then e^-½ for a typical edge."""
    lengths = graph.lengths.data
    width = float(np.sqrt(np.mean(lengths**2))) if lengths.size else 0.0
    return width or 1.0  # all edges of length 0 weigh 1 at any width


def weigh(lengths: Floats, width: float | None) -> Floats:
    """Weights of edges of these lengths; `width=None` weighs every edge 1."""
    if width is None:
        return np.ones_like(lengths)
    return np.asarray(np.exp(-0.5 * (lengths / width) ** 2))


def affinity(graph: Graph, width: float | None) -> csr_array:
    """W (n, n), symmetric. Vertices that stand for several rows have all their copies' edges."""
    edges = graph.lengths
    weights = weigh(edges.data, width)
    if not weights.all():
        _check_hold(edges, weights, width)
    if not (graph.multiplicity == 1).all():
        rows = np.repeat(np.arange(len(graph)), np.diff(edges.indptr))
        weights = weights * graph.multiplicity[rows] * graph.multiplicity[edges.indices]
    return csr_array((weights, edges.indices, edges.indptr), shape=edges.shape)


def _check_hold(edges: csr_array, weights: Floats, width: float | None) -> None:
    """Refuse weights so small that they are 0 on every way between some vertices."""
    left = csr_array((weights, edges.indices, edges.indptr), shape=edges.shape, copy=True)
    left.eliminate_zeros()
    count = connected_components(left, directed=False)[0]
    if count > 1:
        raise InputError(
            f"Gaussian weights of width {width:.3g} are zero on edges as long as {edges.data[weights == 0].min():.3g}, "
            f"and without these the graph falls into {count} pieces: use a larger width, or binary weights."
        )

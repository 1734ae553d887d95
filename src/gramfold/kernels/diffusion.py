"""Kernels of walks and heat on a weighted graph: functions of its Laplacian that remember how the graph was weighed.

    W_ij weights, q = W1, W_ij ← W_ij / (q_i q_j)^α;    D = diag(W1),  L = D − W
    plain:  L v = μ v;      normalised:  L v = μ D v
    a vertex that stands for m rows counts m times in every sum

With α = 1 the density of the points has no part in the limit of many points, with α = 0 it has all.
Coifman, Lafon, Appl. Comput. Harmon. Anal. 21 (2006).
"""

from dataclasses import dataclass

import numpy as np

from gramfold.graph.affinity import Width, affinity, divided_by_density
from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.penalty import Decay, PenaltyKernel
from gramfold.types import Floats, Graph


@dataclass(frozen=True, kw_only=True)
class LaplacianKernel(PenaltyKernel):
    """See the module. The last three fields say how a new point is weighed."""

    width: Width  # σ of all edges, of each vertex, or None where every edge weighs 1
    pull: Floats  # (n,) how much an edge to each vertex counts: m / q^α
    normalized: bool


def laplacian_kernel(
    graph: Graph,
    width: Width,
    *,
    normalized: bool,
    decay: Decay,
    exponent: float,
    alpha: float = 0.0,
    null_value: float = 0.0,
) -> LaplacianKernel:
    """The kernel f(L) of a connected graph."""
    copies = graph.multiplicity
    weights, pull = affinity(graph, width), copies
    if alpha > 0:
        density = degrees(weights) / copies
        weights, pull = divided_by_density(weights, density, alpha), copies / density**alpha
    return LaplacianKernel(
        penalty=laplacian(weights),
        mass=degrees(weights) if normalized else copies,
        null=np.ones((len(graph), 1)),
        rows=np.arange(len(graph)),
        exponent=exponent,
        decay=decay,
        null_value=null_value,
        width=width,
        pull=pull,
        normalized=normalized,
    )

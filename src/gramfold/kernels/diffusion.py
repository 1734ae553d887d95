"""Kernels of walks and heat on a weighted graph: functions of its Laplacian that remember how the graph was weighed.

    W_ij weights, q = W1, W_ij ← W_ij / (q_i q_j)^α;    D = diag(W1),  L = D − W,  𝓛 = D^-½ L D^-½
    unnormalised:  L v = μ v;    random walk:  L v = μ D v;    symmetric:  𝓛 u = μ u,  u = D^½ v
    a vertex that stands for m rows counts m times in every sum
    self-loops W_ii = 1 (m of them for each of m rows, from copy to copy) count in q and D; in L they cancel

With α = 1 the density of the points has no part in the limit of many points, with α = 0 it has all.
Coifman, Lafon, Appl. Comput. Harmon. Anal. 21 (2006).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from gramfold.errors import DisconnectedGraphWarning
from gramfold.graph.affinity import Width, affinity, divided_by_density
from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.penalty import Decay, PenaltyKernel
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph

Form = Literal["unnormalized", "random-walk", "symmetric"]


@dataclass(frozen=True, kw_only=True, repr=False)
class LaplacianKernel(PenaltyKernel):
    """See the module. The last fields say how a new point is weighed."""

    width: Width  # of the weights of edges
    pull: Floats  # (n,) how much an edge to each vertex counts: m / q^α
    form: Form
    scale: Floats | None = None  # (n,) D^½ of one data row, where eigenvectors are D^½ v; else None
    tau: float = 0.0  # of a regularised Laplacian (kernels/regularized.py)


def laplacian_kernel(
    graph: Graph,
    width: Width,
    *,
    form: Form,
    decay: Decay,
    exponent: float,
    alpha: float = 0.0,
    null_value: float = 0.0,
    self_loops: Floats | None = None,
) -> LaplacianKernel:
    """The kernel f(L) of a connected graph; `self_loops` (n,) are those of one data row of each vertex."""
    copies = graph.multiplicity
    weights, pull = affinity(graph, width), copies
    loops = np.zeros(len(copies)) if self_loops is None else copies**2 * self_loops
    if loops.any():
        _warn_of_weak_edges(weights)
    if alpha > 0:
        density = (degrees(weights) + loops) / copies
        weights, pull = divided_by_density(weights, density, alpha), copies / density**alpha
        loops = loops / density ** (2 * alpha)
    penalty, scale = laplacian(weights), None
    if form == "symmetric":
        scale = np.sqrt((degrees(weights) + loops) / copies)
        penalty = csr_array(diags_array(1.0 / scale) @ penalty @ diags_array(1.0 / scale))
    return LaplacianKernel(
        penalty=penalty,
        mass=degrees(weights) + loops if form == "random-walk" else copies,
        null=np.ones((len(graph), 1)) if scale is None else scale[:, None],
        rows=np.arange(len(graph)),
        exponent=exponent,
        decay=decay,
        null_value=null_value,
        width=width,
        pull=pull,
        form=form,
        scale=scale,
    )


def _warn_of_weak_edges(weights: csr_array) -> None:
    """Warn where all edges between some vertices have weights that are negligible compared with their self-loops."""
    rounding = float(np.finfo(np.float64).eps)
    count = connected_components(weights > rounding, directed=False)[0]
    if count > 1:
        warn(
            f"edges of weight below {rounding:.0e} are negligible compared with the self-loops of weight 1, and "
            f"without them the graph has {count} connected components, so the first coordinates only separate these: "
            "use a larger width, width='self-tuning' or self_loops=False.",
            DisconnectedGraphWarning,
        )

"""Diffusion maps: points are near when random walks from them have similar distributions after t steps.

    W_ij = exp(−d²/2σ²) on edges and W_ii = 1;    q = W1,  W_ij ← W_ij / (q_i q_j)^α
    D = diag(W1),  P = D^-1 W,  π = diag D / Σ D
    P ψ = λ ψ with Σ_i π_i ψ_i² = 1;    y = |λ|^t ψ without the constant ψ,  K = Σ λ^2t ψ ψᵀ
    |y_i − y_j|² = Σ_k (P^t_ik − P^t_jk)² / π_k, with all coordinates
    new point: y(x) = Σ_j p(x, j) y_j / λ,   p(x, j) ∝ w(x, j) / q_j^α by the graph's own rule;
    on a training row x_i the weight w(x_i, i) = 1 is its self-loop

Solved as L v = μ D v with μ = 1 − λ. Coifman, Lafon, Appl. Comput. Harmon. Anal. 21 (2006).
"""

from dataclasses import replace
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import EDGE_WEIGHTS, Embedding, Fit, LaplacianMap, Model, laplacian_map, method, parameter
from gramfold.graph.affinity import Weights, Width
from gramfold.kernels.diffusion import LaplacianKernel, laplacian_kernel
from gramfold.kernels.penalty import Steps
from gramfold.types import Floats, Graph


@method
class DiffusionMap(LaplacianMap, Embedding):
    """Diffusion map: distances approximate diffusion distances on the neighbour graph.

    Notes
    -----
    Coordinates belong to the eigenvalues λ of the random walk in descending order, from λ = 1 on. Eigenvalues near −1
    belong to walks that alternate between two halves of the graph. Their eigenvectors come last and are rarely useful.
    `kernel_` includes them, so that its distances are the exact diffusion distances. If `t` is not an integer, |λ|^t is
    used; products with `kernel_` then need all eigenvectors (an n × n matrix).

    Examples
    --------
    >>> from gramfold import DiffusionMap
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = DiffusionMap(n_neighbors=10, t=4, coordinates="independent").fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    >>> eigenvalues_of_the_walk = 1 - model.spectrum_.penalties
    """

    weights: Weights = parameter(
        default="gaussian", allowed=[StrOptions({"binary", "gaussian", "precomputed"})], words=EDGE_WEIGHTS
    )
    alpha: float = parameter(
        default=1.0,
        allowed=[Interval(Real, 0, 1, closed="both")],
        words="""Exponent α of the density normalisation of the weights. 1: removes the influence of the density of the
        rows (Laplace–Beltrami operator). 0.5: Fokker–Planck operator. 0: no normalisation.""",
    )
    self_loops: bool | None = parameter(
        default=None,
        allowed=["boolean", None],
        words="""Whether each row has a self-loop, an edge of weight 1 to itself. None: True for Gaussian weights, which
        are 1 at distance 0, and False for binary weights; for precomputed weights, the diagonal of X is used.""",
    )
    t: float = parameter(
        default=1.0,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="Diffusion time: the number of steps of the random walk. Larger values show coarser structure.",
    )

    def _build(self, fit: Fit) -> Model:
        return laplacian_map(
            fit,
            self,
            self._kernel,
            no_regularization="a diffusion map has its own normalisation of the weights, by their density",
        )

    def _kernel(self, graph: Graph, width: Width) -> LaplacianKernel:
        kernel = laplacian_kernel(
            graph,
            width,
            form="random-walk",
            alpha=self.alpha,
            decay=Steps(self.t),
            exponent=0.5,
            self_loops=self._loops(graph),
        )
        volume = kernel.mass.sum()
        return replace(kernel, penalty=kernel.penalty / volume, mass=kernel.mass / volume)  # the mass is π: V is ψ

    def _loops(self, graph: Graph) -> Floats | None:
        if self.self_loops is None and self.weights == "precomputed":
            return graph.loops
        looped = self.weights == "gaussian" if self.self_loops is None else self.self_loops
        return np.ones(len(graph)) if looped else None

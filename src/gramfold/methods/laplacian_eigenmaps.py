"""Laplacian eigenmaps: the smoothest functions on the neighbour graph.

    W_ij = 1 or exp(−d²/2σ²) on edges,  D = diag(W1),  L = D − W
    normalised:  L y = λ D y,  kernel D^-½ (D^-½ L D^-½)† D^-½;     plain:  L y = λ y,  kernel L†
    new point: y(x) = Σ_j a(x, j) y_j / (d(x) − λ m(x)), with m = d(x) or 1 and the graph's own rule for a

Belkin, Niyogi, Neural Computation 15 (2003); Ham et al., ICML 2004, section 4.
"""

from gramfold.embedding import Embedding, Fit, LaplacianMap, Model, laplacian_map, method, parameter
from gramfold.graph.affinity import Width
from gramfold.kernels.diffusion import LaplacianKernel, laplacian_kernel
from gramfold.kernels.penalty import Inverse
from gramfold.types import Graph


@method
class LaplacianEigenmaps(LaplacianMap, Embedding):
    """Laplacian eigenmaps.

    Examples
    --------
    >>> from gramfold import LaplacianEigenmaps
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = LaplacianEigenmaps(n_neighbors=10, coordinates="independent").fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    normalized: bool = parameter(default=True, allowed=["boolean"], words="Solve L y = λ D y, or L y = λ y.")

    def _build(self, fit: Fit) -> Model:
        return laplacian_map(fit, self, self._kernel)

    def _kernel(self, graph: Graph, width: Width) -> LaplacianKernel:
        return laplacian_kernel(graph, width, normalized=self.normalized, decay=Inverse(), exponent=0.0)

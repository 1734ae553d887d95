"""Commute-time embedding: the expected time of a random walk from one point to another and back.

    L = D − W,  L v = λ v;    K = L†,  y = V Λ^-½ (over λ > 0)
    |y_i − y_j|² = commute time of i and j / volume of the graph, with all coordinates; volume = Σ_ij W_ij
    new point: y(x) = Σ_j a(x, j) y_j / (d(x) − λ), with the graph's own rule for its edges a

Fouss, Pirotte, Renders, Saerens, IEEE TKDE 19 (2007); Ham et al., ICML 2004, eqs (20)–(23).
"""

from gramfold.embedding import SAME_EIGENVECTORS, Embedding, Fit, LaplacianMap, Model, laplacian_map, method
from gramfold.graph.affinity import Width
from gramfold.kernels.diffusion import LaplacianKernel, laplacian_kernel
from gramfold.kernels.penalty import Inverse
from gramfold.types import Graph


@method
class CommuteTime(LaplacianMap, Embedding):
    """Commute-time embedding: squared distances approximate commute times on the neighbour graph.

    Examples
    --------
    >>> from gramfold import CommuteTime
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = CommuteTime(n_neighbors=10, coordinates="independent").fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    >>> squares = model.kernel_.squared_distances([0], [5, 9])  # commute times / volume, of all coordinates
    """

    def _build(self, fit: Fit) -> Model:
        return laplacian_map(fit, self, self._kernel, no_regularization=SAME_EIGENVECTORS)

    def _kernel(self, graph: Graph, width: Width) -> LaplacianKernel:
        return laplacian_kernel(graph, width, form="unnormalized", decay=Inverse(), exponent=0.5)

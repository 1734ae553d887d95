"""Laplacian eigenmaps: the smoothest functions on the neighbour graph, eigenvectors of its Laplacian.

    W_ij = 1 or exp(−d²/2σ²) on edges,  D = diag(W1),  L = D − W
    random walk:   L y = λ D y,  kernel D^-½ 𝓛† D^-½,  𝓛 = D^-½ L D^-½
    symmetric:     𝓛 u = λ u,  kernel 𝓛†,  u = D^½ y
    unnormalised:  L y = λ y,  kernel L†
    new point: y(x) = Σ_j a(x, j) y_j / (d(x) − λ m(x)), with m = d(x) or 1 and the graph's own rule for a;
    symmetric: u(x) = √d(x) y(x)

Belkin, Niyogi, Neural Computation 15 (2003); Ham et al., ICML 2004, section 4.
"""

from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import SAME_EIGENVECTORS, Embedding, Fit, LaplacianMap, Model, laplacian_map, method, parameter
from gramfold.graph.affinity import Width
from gramfold.kernels.diffusion import Form, LaplacianKernel, laplacian_kernel
from gramfold.kernels.penalty import Inverse
from gramfold.types import Graph


@method
class LaplacianEigenmaps(LaplacianMap, Embedding):
    """Laplacian eigenmaps: the smoothest eigenvectors of the Laplacian of the neighbour graph.

    Examples
    --------
    >>> from gramfold import LaplacianEigenmaps
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = LaplacianEigenmaps(n_neighbors=10, coordinates="independent").fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    laplacian: Form = parameter(
        default="random-walk",
        allowed=[StrOptions({"random-walk", "symmetric", "unnormalized"})],
        words="""The eigenproblem whose eigenvectors are the coordinates. "random-walk": L y = λ D y. "symmetric": the
        normalised Laplacian 𝓛 = D^-½ L D^-½, whose eigenvectors are D^½ y. "unnormalized": L y = λ y.""",
    )

    def _build(self, fit: Fit) -> Model:
        same = SAME_EIGENVECTORS if self.laplacian == "unnormalized" else ""
        return laplacian_map(fit, self, self._kernel, no_regularization=same)

    def _kernel(self, graph: Graph, width: Width) -> LaplacianKernel:
        return laplacian_kernel(graph, width, form=self.laplacian, decay=Inverse(), exponent=0.0)

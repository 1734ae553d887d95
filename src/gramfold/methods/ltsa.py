"""Local tangent space alignment: the map that is affine in the tangent coordinates of every neighbourhood.

    X_i = row i and its neighbours, centred;   U_i = its d leading left singular vectors
    P = Σ_i S_iᵀ (1 − 11ᵀ/(k + 1) − U_i U_iᵀ) S_i;   P y = λ y, smallest λ > 0
    new point: y(x) = Σ_j w_j(x) y_j, with the weights that reconstruct x from its neighbours

Zhang, Zha, SIAM Journal on Scientific Computing 26 (2004).
"""

import numpy as np

from gramfold.embedding import Built, Component, Embedding, Fit, Model, Neighborhood, Rebuilding, judged, method
from gramfold.extension.barycentric import Barycentric
from gramfold.kernels.alignment import aligned_kernel, tangent_coordinates
from gramfold.kernels.local import local_memory
from gramfold.types import Floats


@method
class LTSA(Rebuilding, Neighborhood, Embedding):
    """Local tangent space alignment (LTSA): aligns the local PCA coordinates of all neighbourhoods.

    Notes
    -----
    The local dimension is `n_components`. `reg` is used for new rows only. A neighbourhood is the row itself and its
    neighbours. scikit-learn leaves the row out, and a row that is not a neighbour of any other then distorts the
    embedding.

    Examples
    --------
    >>> from gramfold import LTSA
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = LTSA(n_neighbors=12).fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    def _build(self, fit: Fit) -> Model:
        fit.forecast_graph(self, local_memory(self.n_neighbors))
        graph = fit.graph(self, least=self.n_components + 1)
        return judged(fit, fit.solve(graph, self._kernel), self)

    def _kernel(self, part: Component, fit: Fit) -> Built:
        kernel = aligned_kernel(
            part.graph,
            part.grams,
            lambda grams: not_affine(tangent_coordinates(grams, self.n_components)),
            fit.width,
            fit.n_jobs,
        )
        return Built(kernel, Barycentric(self.reg))


def not_affine(U: Floats) -> Floats:
    """Projection (b, k, k) of a function on a patch onto what is not affine in the coordinates (b, k, d)."""
    k = U.shape[1]
    return np.asarray(np.eye(k) - 1.0 / k - U @ U.transpose(0, 2, 1))

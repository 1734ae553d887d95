"""Local tangent space alignment: the map that is affine in the tangent coordinates of every neighbourhood.

    X_i = row i and its neighbours, centred;   U_i = its d leading left singular vectors
    P = Σ_i S_iᵀ (1 − 11ᵀ/(k + 1) − U_i U_iᵀ) S_i;   P y = λ y, smallest λ > 0
    new point: y(x) = Σ_j w_j(x) y_j, with the weights that rebuild x from its neighbours

Zhang, Zha, SIAM Journal on Scientific Computing 26 (2004).
"""

import numpy as np

from gramfold.embedding import LocalEmbedding, method
from gramfold.kernels.alignment import tangent_coordinates
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Graph


@method
class LTSA(LocalEmbedding):
    """Local tangent space alignment.

    Notes
    -----
    The local dimension is `n_components`. `reg` is used for new rows only. A neighbourhood is the row itself and its
    neighbours; scikit-learn leaves the row out, and then a row that is nobody's neighbour spoils the map.

    Examples
    --------
    >>> from gramfold import LTSA
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = LTSA(n_neighbors=12).fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    def _least_neighbors(self) -> int:
        return self.n_components + 1

    def _kernel(self, graph: Graph, stages: Stages) -> PenaltyKernel:
        patches = self._index.vertex_grams(graph.vertices)
        return self._aligned(graph, patches, lambda grams: not_affine(tangent_coordinates(grams, self.n_components)))


def not_affine(U: Floats) -> Floats:
    """The projection (b, k, k) that leaves of a function on a patch what is not affine in the coordinates (b, k, d)."""
    k = U.shape[1]
    return np.asarray(np.eye(k) - 1.0 / k - U @ U.transpose(0, 2, 1))

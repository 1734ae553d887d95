"""Hessian eigenmaps: the functions that are least curved in the tangent coordinates of every neighbourhood.

    X_i = row i and its neighbours, centred;   U_i = its d leading left singular vectors
    H_i = orthonormal basis of the products u_a u_b, orthogonal to 1 and U_i;   R_i = basis of what is orthogonal to all
    P = Σ_i S_iᵀ (H_i H_iᵀ + ρ R_i R_iᵀ) S_i;   P y = λ y, smallest λ > 0
    new point: y(x) = Σ_j w_j(x) y_j, with the weights that reconstruct x from its neighbours

Donoho, Grimes, PNAS 100 (2003), where ρ = 0.
"""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from gramfold.embedding import (
    Built,
    Component,
    Embedding,
    Fit,
    Model,
    Neighborhood,
    Rebuilding,
    judged,
    method,
    parameter,
)
from gramfold.extension.barycentric import Barycentric
from gramfold.kernels.alignment import aligned_kernel, tangent_coordinates
from gramfold.kernels.local import local_memory
from gramfold.types import Floats

# A product whose non-affine part is below this (squared, relative to its length) holds no curvature but rounding.
_RANK_CUT = 1e-12


@method
class HessianLLE(Rebuilding, Neighborhood, Embedding):
    """Hessian LLE (Hessian eigenmaps): the functions of least curvature in local tangent coordinates.

    Notes
    -----
    The local dimension d is `n_components`, and a neighbourhood needs at least d + d(d+1)/2 neighbours. `reg` is used
    for new rows only. A neighbourhood is the row itself and its neighbours. scikit-learn's ``method="hessian"``
    penalises everything that is not affine, where the paper penalises d(d+1)/2 quadratic functions: its embedding is
    that of LTSA, which is ``roughness=1`` here.

    Examples
    --------
    >>> from gramfold import HessianLLE
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = HessianLLE(n_neighbors=12).fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    roughness: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="""Weight ρ of the penalty on functions that are neither affine nor quadratic on a neighbourhood;
        quadratic functions have weight 1. 0 is the method of Donoho and Grimes, whose embedding is not unique where the
        data have more than `n_components` dimensions. 1 is LTSA.""",
    )

    def _build(self, fit: Fit) -> Model:
        fit.forecast_graph(self, local_memory(self.n_neighbors))
        d = self.n_components
        # with the row itself, as many points as a quadratic function has coefficients
        graph = fit.graph(self, least=d + d * (d + 1) // 2)
        return judged(fit, fit.solve(graph, self._kernel), self)

    def _kernel(self, part: Component, fit: Fit) -> Built:
        kernel = aligned_kernel(
            part.graph,
            part.grams,
            lambda grams: curved(tangent_coordinates(grams, self.n_components), self.roughness),
            fit.width,
            fit.n_jobs,
        )
        return Built(kernel, Barycentric(self.reg))


def curved(U: Floats, roughness: float) -> Floats:
    """Penalty (b, k, k) on what is not affine in the coordinates (b, k, d): 1 if quadratic, else `roughness`.

    A `roughness` above 1 divides the whole penalty.
    """
    b, k, d = U.shape
    first, second = np.triu_indices(d)
    products = U[:, :, first] * U[:, :, second]  # (b, k, d(d+1)/2)
    lengths = np.linalg.norm(products, axis=1, keepdims=True)
    products /= np.where(lengths > 0, lengths, 1.0)
    affine = np.concatenate([np.full((b, k, 1), k**-0.5), U], axis=2)
    for _ in range(2):  # twice: once leaves rounding of the part taken away
        products -= affine @ (affine.transpose(0, 2, 1) @ products)
    # the projection on the span of the columns C is C (CᵀC)⁺ Cᵀ
    values, vectors = np.linalg.eigh(products.transpose(0, 2, 1) @ products)
    scales = np.where(values > _RANK_CUT, 1.0 / np.sqrt(np.maximum(values, _RANK_CUT)), 0.0)
    basis = products @ (vectors * scales[:, None, :])
    quadratic, whole = basis @ basis.transpose(0, 2, 1), affine @ affine.transpose(0, 2, 1)
    largest = max(1.0, roughness)  # only the quotient of both matters, and squares of a huge weight overflow
    of_quadratic, of_rest = 1.0 / largest, roughness / largest
    return np.asarray((of_quadratic - of_rest) * quadratic + of_rest * (np.eye(k) - whole))

"""Heat-kernel embedding: kernel PCA on the heat kernel exp(−Lt) of the neighbour graph.

    L = D − W,  L v = λ v;    K = exp(−L t),  whose rows sum to 1 and which is I at t = 0;    y = V exp(−λt)^½
    new point: y(x) = Σ_j a(x, j) y_j / (d(x) − λ), with the graph's own rule for its edges a

The constant vector (λ = 0) is part of K but is not used as a coordinate: it is the same for all points.
Kondor, Lafferty, ICML 2002; Ham et al., ICML 2004, eq (16).
"""

from numbers import Real

from sklearn.utils._param_validation import Interval

from gramfold.embedding import SAME_EIGENVECTORS, Embedding, Fit, LaplacianMap, Model, laplacian_map, method, parameter
from gramfold.graph.affinity import Width
from gramfold.kernels.diffusion import LaplacianKernel, laplacian_kernel
from gramfold.kernels.penalty import Heat
from gramfold.types import Graph, Spectrum


@method
class HeatKernel(LaplacianMap, Embedding):
    """Heat-kernel embedding: kernel PCA on exp(−Lt), with L the Laplacian of the neighbour graph.

    Examples
    --------
    >>> from gramfold import HeatKernel
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = HeatKernel(n_neighbors=10, t=5.0, coordinates="independent").fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    >>> heat = model.kernel_.columns([7])  # where the heat of row 7 has gone
    >>> round(float(heat.sum()), 9)
    1.0
    """

    t: float = parameter(
        default=1.0,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="Diffusion time t of the heat kernel exp(−Lt). Larger values show coarser structure.",
    )

    def _build(self, fit: Fit) -> Model:
        remedy = f"a smaller t (now {self.t:g}; at a large t only the smoothest eigenvectors remain)"
        return laplacian_map(
            fit, self, self._kernel, few=self._cold, remedy=remedy, no_regularization=SAME_EIGENVECTORS
        )

    def _kernel(self, graph: Graph, width: Width) -> LaplacianKernel:
        return laplacian_kernel(
            graph,
            width,
            form="unnormalized",
            decay=Heat(self.t),
            exponent=0.5,
            null_value=1.0,  # exp(−0·t)
        )

    def _cold(self, spectrum: Spectrum, positive: int, wanted: int) -> str:
        assert spectrum.penalties is not None
        return (
            f"at t={self.t:g} exp(−λt) is 0 in floating point for {len(spectrum) - positive} of {len(spectrum)} "
            "eigenvectors, so that as many columns of the embedding are zero: use a smaller t, about "
            f"{1 / spectrum.penalties[-1]:.2g}."
        )

"""Locally linear embedding: the weights that reconstruct each point from its neighbours are kept on the map.

    w_i = the weights that reconstruct x_i, Σ w_i = 1;   M = (I − W)ᵀ (I − W);   M y = λ y, smallest λ > 0
    kernels of the same axes: M† ("pinv"),  λmax·I − M centred ("shift"),  exp(−M t) centred ("heat")
    new point: y(x) = Σ_j w_j(x) y_j

Roweis, Saul, Science 290 (2000); Ham et al., ICML 2004, section 5.
"""

from numbers import Real
from typing import Literal

from scipy.sparse import csr_array
from sklearn.utils._param_validation import Interval, StrOptions

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
from gramfold.kernels.definite import rebuilding_weights
from gramfold.kernels.local import local_memory
from gramfold.kernels.penalty import Decay, Heat, Inverse, PenaltyKernel, Shift, largest_penalty
from gramfold.kernels.reconstruction import reconstruction_root
from gramfold.types import Floats


@method
class LLE(Rebuilding, Neighborhood, Embedding):
    """Locally linear embedding (LLE): keeps the weights that reconstruct each row from its neighbours.

    Notes
    -----
    A new row that equals a training row gets its coordinates. For a new row close to a training row, the ridge `reg`
    spreads the weights over all neighbours; its coordinates then differ from those of the training row by the curvature
    of the map within one neighbourhood.

    Examples
    --------
    >>> from gramfold import LLE
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = LLE(n_neighbors=12).fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    kernel_form: Literal["pinv", "shift", "heat"] = parameter(
        default="pinv",
        allowed=[StrOptions({"pinv", "shift", "heat"})],
        words="""Which function of M = (I − W)ᵀ (I − W) `kernel_` is. "pinv": the pseudoinverse M†. "shift": λmax·I − M.
        "heat": exp(−M·t). The embedding is the same.""",
    )
    t: float = parameter(
        default=1.0,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words='Diffusion time t of the kernel exp(−M·t). Used only with kernel_form="heat".',
    )

    def _build(self, fit: Fit) -> Model:
        fit.forecast_graph(self, local_memory(self.n_neighbors))
        graph = fit.graph(self, least=1)
        remedy = f"Isomap or ModifiedLLE, a larger reg (now {self.reg:g})"
        return judged(fit, fit.solve(graph, self._kernel), self, remedy=remedy)

    def _kernel(self, part: Component, fit: Fit) -> Built:
        lists, mass = part.graph.neighbors, part.graph.multiplicity
        weights = rebuilding_weights(lists, part.grams, part.index, self.reg, fit.width, fit.n_jobs)
        root = reconstruction_root(weights, mass)
        penalty = csr_array(root.T @ root)
        kernel = PenaltyKernel.of(penalty, mass, root, self._decay(penalty, mass))
        return Built(kernel, Barycentric(self.reg))

    def _decay(self, penalty: csr_array, mass: Floats) -> Decay:
        if self.kernel_form == "pinv":
            return Inverse()
        return Shift(largest_penalty(penalty, mass)) if self.kernel_form == "shift" else Heat(self.t)

"""Locally linear embedding: the map on which every point is rebuilt by its neighbours as in the data.

    w_i = the weights that rebuild x_i, Σ w_i = 1;   M = (I − W)ᵀ (I − W);   M y = λ y, smallest λ > 0
    kernels of the same axes: M† ("pinv"),  λmax·I − M centred ("shift"),  exp(−M t) centred ("heat")
    new point: y(x) = Σ_j w_j(x) y_j

Roweis, Saul, Science 290 (2000); Ham et al., ICML 2004, section 5.
"""

from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import GraphEmbedding, NewRows, Piece, method, parameter
from gramfold.kernels.penalty import Decay, Heat, Inverse, PenaltyKernel, Shift, largest_penalty
from gramfold.kernels.reconstruction import reconstruction_penalty, weight_matrix
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Graph


@method
class LLE(GraphEmbedding):
    """Locally linear embedding.

    Notes
    -----
    A new row that equals a training row takes its place. Beside a training row the weights are spread over all
    neighbours (the ridge sees to that), so the place differs from the training row's by the curvature of the
    map within one neighbourhood.

    Examples
    --------
    >>> from gramfold import LLE
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = LLE(n_neighbors=12).fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    reg: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="Ridge on the local weights, relative to the trace of the local Gram matrix.",
    )
    kernel: Literal["pinv", "shift", "heat"] = parameter(
        default="pinv",
        allowed=[StrOptions({"pinv", "shift", "heat"})],
        words="Which kernel `kernel_` is: M†, λmax·I − M or exp(−M·time); the axes and the map are the same.",
    )
    time: float = parameter(
        default=1.0, allowed=[Interval(Real, 0, None, closed="neither")], words="t of the heat kernel."
    )

    def _kernel(self, graph: Graph, stages: Stages) -> PenaltyKernel:
        grams = self._index.vertex_grams(graph.vertices)
        weights = weight_matrix(graph.neighbors, grams, self.reg, self.n_features_in_)
        penalty = reconstruction_penalty(weights, graph.multiplicity)
        return PenaltyKernel(
            penalty=penalty,
            mass=graph.multiplicity,
            null=np.ones((len(graph), 1)),
            rows=np.arange(len(graph)),
            decay=self._decay(penalty, graph.multiplicity),
        )

    def _decay(self, penalty: Any, mass: Floats) -> Decay:
        if self.kernel == "pinv":
            return Inverse()
        return Shift(largest_penalty(penalty, mass)) if self.kernel == "shift" else Heat(self.time)

    def _place(self, piece: Piece, new: NewRows) -> Floats:
        # the index numbers all vertices, the neighbours met are numbered within the piece
        grams = self._index.query_grams(new.rows)
        weights = weight_matrix(new.met, lambda r, j: grams(r, piece.source.vertices[j]), self.reg, self.n_features_in_)
        return np.asarray(weights @ piece.coordinates)

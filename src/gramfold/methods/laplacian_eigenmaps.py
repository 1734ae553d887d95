"""Laplacian eigenmaps: the smoothest functions on the neighbour graph.

    W_ij = 1 or exp(−d²/2σ²) on edges,  D = diag(W1),  L = D − W
    normalised:  L y = λ D y,  kernel D^-½ (D^-½ L D^-½)† D^-½;     plain:  L y = λ y,  kernel L†
    new point: y(x) = Σ_j a(x, j) y_j / (d(x) − λ m(x)), with m = d(x) or 1 and the graph's own rule for a

Belkin, Niyogi, Neural Computation 15 (2003); Ham et al., ICML 2004, section 4.
"""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import GraphEmbedding, NewRows, Piece, method, parameter
from gramfold.extension.average import average
from gramfold.graph.affinity import Weights, affinity, default_width
from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Graph, Neighbors


@method
class LaplacianEigenmaps(GraphEmbedding):
    """Laplacian eigenmaps.

    Attributes
    ----------
    width_ : float or None
        The σ used.

    Examples
    --------
    >>> from gramfold import LaplacianEigenmaps
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = LaplacianEigenmaps(n_neighbors=10).fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    weights: Weights = parameter(
        default="binary", allowed=[StrOptions({"binary", "gaussian"})], words="Every edge weighs 1, or exp(−d²/2σ²)."
    )
    width: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="σ of Gaussian weights; None stands for the root mean square edge length.",
    )
    normalized: bool = parameter(default=True, allowed=["boolean"], words="Solve L y = λ D y, or L y = λ y.")

    def _kernel(self, graph: Graph, stages: Stages) -> PenaltyKernel:
        self.width_ = None if self.weights == "binary" else self.width or default_width(self.graph_)
        weights = affinity(graph, self.width_)
        return PenaltyKernel(
            penalty=laplacian(weights),
            mass=degrees(weights) if self.normalized else graph.multiplicity,
            null=np.ones((len(graph), 1)),
            rows=np.arange(len(graph)),
        )

    def _meet(self, X: Any) -> Neighbors:
        return self._meet_by_rule(X)

    def _place(self, piece: Piece, new: NewRows) -> Floats:
        places = np.zeros((len(new.met), self.n_components))
        count = len(piece.spectrum)
        places[:, :count] = average(
            new.met,
            piece.coordinates[:, :count],
            width=self.width_,
            multiplicity=piece.source.multiplicity,
            penalties=piece.spectrum.penalties,
            normalized=self.normalized,
        )
        return places

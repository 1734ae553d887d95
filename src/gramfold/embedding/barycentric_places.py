"""New points where the weights that rebuild them put them:  y(x) = Σ_j w_j(x) y_j over the neighbours of x."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from gramfold.embedding.graph_embedding import GraphEmbedding, NewRows
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece
from gramfold.kernels.reconstruction import weight_matrix
from gramfold.types import Floats


@method
class BarycentricPlaces(GraphEmbedding):
    """Engine of the methods whose map is linear within a neighbourhood; not used by itself."""

    reg: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="Ridge on the local weights, relative to the trace of the local Gram matrix.",
    )

    def _place(self, piece: Piece, new: NewRows) -> Floats:
        # the index numbers all vertices, the neighbours met are numbered within the piece
        grams = self._index.query_grams(new.rows)
        weights = weight_matrix(
            new.met,
            lambda rows, lists: grams(rows, piece.source.vertices[lists]),
            self.reg,
            self.n_features_in_,
            self.n_jobs,
        )
        return np.asarray(weights @ piece.coordinates)

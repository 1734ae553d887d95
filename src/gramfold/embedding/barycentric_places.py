"""New points where the weights that rebuild them put them:  y(x) = Σ_j w_j(x) y_j over the neighbours of x."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from gramfold.embedding.graph_embedding import GraphEmbedding, NewRows
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece
from gramfold.errors import NotEuclideanWarning
from gramfold.kernels.definite import DefiniteGrams
from gramfold.kernels.reconstruction import weight_matrix
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

_MUCH = 0.01  # mean share of the local Gram matrices that was negative


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
        with self._definite(lambda rows, lists: grams(rows, piece.source.vertices[lists]), len(new.met)) as local:
            weights = weight_matrix(new.met, local, self.reg, self.n_features_in_, self.n_jobs)
        return np.asarray(weights @ piece.coordinates)

    @contextmanager
    def _definite(
        self, grams: Callable[[Integers, Integers], Floats], count: int
    ) -> Iterator[Callable[[Integers, Integers], Floats]]:
        """Local Gram matrices of `count` rows, positive semidefinite; a change that this takes is told at the end."""
        if self._index.euclidean:
            yield grams
            return
        local = DefiniteGrams(grams, count)
        yield local
        if local.shares.mean() > _MUCH:
            warn(
                f"the distances are those of no points in a Euclidean space: {local.shares.mean():.1%} of the Gram "
                f"matrices of {count} neighbourhoods is negative (of one of them {local.shares.max():.1%}), so the "
                "weights that rebuild a row from its neighbours are rough: pass the rows themselves, or distances that "
                "are Euclidean, as the square roots of cosine, cityblock and Jaccard distances are.",
                NotEuclideanWarning,
            )

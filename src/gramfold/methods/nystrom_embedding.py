"""Nyström: kernel PCA of many rows from a few columns of their kernel.

    A = k(L, L),  C = k(X, L) for a subset L of the rows
    exact (1.24):        K̂ = C A† Cᵀ, centred, is diagonalised: Q = A^-½ Cᵀ C A^-½ = U Λ Uᵀ,  y(x) = Uᵀ A^-½ k(L, x)
    approximate (1.25):  A, centred, is diagonalised: A = U Λ Uᵀ,  y(x) = Λ^-½ Uᵀ k(L, x); axes no longer orthogonal

Burges, sections 2.1.2 and 2.1.3; Fowlkes, Belongie, Chung, Malik, IEEE PAMI 26 (2004); Williams, Seeger, NIPS 13
(2001).
"""

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import FunctionEmbedding, Piece, method, parameter
from gramfold.extension.project import project
from gramfold.kernels.gram import centered_gram
from gramfold.kernels.nystrom import entry_rounding, feature_moments, landmark_block
from gramfold.runtime.progress import Stages
from gramfold.spectral.nystrom import whitening
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats

_JUDGED_ROWS = 10_000


@method
class NystromEmbedding(FunctionEmbedding):
    """Kernel PCA through landmarks: memory and time grow with the rows, not with their square.

    Examples
    --------
    >>> from gramfold import NystromEmbedding
    >>> from gramfold.datasets import make_s_curve
    >>> X = make_s_curve(5000, random_state=0).points
    >>> model = NystromEmbedding(landmarks=50).fit(X)
    >>> model.embedding_.shape, len(model.landmarks_)
    ((5000, 2), 50)
    >>> bool(model.error_ < 1e-3)
    True
    """

    landmarks: Any = parameter(
        default=100,
        allowed=[Interval(Integral, 2, None, closed="left"), "array-like"],
        words="""At most this many rows carry the kernel, or the numbers of the rows that do. With given rows a
        precomputed kernel may hold one column per landmark instead of all.""",
    )
    eigenvectors: Literal["exact", "approximate"] = parameter(
        default="exact",
        allowed=[StrOptions({"exact", "approximate"})],
        words="""Of the whole kernel as the landmarks know it, or those of the landmarks' own kernel, extended to the
        other rows; then `kernel_` and `spectrum_` are over the landmarks, and `error_` is of at most 10,000 rows.""",
    )

    _invariant: ClassVar[bool] = False  # landmarks are drawn by row number

    def _solve_by_landmarks(self, rows: Any, stages: Stages) -> Piece:
        if self.eigenvectors == "exact":
            return super()._solve_by_landmarks(rows, stages)
        self._subset, points = self._columns(rows, self.landmarks_)
        with stages("kernel"):
            own = landmark_block(self._subset, points, self.landmarks_)
            kernel = centered_gram(own)
            self._judge_sample(rows, points, own)
        with stages("spectrum"):
            spectrum = leading_spectrum(kernel, min(self.n_components, len(own) - 1))
        self._warn_of_rank(spectrum)
        piece = Piece(rows, kernel, spectrum, np.empty(0), np.zeros(self.n_components))
        with stages("places"):
            return Piece(rows, kernel, spectrum, self._extend(piece, points), piece.offset)

    def _judge_sample(self, rows: Any, points: Any, own: Floats) -> None:
        n = rows.shape[0]
        sample = np.linspace(0, n - 1, min(n, _JUDGED_ROWS)).astype(np.intp)
        diagonal = self._diagonal(rows)
        if diagonal is not None:
            white = whitening(own, entry_rounding(self._subset, points))
            moments = feature_moments(self._subset, points[sample], white, own.mean(axis=0))
            self._judge(diagonal[sample], moments.explained, float(np.trace(moments.scatter)))

    def _place_by_landmarks(self, piece: Piece, new: Any) -> Floats:
        if self.eigenvectors == "exact":
            return super()._place_by_landmarks(piece, new)
        return self._extend(piece, new if self._function is not None else self._given_values(new, self.landmarks_))

    def _extend(self, piece: Piece, points: Any) -> Floats:
        places = np.zeros((points.shape[0], self.n_components))
        for part, values in self._subset.stream(points, len(self.landmarks_)):
            places[part, : len(piece.spectrum)] = project(piece.kernel.cross(values), piece.kernel, piece.spectrum)
        return places

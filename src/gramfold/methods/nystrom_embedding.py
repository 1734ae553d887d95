"""Nyström: kernel PCA of many rows from a few columns of their kernel.

    A = k(L, L),  C = k(X, L) for a subset L of the rows
    exact (1.24):        K̂ = C A† Cᵀ, centred, is diagonalised: Q = A^-½ Cᵀ C A^-½ = U Λ Uᵀ,  y(x) = Uᵀ A^-½ k(L, x)
    approximate (1.25):  A, centred, is diagonalised: A = U Λ Uᵀ,  y(x) = Λ^-½ Uᵀ k(L, x); axes no longer orthogonal

A precomputed kernel may have gaps, which the same formula fills in (footnote 11).
Burges, sections 2.1.2 and 2.1.3; Fowlkes, Belongie, Chung, Malik, IEEE PAMI 26 (2004); Williams, Seeger, NIPS 13
(2001).
"""

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import FunctionEmbedding, Piece, method, parameter
from gramfold.embedding.reading import read_rows
from gramfold.extension.project import project
from gramfold.kernels.gram import GramKernel
from gramfold.kernels.landmark import landmark_gram
from gramfold.kernels.nystrom import Completion, LandmarkValues, NystromGram, complete_kernel, feature_moments
from gramfold.runtime.progress import Stages
from gramfold.spectral.nystrom import whitening
from gramfold.types import Floats, Integers

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

    _attributes: ClassVar[str] = """
    completion_ : Completion or None
        How missing values (NaN) of a precomputed kernel were filled in from its wholly known rows: the `matrix`, the
        `rank` of those rows, and by how much known values disagree (`misfit`). None where none were missing.
    """
    _invariant: ClassVar[bool] = False  # landmarks are drawn by row number

    @property
    def _allows_missing(self) -> bool:
        return self._precomputed

    def _read(self, X: Any, *, reset: bool) -> Any:
        # of a new row all values against the training rows are needed
        missing = reset and self._allows_missing
        rows = read_rows(self, X, reset=reset, accept_sparse=self._accepts_sparse, allow_missing=missing)
        return self._measured(rows, reset=reset)

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        self.completion_: Completion | None = None
        if self._precomputed and np.isnan(X).any():
            with stages("completion"):
                self.completion_ = complete_kernel(X)
            X = self.completion_.matrix.astype(X.dtype, copy=False)
        return super()._sources(X, stages)

    def _landmark_kernel(self, rows: Any, stages: Stages) -> GramKernel | NystromGram:
        if self.eigenvectors == "exact":
            return super()._landmark_kernel(rows, stages)
        values = self._values(rows, self.landmarks_)
        self._judge_sample(rows, values)
        return landmark_gram(values, self.landmarks_, np.ones(len(values)), scale=1.0)

    def _judge_sample(self, rows: Any, values: LandmarkValues) -> None:
        own, diagonal = values.among(self.landmarks_), self._diagonal(rows)
        if diagonal is None:
            return
        sample = np.linspace(0, len(values) - 1, min(len(values), _JUDGED_ROWS)).astype(np.intp)
        some = LandmarkValues(values.columns, values.points[sample])
        moments = feature_moments(some, whitening(own, values.eps), own.mean(axis=0))
        self._judge(diagonal[sample], moments.explained, float(np.trace(moments.scatter)))

    def _place_by_landmarks(self, piece: Piece, points: Any) -> Floats:
        if self.eigenvectors == "exact":
            return super()._place_by_landmarks(piece, points)
        places = np.zeros((points.shape[0], self.n_components))
        for part, values in piece.kernel.everybody.columns.stream(points):
            places[part, : len(piece.spectrum)] = project(piece.kernel.cross(values), piece.kernel, piece.spectrum)
        return places

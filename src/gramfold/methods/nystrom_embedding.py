"""Nyström approximation: kernel PCA of many rows from a few columns of their kernel.

    A = k(L, L),  C = k(X, L) for a subset L of the rows
    exact (1.24):        K̂ = C A† Cᵀ, centred, is diagonalised: Q = A^-½ Cᵀ C A^-½ = U Λ Uᵀ,  y(x) = Uᵀ A^-½ k(L, x)
    approximate (1.25):  A, centred, is diagonalised: A = U Λ Uᵀ,  y(x) = Λ^-½ Uᵀ k(L, x); axes no longer orthogonal

Missing values of a precomputed kernel are filled in by the same formula (footnote 11).
Burges 2005, sections 2.1.2 and 2.1.3; Fowlkes, Belongie, Chung, Malik, IEEE PAMI 26 (2004); Williams, Seeger, NIPS 13
(2001).
"""

from dataclasses import replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import (
    Built,
    Embedding,
    Fit,
    KernelFunctions,
    Model,
    Reads,
    Whole,
    attribute,
    function_map,
    method,
    parameter,
)
from gramfold.errors import InputError
from gramfold.extension.function_placement import LandmarkPlacement, nystrom_kernel
from gramfold.kernels.gram import landmark_gram
from gramfold.kernels.nystrom import Completion, LandmarkValues, complete_kernel, feature_moments
from gramfold.kernels.values import CarriedValues, Missed
from gramfold.neighbors.units import Unit
from gramfold.spectral.nystrom import whitening

_JUDGED_ROWS = 10_000


@method
class NystromEmbedding(KernelFunctions, Embedding):
    """Nyström approximation of kernel PCA: time and memory are linear in the number of rows.

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
        words="""Maximum number of landmarks, or the indices of the rows that are landmarks. The kernel of all rows is
        approximated from the kernel values between rows and landmarks. If indices are given, a precomputed kernel may
        have one column for each landmark instead of one for each row.""",
    )
    eigenvectors: Literal["exact", "approximate"] = parameter(
        default="exact",
        allowed=[StrOptions({"exact", "approximate"})],
        words="""Which eigenvectors are used. "exact": those of the approximated kernel of all rows. "approximate":
        those of the kernel of the landmarks, extended to the other rows. `kernel_` and `spectrum_` are then over the
        landmarks, and `error_` is estimated from at most 10,000 rows.""",
    )

    completion_ = attribute(
        "Completion or None",
        """How missing values (NaN) of a precomputed kernel were filled in from its complete rows: the completed
        `matrix`, the `rank` of the complete rows, and `misfit`, the largest relative difference between the completion
        and the known values that it was not computed from. None if no value was missing.""",
    )

    def _reads(self) -> Reads:
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        # new rows need all their values against the training rows
        return Reads(precomputed, sparse=not precomputed, gaps=precomputed)

    def _build(self, fit: Fit) -> Model:
        completion = _completion(fit) if fit.reads.precomputed else None
        if completion is not None:
            fit = replace(fit, X=Unit.of_rows(fit.X).outward(completion.matrix).astype(fit.X.dtype, copy=False))
        model = function_map(fit, self, self._kernel)
        return replace(model, found={**model.found, "completion_": completion})

    def _kernel(self, known: CarriedValues, _: Whole, fit: Fit) -> Built:
        if self.eigenvectors == "exact":
            return nystrom_kernel(known, fit.stages)
        assert known.landmarks is not None
        if fit.sample_weight is not None:
            raise InputError(
                "eigenvectors='approximate' are those of the landmarks alone, and the weights of the other rows would "
                "not count: leave sample_weight out, or use eigenvectors='exact'."
            )
        values = known.against_landmarks()
        gram = landmark_gram(values, known.landmarks, np.ones(len(values)), scale=1.0)
        return Built(gram, LandmarkPlacement(known.values, known.landmarks), _missed(known, values).found)


def _completion(fit: Fit) -> Completion | None:
    """Completion of a given kernel with missing values, in its own unit; None if no value is missing."""
    if not np.isnan(fit.X).any():
        return None
    with fit.stages("completion"):
        return complete_kernel(Unit.of_rows(fit.X).inward(fit.X))


def _missed(known: CarriedValues, values: LandmarkValues) -> Missed:
    """Approximation error of the landmarks, from a sample of the rows."""
    assert known.landmarks is not None
    own, diagonal = values.among(known.landmarks), known.diagonal()
    if diagonal is None:
        return Missed()
    sample = np.linspace(0, len(values) - 1, min(len(values), _JUDGED_ROWS)).astype(np.intp)
    some = LandmarkValues(values.columns, values.points[sample])
    moments = feature_moments(some, whitening(own, values.eps), own.mean(axis=0))
    return Missed.of(diagonal[sample], moments.explained, float(np.trace(moments.scatter)))

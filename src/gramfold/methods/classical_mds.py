"""Classical multidimensional scaling: kernel PCA on centred squared distances.

    K = −½ P D² Pᵀ,  P = I − 1 cᵀ with Σ c = 1;    y(x) = Λ^-½ Vᵀ k_c(x, ·) with k(x, j) = −½ d(x, j)²

The origin of the map is Σ c_i x_i. Distances that no space has are repaired first, where asked (kernels/mercer.py).
Torgerson, Psychometrika 17 (1952); Gower, Biometrika 53 (1966); Burges, sections 2.2 and 2.2.1.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import DistanceEmbedding, Piece, method, parameter
from gramfold.errors import InputError
from gramfold.extension.project import project
from gramfold.kernels.gram import GramKernel
from gramfold.kernels.mercer import CLIP_MATRICES, Repair, mercer_gram, repaired_spectrum
from gramfold.neighbors.duplicates import Collapse, collapse_distances, collapse_rows, no_duplicates
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers

_ENTRIES_PER_BLOCK = 1_000_000
_SUM_ROUNDING = 1e-6  # of weights that a user may have in float32


@method
class ClassicalMDS(DistanceEmbedding):
    """Classical multidimensional scaling of any distances.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import ClassicalMDS
    >>> towns = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> places = ClassicalMDS(metric="precomputed").fit_transform(towns)
    >>> bool(np.isclose(np.linalg.norm(places[1] - places[2]), 5.0))
    True
    """

    repair: Repair | None = parameter(
        default=None,
        allowed=[StrOptions({"clip", "shift", "constant"}), None],
        words="""What to do about distances that no Euclidean space has: nothing (None), drop the negative part of the
        kernel ("clip"), add a constant to their squares ("shift") or to the distances themselves ("constant"), the
        smallest that serves. Both leave distances of 0 alone.""",
    )
    center: Floats | None = parameter(
        default=None,
        allowed=["array-like", None],
        words="""Weights of the rows, with sum 1, whose weighted mean is the origin of the map and the point through
        which its axes run; None is the mean. One weight of 1 puts that row at the origin.""",
    )

    def _memory(self, n: int, itemsize: int) -> float:
        dense = CLIP_MATRICES * 8.0 * n**2 if self.repair == "clip" else 0.0
        return dense + super()._memory(n, itemsize)

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        X = self._measure(X)
        self._collapse = self._copies(X)
        self._check_components(len(self._collapse))
        first = self._collapse.first
        distinct = X if len(first) == len(X) else X[np.ix_(first, first)] if self._precomputed else X[first]
        return [distinct], [np.arange(len(X))]

    def _vertices_of(self, rows: Integers) -> Integers:
        return np.asarray(self._collapse.vertex[rows])

    def _copies(self, X: Floats) -> Collapse:
        if self.repair is None:
            return no_duplicates(len(X))
        # a constant keeps different points apart, and copies of one point together
        return collapse_distances(X) if self._precomputed else collapse_rows(X)

    def _kernel(self, rows: Any, stages: Stages) -> GramKernel:
        center = self._center()
        squared = self._squares(rows, rows, stages, rows.dtype)
        np.fill_diagonal(squared, 0.0)
        copies = self._collapse
        return mercer_gram(squared, self.repair, mass=copies.multiplicity, center=center, rows=copies.vertex)

    def _center(self) -> Floats | None:
        """The weights over the distinct rows."""
        if self.center is None:
            return None
        n = len(self._collapse.vertex)
        try:
            weights = np.asarray(self.center, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"center holds something else than numbers ({error}): pass one weight for each row, with sum 1."
            ) from error
        if weights.shape != (n,):
            raise InputError(
                f"center has the shape {weights.shape} and there are {n} rows: pass one weight for each row, with sum "
                "1."
            )
        total = float(weights.sum())
        if not abs(total - 1.0) <= _SUM_ROUNDING * np.abs(weights).sum():
            raise InputError(
                f"the weights in center sum to {total:.6g}, and only weights with sum 1 make a centre: divide them by "
                "their sum."
            )
        return np.asarray(np.bincount(self._collapse.vertex, weights=weights), dtype=np.float64)

    def _solve(self, source: Any, rows: Integers, stages: Stages) -> Piece:
        piece = super()._solve(source, rows, stages)
        return (
            piece if piece.kernel is None else replace(piece, spectrum=repaired_spectrum(piece.spectrum, piece.kernel))
        )

    def _place(self, piece: Piece, new: Any) -> Floats:
        if self._precomputed:
            new = new[:, self._collapse.first]
        places = np.empty((len(new), self.n_components))
        for part in blocks(len(new), max(1, _ENTRIES_PER_BLOCK // len(piece.source))):
            squared = self._squares(new[part], piece.source, SILENT)
            found = project(piece.kernel.cross(squared), piece.kernel, piece.spectrum)
            places[part] = found * piece.kernel.gains(squared, piece.spectrum.eigenvalues)
        return places

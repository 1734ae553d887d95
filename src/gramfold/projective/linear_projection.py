"""What all projections share: a linear map, which is kernel PCA with a linear kernel of some metric.

    y(x) = (x − mean) · directions;    K = F Fᵀ,  F = (X − 1 meanᵀ) · root

The columns of y over the training rows are the eigenvectors of K, times the roots of their eigenvalues. A method says
what the mean, the directions and the root are (`_projection`); the engine proves the eigenvectors and does the rest.
"""

import warnings
from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from gramfold.embedding import KernelEmbedding, Piece, method
from gramfold.errors import RankWarning
from gramfold.extension.linear_inverse import LinearInverse
from gramfold.extension.project import RANK_CUT
from gramfold.kernels.linear import LinearGram, linear_gram, project
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import thread_count
from gramfold.spectral.policy import proved_spectrum
from gramfold.types import Floats, Integers


@dataclass(frozen=True)
class Projection:
    """A linear map and the kernel whose coordinates it gives."""

    mean: Floats  # (d,)
    directions: Floats  # (d, p), p at most n_components
    solver: str  # who found them
    root: Floats | None = None  # (d, r) of the kernel; None is the identity


@method
class LinearProjection(KernelEmbedding):
    """Engine of the projections; not used by itself."""

    _attributes: ClassVar[str] = """
    mean_ : ndarray of shape (n_features,)
        The point that the map has at its origin.
    components_ : ndarray of shape (n_components, n_features)
        The map itself, y = (x − mean_) · components_ᵀ.
    """

    # --- what a method writes

    @abstractmethod
    def _projection(self, rows: Any, stages: Stages) -> Projection:
        """The map of the training rows."""

    def _learn(self, rows: Any, stages: Stages) -> None:
        """Find out from the training rows what `_seen` needs, if anything."""

    def _seen(self, rows: Any) -> Any:
        """The rows that are projected, in the place of those given; the same rows unless said otherwise."""
        return rows

    # --- what the engine asks

    def _kernel(self, source: Any, stages: Stages) -> LinearGram:
        self._map = self._projection(source, stages)
        return linear_gram(source, self._map.mean, self._map.root)

    def _solve(self, source: Any, rows: Integers, stages: Stages) -> Piece:
        limited = nullcontext() if self.n_jobs is None else threadpool_limits(thread_count(self.n_jobs), "blas")
        with limited:
            started = perf_counter()
            with stages("directions"):
                kernel = self._kernel(source, stages)
            with stages("spectrum"):
                found = self._map
                places = project(source, found.mean, found.directions)
                lengths = np.square(places).sum(axis=0)
                real = lengths > RANK_CUT * lengths.max(initial=np.finfo(np.float64).tiny)
                spectrum = proved_spectrum(kernel, places[:, real], found.solver, started)
                if found.root is not None and found.root.shape[1] == found.directions.shape[1]:
                    spectrum = replace(spectrum, total=None)  # of a kernel that has no other directions
        count = len(spectrum)
        if count < self._dimensions:
            self._warn_of_zeros(count)
        signs = np.sign((spectrum.eigenvectors * places[:, real]).sum(axis=0))
        self.mean_, self.components_ = found.mean, np.zeros((self._dimensions, source.shape[1]))
        self.components_[:count] = (found.directions[:, real] * signs).T
        coordinates = np.zeros((source.shape[0], self._dimensions))
        coordinates[:, :count] = places[:, real] * signs
        return Piece(source, kernel, spectrum, coordinates, np.zeros(self._dimensions))

    def _warn_of_zeros(self, positive: int) -> None:
        warnings.warn(
            f"the rows vary along {positive} directions and n_components={self._dimensions} were asked for: "
            f"the last {self._dimensions - positive} columns of the map are zero.",
            RankWarning,
            stacklevel=4,
        )

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        sources, rows = super()._sources(X, stages)
        with stages("model"):
            self._learn(X, stages)
        return [self._seen(source) for source in sources], rows

    def _transform(self, X: Any) -> Floats:
        return self._place(self._pieces[0], self._seen(X))

    def _place(self, piece: Piece, new: Any) -> Floats:
        return project(new, self.mean_, self.components_.T)

    def _build_inverse(self, X: Any, stages: Stages) -> None:
        with stages("inverse"):
            (piece,) = self._pieces
            self._inverse = LinearInverse(piece.source, self.mean_, piece.coordinates)
            self.inverse_error_ = self._inverse.error

    def inverse_transform(self, Y: Any) -> Any:
        """Rebuild data rows from places on the map.

        The rows are linear in the places and nearest to the training rows in the mean square. `inverse_error_` says
        how well training rows are rebuilt without themselves, the directions held.

        Parameters
        ----------
        Y : array-like of shape (n_places, n_components)
            Places on the map.

        Returns
        -------
        X : ndarray of shape (n_places, n_features)
            Data rows.
        """
        return super().inverse_transform(Y)

    # --- what it reads

    @property
    def _precomputed(self) -> bool:
        return False

    def _read(self, X: Any, *, reset: bool) -> Any:
        X = super()._read(X, reset=reset)
        if reset:
            self._dense_columns = 0 if issparse(X) else X.shape[1]
        return X

    def _memory(self, n: int, itemsize: int) -> float:
        # the rows once more, centred and in float64; eigenvectors and places, and what they are made from
        return 8.0 * n * (getattr(self, "_dense_columns", 0) + 6 * self._dimensions)

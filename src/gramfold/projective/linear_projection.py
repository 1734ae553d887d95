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
from scipy.linalg import qr, solve_triangular
from scipy.sparse import issparse

from gramfold.embedding import Inverse, KernelEmbedding, Piece, method
from gramfold.embedding.reading import check_finite, read_rows
from gramfold.errors import RankWarning
from gramfold.extension.extrapolation import Ball
from gramfold.extension.linear_inverse import LinearInverse
from gramfold.extension.project import RANK_CUT
from gramfold.kernels.linear import LinearGram, linear_gram, mean_and_scatter, project, pull, survey
from gramfold.projective.principal_axes import SMALL_SIDE, Moments, is_narrow
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blas_threads, thread_count
from gramfold.spectral.canonical import signs_of
from gramfold.spectral.policy import TOLERANCE, leading_spectrum, proved_spectrum
from gramfold.types import Floats, Integers


@dataclass(frozen=True)
class Projection:
    """A linear map and the kernel whose coordinates it gives."""

    mean: Floats  # (d,)
    directions: Floats  # (d, p), p at most n_components
    solver: str  # who found them
    root: Floats | None = None  # (d, r) of the kernel; None is the identity
    scatter: Floats | None = None  # (d, d) Σ (x − mean)(x − mean)ᵀ of the training rows, if it was made: saves passes
    eigen: bool = True  # whether the columns of the map are eigenvectors of that kernel


@method
class LinearProjection(KernelEmbedding):
    """Engine of the projections; not used by itself."""

    _attributes: ClassVar[str] = """
    mean_ : ndarray of shape (n_features,)
        The point that the map has at its origin.
    components_ : ndarray of shape (n_components, n_features)
        The map itself, y = (x − mean_) · components_ᵀ.
    """

    _global_inverse: ClassVar[bool] = True  # linear

    # --- what a method writes

    @abstractmethod
    def _projection(self, rows: Any, stages: Stages) -> Projection:
        """The map of the training rows."""

    def _learn(self, rows: Any, stages: Stages) -> Any:
        """Find out from the training rows what `_seen` needs, if anything, and return what it makes of them."""
        return rows

    def _seen(self, rows: Any) -> Any:
        """The rows that are projected, in the place of new ones; the same rows unless said otherwise."""
        return rows

    # --- what the engine asks

    def _kernel(self, source: Any, stages: Stages) -> LinearGram:
        self._map = self._projection(source, stages)
        return linear_gram(source, self._map.mean, self._map.root, self._map.scatter, self.n_jobs)

    def _solve(self, source: Any, rows: Integers, stages: Stages) -> Piece:
        with self._threads():
            started = perf_counter()
            with stages("directions"):
                kernel = self._kernel(source, stages)
            with stages("spectrum"):
                found = self._map
                along = _coordinates(source, kernel, found)
                if found.eigen:
                    spectrum = proved_spectrum(kernel, along.places, found.solver, started, along.misfit)
                else:
                    spectrum = leading_spectrum(kernel, along.places.shape[1])
        if found.root is not None and found.root.shape[1] == found.directions.shape[1]:
            spectrum = replace(spectrum, total=None)  # of a kernel that has no other directions
        count = len(spectrum)
        if count < self._dimensions:
            self._warn_of_zeros(count)
        self._farthest = along.farthest
        self._moments: Moments | None = None  # of use to the fit alone
        self.mean_, self.components_ = found.mean, np.zeros((self._dimensions, source.shape[1]))
        self.components_[:count] = along.directions.T
        coordinates = along.places
        if count < self._dimensions:
            coordinates = np.pad(coordinates, ((0, 0), (0, self._dimensions - count)))
        return Piece(source, kernel, spectrum, coordinates, np.zeros(self._dimensions))

    def _threads(self) -> Any:
        """Within it, linear algebra has as many threads as `n_jobs` says."""
        return nullcontext() if self.n_jobs is None else blas_threads(thread_count(self.n_jobs))

    def _assembled(self, X: Any, rows_of: list[Integers]) -> Floats:
        return self._pieces[0].coordinates.astype(X.dtype, copy=False)

    def _warn_of_zeros(self, positive: int) -> None:
        warnings.warn(
            f"the rows vary along {positive} directions and n_components={self._dimensions} were asked for: "
            f"the last {self._dimensions - positive} columns of the map are zero.",
            RankWarning,
            stacklevel=4,
        )

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        _, rows_of = super()._sources(X, stages)
        with stages("model"), self._threads():
            self._moments = self._first_look(X)
            return [self._learn(X, stages)], rows_of

    def _first_look(self, X: Any) -> Moments | None:
        """Mean and scatter of a narrow table; in the same pass, whether all values are there."""
        if is_narrow(X) and not issparse(X):
            found = mean_and_scatter(X, self.n_jobs)
            if np.isfinite(found[0]).all():
                self._has_missing = False
                return found
        self._has_missing = not check_finite(X, "X", allow_missing=self._allows_missing)
        return None

    def _transform(self, X: Any) -> Floats:
        seen = self._seen(X)
        self._warn_of_outside(seen)
        return self._place(self._pieces[0], seen)

    def _ball_of_rows(self) -> Ball:
        if self._training is self._pieces[0].source and self._farthest is not None:  # it was seen on the way
            return Ball(self.mean_, self._farthest)
        return Ball.of(self._training, self.mean_)

    def _outside(self, X: Any) -> Floats:
        return super()._outside(self._seen(X))

    def _place(self, piece: Piece, new: Any) -> Floats:
        return project(new, self.mean_, self.components_.T, self.n_jobs)

    def _rows_to_rebuild(self, X: Any) -> Any:
        # gaps filled in
        return self._pieces[0].source if self._allows_missing else X

    def _make_way(self, way: str) -> Inverse:
        if way != "auto":
            return super()._make_way(way)
        (piece,) = self._pieces
        points, places, scatter = piece.source, piece.coordinates, piece.kernel.scatter
        pulled = pull(points, self.mean_, places, self.n_jobs) if scatter is None else scatter @ self.components_.T
        return LinearInverse(points, self.mean_, places, pulled)

    # --- what it reads

    @property
    def _precomputed(self) -> bool:
        return False

    def _read(self, X: Any, *, reset: bool) -> Any:
        accepted, missing = self._accepts_sparse, self._allows_missing
        # training rows are looked at when their mean is found
        X = read_rows(self, X, reset=reset, accept_sparse=accepted, allow_missing=missing, check=not reset)
        if reset:
            self._dense_columns = 0 if issparse(X) else X.shape[1]
        return X

    def _memory(self, n: int, itemsize: int) -> float:
        # the rows once more, centred and in float64; eigenvectors and places, and what they are made from; the smaller
        # of covariance and Gram matrix, a product to be added to it and its triangle
        small = min(n, getattr(self, "n_features_in_", 0), SMALL_SIDE)
        return 8.0 * n * (getattr(self, "_dense_columns", 0) + 6 * self._dimensions) + 3 * 8.0 * small**2


@dataclass(frozen=True)
class _Coordinates:
    directions: Floats  # (d, p) those that are no rounding
    places: Floats  # (n, p)
    misfit: Floats | None  # (p,) how far the places are from eigenvectors, where that is known and little
    farthest: float | None  # distance of a row from the mean, where they are dense


def _coordinates(points: Any, kernel: LinearGram, found: Projection) -> _Coordinates:
    directions, ends, farthest = found.directions, None, None
    if issparse(points):
        places = project(points, found.mean, directions)
        squares = np.einsum("np,np->p", places, places)
    else:
        seen = survey(points, found.mean, directions, kernel.n_jobs)
        places, squares, ends, farthest = seen.places, seen.squares, seen.ends, seen.farthest
    real = squares > RANK_CUT * squares.max(initial=np.finfo(np.float64).tiny)
    if not real.all():
        directions, places, squares, ends = directions[:, real], places[:, real], squares[real], None
    misfit = kernel.misfit(directions, squares) if found.eigen else None
    if found.eigen and (misfit is None or (misfit > TOLERANCE * squares).any()):
        # where eigenvalues lie far apart rounding leaves some eps·√(λ₁/λ) of the leading coordinates in each: taken out
        places, R = qr(places, mode="economic")
        places, misfit, ends = places * np.diag(R), None, None
        directions = solve_triangular(R, directions.T, trans="T").T * np.diag(R)
    signs = signs_of(places, ends)
    if (signs < 0).any():
        places *= signs
    return _Coordinates(directions * signs, places, misfit, farthest)

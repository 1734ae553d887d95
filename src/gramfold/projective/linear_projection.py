"""What all projections share: a linear map, which is kernel PCA with a linear kernel of some metric.

    y(x) = (x − mean) · directions;    K = F Fᵀ,  F = (X − 1 meanᵀ) · root

The columns of y over the training rows are the eigenvectors of K, times the roots of their eigenvalues. A method says
what the mean, the directions and the root are (`_projection`); the engine proves the eigenvectors and does the rest.
All of it is in the unit that the model measures rows in; `mean_`, `components_` and the like are in the user's.
"""

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
from gramfold.projective.unit import Unit
from gramfold.runtime.memory import fits
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blas_threads, thread_count
from gramfold.runtime.warning import warn
from gramfold.spectral.canonical import signs_of
from gramfold.spectral.policy import TOLERANCE, leading_spectrum, proved_spectrum
from gramfold.types import Floats, Integers

_ROUNDING = 4 * float(np.finfo(np.float64).eps)
_ORDINARY = (1e-6, 1e6)  # sizes at which nobody asks whether rows have squares, in float32 either


@dataclass(frozen=True)
class Projection:
    """A linear map and the kernel whose coordinates it gives."""

    mean: Floats  # (d,)
    directions: Floats  # (d, p), p at most n_components
    solver: str  # who found them
    root: Floats | None = None  # (d, r) of the kernel; None is the identity
    scatter: Floats | None = None  # (d, d) Σ (x − mean)(x − mean)ᵀ of the training rows, if it was made: saves passes
    eigen: bool = True  # whether the columns of the map are eigenvectors of that kernel
    proved: bool = False  # whether every direction is known to be more than rounding
    white: bool = False  # whether each coordinate is to be divided by its standard deviation


@method
class LinearProjection(KernelEmbedding):
    """Engine of the projections; not used by itself."""

    _attributes: ClassVar[str] = """
    mean_ : ndarray of shape (n_features,)
        The point that the map has at its origin. This, `components_` and what follows from them are in the unit of the
        rows, whatever `unit_` is; squares of it may be 0 or infinite there.
    components_ : ndarray of shape (n_components, n_features)
        The map itself, y = (x − mean_) · components_ᵀ.
    """

    _global_inverse: ClassVar[bool] = True  # linear
    _judged: ClassVar[bool] = False  # it shows the rows as they lie

    # --- what a method writes

    @property
    def _degree(self) -> int:
        """Of the map in the rows: 0 where it has a scale of its own."""
        return 1

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
                if found.white:
                    kernel, along = _whitened(kernel, along)
                elif found.eigen and found.root is found.directions:
                    kernel, along = _own(kernel, along)
                if found.eigen:
                    spectrum = proved_spectrum(kernel, along.places, found.solver, started, along.misfit)
                else:
                    spectrum = leading_spectrum(kernel, along.places.shape[1])
        if kernel.root is not None and kernel.root.shape[1] == found.directions.shape[1]:
            spectrum = replace(spectrum, total=None)  # of a kernel that has no other directions
        count = len(spectrum)
        if count < self._dimensions:
            self._warn_of_zeros(count)
        self._farthest = along.farthest
        self._moments: Moments | None = None  # of use to the fit alone
        self._mean, self._directions = found.mean, _widened(along.directions, self._dimensions)
        self._deviations = np.pad(along.deviations, (0, self._dimensions - count))
        self.mean_ = self._unit.outward(found.mean)
        self.components_ = self._unit.outward(self._directions.T, self._degree - 1)
        places = _widened(along.places, self._dimensions)
        return Piece(source, kernel, spectrum, places, np.zeros(self._dimensions))

    def _threads(self) -> Any:
        """Within it, linear algebra has as many threads as `n_jobs` says."""
        return nullcontext() if self.n_jobs is None else blas_threads(thread_count(self.n_jobs))

    def _assembled(self, X: Any, rows_of: list[Integers]) -> Floats:
        return self._pieces[0].coordinates.astype(X.dtype, copy=False)

    def _warn_of_zeros(self, positive: int) -> None:
        warn(
            f"the rows vary along {positive} directions and n_components={self._dimensions} were asked for: "
            f"the last {self._dimensions - positive} columns of the map are zero.",
            RankWarning,
        )

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        _, rows_of = super()._sources(X, stages)
        with stages("model"), self._threads():
            return [self._learn(X, stages)], rows_of

    def _first_look(self, X: Any) -> Any:
        """The rows in the model's unit; mean and scatter of a narrow table; and whether values are missing."""
        self._unit, self._moments, narrow = Unit(), None, is_narrow(X) and not issparse(X)
        self.unit_ = self._unit_of_map = 1.0
        if narrow:
            with self._threads():
                moments = mean_and_scatter(X, self.n_jobs)
            if _are_ordinary(moments):
                self._has_missing, self._moments = False, moments
                return X
        names = getattr(self, "feature_names_in_", None)
        self._has_missing = not check_finite(X, "X", allow_missing=self._allows_missing, names=names)
        X = self._measured(X, reset=True)
        self._unit = Unit.of(self.unit_)
        if narrow and not self._has_missing:
            with self._threads():
                self._moments = moments if self.unit_ == 1.0 else mean_and_scatter(X, self.n_jobs)
        return X

    def _transform(self, X: Any) -> Floats:
        seen = self._seen(X)
        return self._place_all(seen, self._warn_of_outside(seen))

    def _ball_of_rows(self) -> Ball:
        if self._training is self._pieces[0].source and self._farthest is not None:  # it was seen on the way
            return Ball(self._mean, self._farthest)
        return Ball.of(self._training, self._mean)

    def _outside(self, X: Any) -> Floats:
        return super()._outside(self._seen(X))

    def _place(self, piece: Piece, new: Any) -> Floats:
        return project(new, self._mean, self._directions, self.n_jobs)

    def _rows_to_rebuild(self, X: Any) -> Any:
        # gaps filled in
        return self._pieces[0].source if self._allows_missing else X

    def _make_way(self, way: str) -> Inverse:
        if way != "auto":
            return super()._make_way(way)
        (piece,) = self._pieces
        points, places, scatter = piece.source, piece.coordinates, self._map.scatter
        pulled = pull(points, self._mean, places, self.n_jobs) if scatter is None else scatter @ self._directions
        return LinearInverse(points, self._mean, places, pulled)

    # --- what it reads

    @property
    def _precomputed(self) -> bool:
        return False

    def _read(self, X: Any, *, reset: bool) -> Any:
        accepted, missing = self._accepts_sparse, self._allows_missing
        X = read_rows(self, X, reset=reset, accept_sparse=accepted, allow_missing=missing, check=not reset)
        if not reset:
            return self._unit.inward_new(X)
        self._dense_columns = 0 if issparse(X) else X.shape[1]
        return self._first_look(X)

    def _memory(self, n: int, itemsize: int) -> float:
        # the rows once more, centred and in float64; eigenvectors and places, and what they are made from; the smaller
        # of covariance and Gram matrix, a product to be added to it and its triangle; the directions, three times
        columns, count = getattr(self, "n_features_in_", 0), self._most_dimensions(n)
        small = min(n, columns, SMALL_SIDE)
        rows = 8.0 * n * (getattr(self, "_dense_columns", 0) + 6 * count)
        return rows + 3 * 8.0 * (small**2 + columns * count)

    def _memory_advice(self, n: int, itemsize: int) -> list[str]:
        # where a few rows do not fit, their columns are too many
        if fits(self._memory(self._dimensions + 1, itemsize)):
            return []
        return ["or use fewer columns: reduce them first (PCA, sklearn.decomposition.TruncatedSVD)"]

    def _most_dimensions(self, n: int) -> int:
        """Columns that the map of n rows may have."""
        return self._dimensions


def warn_of_little(positive: int, asked: int, least: float) -> None:
    """Say that columns of a map of variance 1 are zero: scaled so, they would show how others are rounded."""
    warn(
        f"the rows vary along {positive} directions by at least {least:.0e} of the largest deviation and "
        f"n_components={asked} were asked for: the last {asked - positive} columns of the map are zero, for scaled to "
        "variance 1 they would be rounding.",
        RankWarning,
    )


@dataclass(frozen=True)
class _Coordinates:
    directions: Floats  # (d, p) those that are no rounding
    places: Floats  # (n, p)
    deviations: Floats  # (p,) of them, about their mean 0 and by n − 1
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
    # neither is the rounding of the mean a direction, nor that of the leading one
    least = len(places) * np.square(_ROUNDING * found.mean) @ np.square(directions)
    if not found.proved:
        least = np.maximum(least, RANK_CUT * squares.max(initial=np.finfo(np.float64).tiny))
    real = squares > least
    if not real.all():
        directions, places, squares, ends = directions[:, real], places[:, real], squares[real], None
    misfit = kernel.misfit(directions, squares) if found.eigen else None
    if found.eigen and (misfit is None or (misfit > TOLERANCE * squares).any()):
        # where eigenvalues lie far apart rounding leaves some eps·√(λ₁/λ) of the leading coordinates in each: taken out
        places, R = qr(places, mode="economic")
        places, squares, misfit, ends = places * np.diag(R), np.square(np.diag(R)), None, None
        directions = solve_triangular(R, directions.T, trans="T").T * np.diag(R)
    signs = signs_of(places, ends)
    if (signs < 0).any():
        places *= signs
    deviations = np.sqrt(squares / (points.shape[0] - 1))
    return _Coordinates(directions * signs, places, deviations, misfit, farthest)


def _whitened(kernel: LinearGram, along: _Coordinates) -> tuple[LinearGram, _Coordinates]:
    """The map of the same columns with variance 1, and its own kernel."""
    directions, places = along.directions / along.deviations, along.places / along.deviations
    return _own(kernel, replace(along, directions=directions, places=places, misfit=None))


def _own(kernel: LinearGram, along: _Coordinates) -> tuple[LinearGram, _Coordinates]:
    """The kernel Y Yᵀ of the places Y themselves, and how far they are from its eigenvectors: from orthogonal."""
    if along.misfit is None:
        gram = along.places.T @ along.places
        squares = np.diag(gram)
        across = gram - np.diag(squares)  # (Y Yᵀ − λ) y = Y · that
        misfit = np.sqrt(np.maximum(((gram @ across) * across).sum(axis=0), 0.0) / squares)
        along = replace(along, misfit=misfit)
    return replace(kernel, root=along.directions), along


def _widened(columns: Floats, count: int) -> Floats:
    """With columns of zeros for directions that were not found."""
    return columns if columns.shape[1] == count else np.pad(columns, ((0, 0), (0, count - columns.shape[1])))


def _are_ordinary(moments: Moments) -> bool:
    """Whether rows with this mean and scatter are all numbers, of a size that no model need measure in another unit."""
    mean, scatter = moments
    variance = float(np.diag(scatter).max())
    if not np.isfinite(variance):
        return False
    size = max(float(np.abs(mean).max()), float(np.sqrt(max(variance, 0.0))))
    return size == 0 or _ORDINARY[0] <= size <= _ORDINARY[1]

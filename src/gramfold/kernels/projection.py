"""What all linear maps share: each is kernel PCA with a linear kernel of some metric.

    y(x) = (x − mean) · directions;    K = F Fᵀ,  F = (X − 1 meanᵀ) · root

The columns of y over the training rows are the eigenvectors of K, times the roots of their eigenvalues. A method says
what the mean, the directions and the root are (`Projection`); here the eigenvectors are proved, and directions that
are rounding dropped. All of it is in the unit that the model measures rows in.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.sparse import issparse

from gramfold.errors import RankWarning
from gramfold.kernels.linear import LinearGram, linear_gram, project, survey
from gramfold.kernels.principal_axes import PrincipalAxes
from gramfold.runtime.counting import last_columns_are
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blas_threads, thread_count
from gramfold.runtime.warning import warn
from gramfold.spectral.canonical import signs_of
from gramfold.spectral.policy import TOLERANCE, leading_spectrum, proved_spectrum
from gramfold.types import Floats, Spectrum

RANK_CUT = 1e-12  # of the largest sum of squares: a direction of less is the rounding of the leading one
_ROUNDING = 4 * float(np.finfo(np.float64).eps)
_MANY_ENTRIES = 4_000_000  # of a table: from there on threads of BLAS pay, and below they wait for each other

Few = Callable[[int, int], str]  # words on fewer directions than asked for; none where nobody need know


@dataclass(frozen=True)
class Projection:
    """A linear map and the kernel whose coordinates it gives."""

    mean: Floats  # (d,)
    directions: Floats  # (d, p), p at most n_components
    solver: str  # who found them
    root: Floats | None = None  # (d, r) of the kernel; None is the identity
    scatter: Floats | None = None  # (d, d) Σ m (x − mean)(x − mean)ᵀ of the training rows, if it was made: saves passes
    eigen: bool = True  # whether the columns of the map are eigenvectors of that kernel
    proved: bool = False  # whether every direction is known to be more than rounding
    white: bool = False  # whether each coordinate is to be divided by its standard deviation


def onto(found: PrincipalAxes, *, white: bool = False) -> Projection:
    """The projection onto principal axes."""
    proved = found.proved and not white
    return Projection(found.mean, found.axes, found.solver, scatter=found.scatter, proved=proved, white=white)


@dataclass(frozen=True)
class ProjectedRows:
    """The map of the training rows; of directions that were not found all is zero."""

    kernel: LinearGram
    spectrum: Spectrum
    mean: Floats  # (d,)
    directions: Floats  # (d, p)
    places: Floats  # (n, p)
    deviations: Floats  # (p,) of the rows along each direction, by n − 1, before whitening
    farthest: float | None  # distance of a row from the mean, where they are dense


def vary_along(positive: int, asked: int) -> str:
    """Say that the last columns of a map are zero."""
    return (
        f"n_components={asked}, but the rows vary along only {positive} directions: "
        f"{last_columns_are(asked - positive)} zero."
    )


def vary_little(positive: int, asked: int, least: float) -> str:
    """Say that columns of a map of variance 1 are zero: scaled so, they would show how others are rounded."""
    return (
        f"n_components={asked}, but the rows vary along only {positive} directions by at least {least:.0e} of the "
        f"largest standard deviation: {last_columns_are(asked - positive)} zero, because whitening "
        "would amplify rounding errors."
    )


def projected_rows(
    rows: Any,
    found: Projection,
    count: int,
    stages: Stages,
    n_jobs: int | None,
    few: Few = vary_along,
    mass: Floats | None = None,
) -> ProjectedRows:
    """The map of these rows in so many columns, with the proof of its spectrum; `few` tells of columns of zeros.

    `mass` (n,) is that of the rows; None: 1 each.
    """
    started = perf_counter() - stages.seconds.get("directions", 0.0)
    with algebra_threads(n_jobs, rows), stages("spectrum"):
        kernel = linear_gram(rows, found.mean, found.root, found.scatter, n_jobs, mass)
        along = _coordinates(rows, kernel, found, mass)
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
    positive = len(spectrum)
    if positive < count and (words := few(positive, count)):
        warn(words, RankWarning)
    return ProjectedRows(
        kernel=kernel,
        spectrum=spectrum,
        mean=found.mean,
        directions=_widened(along.directions, count),
        places=_widened(along.places, count),
        deviations=np.pad(along.deviations, (0, count - positive)),
        farthest=along.farthest,
    )


def algebra_threads(n_jobs: int | None, rows: Any) -> AbstractContextManager[Any]:
    """Within it, linear algebra with these rows has as many threads as `n_jobs` says, if there are many of them."""
    return blas_threads(thread_count(n_jobs) if rows.shape[0] * rows.shape[1] > _MANY_ENTRIES else 1)


@dataclass(frozen=True)
class _Coordinates:
    directions: Floats  # (d, p) those that are no rounding
    places: Floats  # (n, p)
    deviations: Floats  # (p,) of them, about their mean 0 and by n − 1
    misfit: Floats | None  # (p,) how far the places are from eigenvectors, where that is known and little
    farthest: float | None  # distance of a row from the mean, where they are dense


def _coordinates(points: Any, kernel: LinearGram, found: Projection, mass: Floats | None) -> _Coordinates:
    directions, ends, farthest = found.directions, None, None
    total = points.shape[0] if mass is None else float(mass.sum())
    if issparse(points):
        places = project(points, found.mean, directions)
        squares = np.einsum("np,np->p", places, places if mass is None else mass[:, None] * places)
    else:
        seen = survey(points, found.mean, directions, kernel.n_jobs, mass)
        places, squares, ends, farthest = seen.places, seen.squares, seen.ends, seen.farthest
    # neither is the rounding of the mean a direction, nor that of the leading one
    least = total * np.square(_ROUNDING * found.mean) @ np.square(directions)
    if not found.proved:
        least = np.maximum(least, RANK_CUT * squares.max(initial=np.finfo(np.float64).tiny))
    real = squares > least
    if not real.all():
        directions, places, squares, ends = directions[:, real], places[:, real], squares[real], None
    misfit = kernel.misfit(directions, squares) if found.eigen else None
    if found.eigen and (misfit is None or (misfit > TOLERANCE * squares).any()):
        # where eigenvalues lie far apart rounding leaves some eps·√(λ₁/λ) of the leading coordinates in each: taken out
        root = 1.0 if mass is None else np.sqrt(mass)[:, None]
        places, R = qr(root * places, mode="economic")
        places /= root
        places, squares, misfit, ends = places * np.diag(R), np.square(np.diag(R)), None, None
        directions = solve_triangular(R, directions.T, trans="T").T * np.diag(R)
    signs = signs_of(places, ends)
    if (signs < 0).any():
        places *= signs
    deviations = np.sqrt(squares / (total - 1))
    return _Coordinates(directions * signs, places, deviations, misfit, farthest)


def _whitened(kernel: LinearGram, along: _Coordinates) -> tuple[LinearGram, _Coordinates]:
    """The map of the same columns with variance 1, and its own kernel."""
    directions, places = along.directions / along.deviations, along.places / along.deviations
    return _own(kernel, replace(along, directions=directions, places=places, misfit=None))


def _own(kernel: LinearGram, along: _Coordinates) -> tuple[LinearGram, _Coordinates]:
    """The kernel Y Yᵀ of the places Y themselves, and how far they are from its eigenvectors: from orthogonal."""
    if along.misfit is None:
        gram = along.places.T @ (kernel.mass[:, None] * along.places)
        squares = np.diag(gram)
        across = gram - np.diag(squares)  # (Y Yᵀ M − λ) y = Y · that
        misfit = np.sqrt(np.maximum(((gram @ across) * across).sum(axis=0), 0.0) / squares)
        along = replace(along, misfit=misfit)
    return replace(kernel, root=along.directions), along


def _widened(columns: Floats, count: int) -> Floats:
    """With columns of zeros for directions that were not found."""
    return columns if columns.shape[1] == count else np.pad(columns, ((0, 0), (0, count - columns.shape[1])))

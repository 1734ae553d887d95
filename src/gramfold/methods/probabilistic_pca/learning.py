"""The plane of a table: how many dimensions it has, and the likeliest one, in closed form or from rows with gaps."""

from dataclasses import dataclass, replace

import numpy as np

from gramfold.embedding import Fit, Table
from gramfold.errors import InputError
from gramfold.kernels.evidence import log_evidence
from gramfold.kernels.linear import project
from gramfold.kernels.plane import Plane
from gramfold.kernels.principal_axes import PrincipalAxes, principal_axes
from gramfold.methods.probabilistic_pca.latent_plane import LEAST_NOISE_OF_GAPS
from gramfold.methods.probabilistic_pca.loose_plane import LoosePlane
from gramfold.methods.probabilistic_pca.missing_values import fit_missing, with_means
from gramfold.types import Floats

_LEAST_NOISE = 1e-12  # of the mean variance of a column: rows that lie in the plane exactly have no density


@dataclass(frozen=True)
class Dimensions:
    """How many dimensions the map has."""

    count: int
    log_evidence: Floats | None = None  # of 1, 2, …, in the user's unit, where it chose


@dataclass(frozen=True)
class LearnedPlane:
    """The likeliest plane, and how it was found."""

    plane: Plane
    solver: str
    scatter: Floats | None
    n_iter: int
    log_likelihoods: Floats | None  # before each step; None without gaps


def most_evident(table: Table, n_jobs: int | None) -> Dimensions:
    """The number for which the evidence is largest."""
    rows = table.rows
    if table.gaps:
        raise InputError(
            "n_components='evidence' weighs the eigenvalues of the covariance, which is not known where values of "
            "X are missing: give a number, or fill X in first (impute of a fitted ProbabilisticPCA)."
        )
    n, d = len(rows), int((rows.min(axis=0) < rows.max(axis=0)).sum())  # a column that never varies has no noise
    found = principal_axes(rows, rows.shape[1], n_jobs=n_jobs, moments=table.moments)
    evidence = log_evidence(found.variances, n, d)
    if not evidence.size:
        raise InputError(
            f"n_components='evidence' compares numbers of dimensions and the {n} rows of {rows.shape[1]} columns "
            "vary along fewer than two: use n_components=1."
        )
    in_unit = np.frexp(found.variances[0])[1] + 2 * table.unit.power  # of λ, which the evidence leaves out
    return Dimensions(1 + int(evidence.argmax()), evidence - 0.5 * n * d * np.log(2.0) * in_unit)


def plane_of_all(table: Table, count: int, n_jobs: int | None) -> LearnedPlane:
    """In closed form."""
    found = principal_axes(table.rows, count, n_jobs=n_jobs, moments=table.moments)
    return LearnedPlane(_likeliest(found, _LEAST_NOISE), found.solver, found.scatter, 1, None)


def plane_of_gaps(table: Table, count: int, fit: Fit, max_iter: int, tol: float) -> LearnedPlane:
    """By expectation and maximisation of so many steps."""
    rows, d = table.rows, table.rows.shape[1]
    if d == 1:
        raise InputError(
            "X has one column and values of it are missing, so there is nothing to fill them in from: leave these "
            "rows out."
        )
    if count >= d:
        raise InputError(
            f"n_components={count}, X has {d} columns and values of it are missing: with no direction "
            f"left to the noise nothing can be filled in, so use n_components <= {d - 1}."
        )
    rough = principal_axes(with_means(rows, fit.columns.names), count, n_jobs=fit.n_jobs)
    first = _likeliest(rough, LEAST_NOISE_OF_GAPS)
    learned = LearnedPlane(first, "expectation and maximisation", None, 0, np.empty(0))
    if first.total == 0:  # what is known of each column is the same in all rows
        return learned
    start = LoosePlane(first.mean, first.weights, first.noise)
    ended = fit_missing(rows, start, max_iter, tol, fit.stages)
    history = ended.log_likelihoods - (~np.isnan(rows)).sum() * (float(np.log(2.0)) * table.unit.power)
    return replace(learned, plane=ended.plane.principal(), n_iter=len(history), log_likelihoods=history)


def uncorrelated(plane: Plane, rows: Floats) -> Floats:
    """The directions of the latent points.

    z is known up to a rotation: the one in which the latent points of these rows are uncorrelated, as they are along
    principal axes when no value is missing.
    """
    places = project(rows, plane.mean, plane.latent)
    return np.asarray(plane.latent @ np.linalg.eigh(places.T @ places)[1][:, ::-1])


def _likeliest(found: PrincipalAxes, least_noise: float) -> Plane:
    """The plane of largest likelihood on principal axes."""
    floor = least_noise * found.total / len(found.mean)
    return Plane.of_largest_likelihood(found.mean, found.axes, found.variances, found.total, floor)


def stand_out(positive: int, asked: int) -> str:
    """Say that the last columns of a map are zero."""
    return (
        f"the rows stand out of the noise along {positive} directions and n_components={asked} were "
        f"asked for: the last {asked - positive} columns of the map are zero."
    )

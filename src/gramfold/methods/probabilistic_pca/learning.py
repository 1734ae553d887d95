"""The plane of a table: its dimension, and the plane of largest likelihood, in closed form or with missing values."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gramfold.embedding import Fit, Table
from gramfold.errors import InputError
from gramfold.kernels.evidence import log_evidence
from gramfold.kernels.linear import project
from gramfold.kernels.plane import Plane
from gramfold.kernels.principal_axes import PrincipalAxes, principal_axes
from gramfold.methods.probabilistic_pca.latent_plane import LEAST_NOISE_OF_GAPS
from gramfold.methods.probabilistic_pca.loose_plane import LoosePlane
from gramfold.methods.probabilistic_pca.missing_values import KnownValues, with_means
from gramfold.neighbors.units import Unit
from gramfold.runtime.counting import last_columns_are
from gramfold.runtime.progress import Stages
from gramfold.types import Floats

_LEAST_NOISE = 1e-12  # relative to the mean variance of a column: rows exactly in the plane have no density


@dataclass(frozen=True)
class Dimensions:
    """The dimension of the plane."""

    count: int
    log_evidence: Floats | None = None  # of 1, 2, … dimensions, in the user's unit, where it was chosen by evidence


@dataclass(frozen=True)
class LearnedPlane:
    """The plane of largest likelihood, and how it was found."""

    plane: Plane
    solver: str
    scatter: Floats | None
    n_iter: int
    log_likelihoods: Floats | None  # before each iteration; None without missing values


def most_evident(table: Table, fit: Fit) -> Dimensions:
    """The dimension with the largest evidence."""
    rows = table.rows
    if table.gaps:
        check_gaps("evidence", rows.shape[1])
    n, d = fit.total, int((rows.min(axis=0) < rows.max(axis=0)).sum())  # a constant column has no noise
    mass, count = fit.sample_weight, rows.shape[1]
    found = principal_axes(rows, count, n_jobs=fit.n_jobs, moments=table.moments, mass=mass)
    evidence = log_evidence(found.variances, n, d)
    if not evidence.size:
        raise InputError(
            f"n_components='evidence' needs rows that vary along two or more directions, but the {n:.0f} rows of "
            f"{rows.shape[1]} columns vary along fewer: use n_components=1."
        )
    in_unit = np.frexp(found.variances[0])[1] + 2 * table.unit.power  # of λ, which the evidence leaves out
    return Dimensions(1 + int(evidence.argmax()), evidence - 0.5 * n * d * np.log(2.0) * in_unit)


def plane_of_all(table: Table, count: int, fit: Fit) -> LearnedPlane:
    """The plane of complete rows, in closed form."""
    found = principal_axes(table.rows, count, n_jobs=fit.n_jobs, moments=table.moments, mass=fit.sample_weight)
    return LearnedPlane(_likeliest(found, _LEAST_NOISE), found.solver, found.scatter, 1, None)


def plane_of_gaps(table: Table, count: int, fit: Fit, max_iter: int, tol: float) -> LearnedPlane:
    """The plane of rows with missing values, by expectation maximisation."""
    check_gaps(count, table.rows.shape[1])
    filled = with_means(table.rows, fit.columns.shown, fit.mass)
    rough = principal_axes(filled, count, n_jobs=fit.n_jobs, mass=fit.sample_weight)
    known = KnownValues.of(table.rows, fit.mass)
    return climbed(rough, known, table.unit, max_iter, tol, fit.stages)


def check_gaps(count: int | Literal["evidence"], d: int) -> None:
    """Refuse a plane of so many dimensions, or of a number that is to be found, where d columns have gaps."""
    if count == "evidence":
        raise InputError(
            "n_components='evidence' needs the covariance of complete rows, but X has missing values: use a number, or "
            "fill them in first with impute() of a fitted ProbabilisticPCA."
        )
    if d == 1:
        raise InputError(
            "X has a single column with missing values, so there is no other column to estimate them from: remove the "
            "rows without a value."
        )
    if count >= d:
        raise InputError(
            f"n_components={count} leaves no direction for the noise in the {d} columns of X, so missing values cannot "
            f"be estimated: use n_components <= {d - 1}."
        )


def climbed(
    rough: PrincipalAxes, known: KnownValues, unit: Unit, max_iter: int, tol: float, stages: Stages
) -> LearnedPlane:
    """The plane of known values in this unit, from the axes of rows whose gaps hold the means of their columns."""
    first = _likeliest(rough, LEAST_NOISE_OF_GAPS)
    learned = LearnedPlane(first, "expectation and maximisation", None, 0, np.empty(0))
    if first.total == 0:  # all known values of a column are equal
        return learned
    ended = known.fitted(LoosePlane(first.mean, first.weights, first.noise), max_iter, tol, stages)
    history = ended.log_likelihoods - known.there * (float(np.log(2.0)) * unit.power)
    return replace(learned, plane=ended.plane.principal(), n_iter=len(history), log_likelihoods=history)


def uncorrelated(plane: Plane, rows: Floats, mass: Floats | None) -> Floats:
    """The directions along which the latent points of these rows are uncorrelated.

    z is determined up to a rotation. Along principal axes latent points are uncorrelated if no value is missing.
    """
    places = project(rows, plane.mean, plane.latent)
    scatter = places.T @ (places if mass is None else mass[:, None] * places)
    return np.asarray(plane.latent @ np.linalg.eigh(scatter)[1][:, ::-1])


def _likeliest(found: PrincipalAxes, least_noise: float) -> Plane:
    """The plane of largest likelihood, on principal axes."""
    floor = least_noise * found.total / len(found.mean)
    return Plane.of_largest_likelihood(found.mean, found.axes, found.variances, found.total, floor)


def stand_out(positive: int, asked: int) -> str:
    """The warning that the last columns of the embedding are zero."""
    return (
        f"n_components={asked}, but the variance of the rows is above the noise along only {positive} directions: "
        f"{last_columns_are(asked - positive)} zero."
    )

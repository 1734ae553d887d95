"""Nyström embedding of rows in partitions: the moments of the features f(x) = A^-½ k(L, x), summed.

    pass 1   mean and scatter of the rows                          -> the default γ
    pass 2   a hash of each row                                    -> copies, which are no landmarks
    pass 3   landmarks, and a sample that the model holds          -> A^-½; the ball about all rows
    pass 4   mean and scatter of the features, Σ |f|², Σ k(x, x)   -> axes, error
    pass 5   the row that is outermost along each axis             -> signs

Landmarks are those of a fit in memory. Only by leverage they are chosen among at most 10,000 rows that are drawn, or 20
for each landmark.
"""

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from gramfold.distributed.drawn import SAMPLE
from gramfold.distributed.kmeans_landmarks import kmeans_numbers
from gramfold.distributed.landmarks import HeldRows, distinct_numbers, random_numbers
from gramfold.distributed.moments import joint
from gramfold.distributed.partitions import Partitions
from gramfold.distributed.sampled import fit_of, require_numbers
from gramfold.embedding import Built, Fit, Model, Whole, function_map
from gramfold.errors import InputError
from gramfold.extension.function_placement import NystromPlacement
from gramfold.kernels.functions import SYNONYMS, gamma_of
from gramfold.kernels.landmarks import ROWS_PER_CENTER, given_landmarks, landmark_count
from gramfold.kernels.nystrom import (
    LandmarkColumns,
    LandmarkValues,
    Moments,
    NystromGram,
    feature_moments,
    function_spectrum,
    gram_of_moments,
)
from gramfold.kernels.values import CarriedValues, KernelValues, Missed, kernel_unit
from gramfold.neighbors.units import Unit
from gramfold.spectral.canonical import TIE, signs_of
from gramfold.spectral.nystrom import NystromSpectrum, Whitening, whitening
from gramfold.types import Floats, Integers, Kernel


def fit_nystrom(estimator: Any, rows: Partitions, extras: Any) -> Model:  # noqa: ARG001  y is not read in memory either
    """See the module."""
    require_numbers(estimator)
    alone = copy(estimator)
    if _is_gaussian(alone.kernel) and alone.gamma is None:
        alone.set_params(gamma=_gamma(rows))
    kept, landmarks = _chosen(alone, rows)
    alone.set_params(landmarks=landmarks)
    fit = fit_of(alone, kept.table, rows)
    if alone.eigenvectors == "approximate":  # those of the landmarks alone
        return kept.held_by(alone._build(fit))  # noqa: SLF001  of every estimator
    model = _map_of_all(alone, fit, rows, landmarks)
    return kept.held_by(replace(model, found={**model.found, "completion_": None}))  # no value is missing


def _is_gaussian(kernel: Any) -> bool:
    return isinstance(kernel, str) and SYNONYMS.get(kernel, kernel) == "rbf"


def _gamma(rows: Partitions) -> float:
    variance = float(np.trace(rows.moments.scatter)) / rows.moments.n
    if not np.isfinite(variance):
        raise InputError("the variance of X overflows, so that there is no default gamma: divide X by a constant.")
    return gamma_of(variance)


def _chosen(alone: Any, rows: Partitions) -> tuple[HeldRows, Integers]:
    """Rows that the model holds, and which of them are landmarks."""
    n, rng = rows.moments.n, check_random_state(alone.random_state)
    count = landmark_count(alone.landmarks)
    most = max(SAMPLE, ROWS_PER_CENTER * count)
    if not isinstance(alone.landmarks, Integral):
        landmarks = given_landmarks(alone.landmarks, n)
    elif n <= most or alone.landmark_choice == "leverage":
        kept = HeldRows.of(rows, rows.drawn(most, rng))
        unit = kernel_unit(alone.kernel, kept.table)
        inside = unit.inward(kept.table)
        return kept, KernelValues.of(alone, inside, unit).carriers(alone, inside, rng)
    else:
        draw = random_numbers if alone.landmark_choice == "random" else kmeans_numbers
        landmarks = draw(rows, count, rng, distinct_numbers(rows))
    kept = HeldRows.of(rows, np.union1d(rows.drawn(SAMPLE, rng), landmarks))
    return kept, kept.at(landmarks)


def _map_of_all(alone: Any, fit: Fit, rows: Partitions, landmarks: Integers) -> Model:
    """The map that all rows make, of those of the fit."""
    unit = kernel_unit(alone.kernel, fit.X)
    inside = unit.inward(fit.X)
    values = KernelValues.of(alone, inside, unit).against(inside, landmarks)
    features = Features.of(values, landmarks, unit)
    sums: FeatureSums = rows.total("features", sums_of, added, features)

    def kernel(known: CarriedValues, _: Whole, fit: Fit) -> Built:  # noqa: ARG001  nothing of the fit is left to do
        gram = sums.gram(values, features.white)
        missed = Missed.of(np.array([sums.diagonal]), gram.explained, gram.trace())
        return Built(gram, NystromPlacement(known.values, landmarks), missed.found)

    return function_map(fit, alone, kernel, partial(_spectrum, rows, unit))


def _spectrum(rows: Partitions, unit: Unit, kernel: Kernel, count: int) -> NystromSpectrum:
    """The leading eigenpairs, with the signs that they have over all rows."""
    found = function_spectrum(kernel, count)
    assert isinstance(kernel, NystromGram)
    assert isinstance(found, NystromSpectrum)
    signs = rows.total("signs", ends_of, farther, unit, kernel.for_new_values(), found.axes).signs
    return replace(found, eigenvectors=found.eigenvectors * signs, axes=found.axes * signs)


@dataclass(frozen=True, eq=False)
class Features:
    """What a row's f(x) is made of."""

    unit: Unit
    columns: LandmarkColumns
    white: Whitening
    near: Floats  # (m,) kernel values near their mean

    @classmethod
    def of(cls, values: LandmarkValues, landmarks: Integers, unit: Unit) -> Self:
        """Of these landmarks."""
        own = values.among(landmarks)
        return cls(unit, values.columns, whitening(own, values.eps), own.mean(axis=0))


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """Over some rows."""

    n: int
    moments: Moments  # of f
    diagonal: float  # Σ k(x, x)

    def gram(self, values: LandmarkValues, white: Whitening) -> NystromGram:
        """The kernel over the rows of `values`, which stand for these."""
        return gram_of_moments(
            values, white, self.moments, self.n, np.full(len(values), self.n / len(values)), drawn=True
        )


def sums_of(rows: Floats, features: Features) -> FeatureSums:
    """Of one partition."""
    inside = features.unit.inward(rows)
    found = feature_moments(LandmarkValues(features.columns, inside), features.white, features.near)
    function = features.columns.function
    assert function is not None
    return FeatureSums(len(rows), found, float(function.diagonal(inside).sum()))


def added(a: FeatureSums, b: FeatureSums) -> FeatureSums:
    """Of both together."""
    mean, scatter = joint(a.n, a.moments, b.n, b.moments)
    moments = Moments(mean, scatter, a.moments.explained + b.moments.explained)
    return FeatureSums(a.n + b.n, moments, a.diagonal + b.diagonal)


@dataclass(frozen=True, eq=False)
class Ends:
    """How far out rows are along each axis."""

    sizes: Floats  # (p,) the largest |y|
    signs: Floats  # (p,) by which it is positive


def ends_of(rows: Floats, unit: Unit, kernel: NystromGram, axes: Floats) -> Ends:
    """Of one partition."""
    places = kernel.place(unit.inward(rows), axes)
    return Ends(np.abs(places).max(axis=0), signs_of(places))


def farther(a: Ends, b: Ends) -> Ends:
    """Of both together: of rows as far out the first decides, as in memory."""
    later = a.sizes < (1 - TIE) * b.sizes
    return Ends(np.where(later, b.sizes, a.sizes), np.where(later, b.signs, a.signs))

"""Probabilistic PCA of rows in partitions that have missing values: EM whose sums are added up where the rows are.

start    principal axes of the rows with the mean of its column in each gap
EM       the sums of missing_values.py over each partition, merged; the plane is fitted to the sums
map      the linear map of the rows that the plane fills in (linear.py)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any

import numpy as np

from gramfold.distributed.drawn import fitted_whole, is_held_whole
from gramfold.distributed.linear import Mapped, Seen, View, fit_linear
from gramfold.distributed.partitions import Partitions
from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Model
from gramfold.kernels.principal_axes import principal_axes
from gramfold.methods.probabilistic_pca.latent_plane import LatentPlane
from gramfold.methods.probabilistic_pca.learning import Dimensions, LearnedPlane, check_gaps, climbed
from gramfold.methods.probabilistic_pca.loose_plane import LoosePlane
from gramfold.methods.probabilistic_pca.missing_values import (
    NAMED,
    KnownValues,
    Sums,
    empty_rows,
    expected,
    least_noise,
    require_known,
    warn_of_empty,
)
from gramfold.neighbors.units import Unit
from gramfold.types import Floats, Integers


def fit_probabilistic(estimator: Any, rows: Partitions, extras: Mapping[str, Any]) -> Model:
    """ProbabilisticPCA."""
    if not rows.moments.gaps:
        return fit_linear(estimator, rows, extras)
    if is_held_whole(rows):
        return fitted_whole(estimator, rows, extras)
    check_gaps(estimator.n_components, rows.width)
    unit = rows.moments.unit(rows.dtype)
    with rows.kept() as near:
        columns = near.total("columns", _columns, add, unit, own=rows.starts.tolist())
        require_known(columns.counts > 0, rows.reader.names)
        learned = _learned(estimator, rows, near, unit, columns)
        warn_of_empty(columns.empty, columns.n_empty)
        seen = Seen.of(near, View(unit, LatentPlane(learned.plane, learned.plane.weights).filled))
        return Mapped(estimator, rows, extras, seen, seen).by(partial(_built, estimator, learned))


def _built(estimator: Any, learned: LearnedPlane, fit: Fit, filled: Floats) -> Model:
    model: Model = estimator._map(fit, fit.seen, filled, Dimensions(estimator.n_components), learned)  # noqa: SLF001  as it maps rows in memory
    return model


def _learned(estimator: Any, rows: Partitions, near: Partitions, unit: Unit, columns: "_Columns") -> LearnedPlane:
    with_means = Seen.of(near, View(unit, partial(_with_means, columns.mean)))
    some, moments = with_means.stand_ins(np.empty((0, rows.width))), with_means.moments
    means = (moments.mean, moments.scatter)
    rough = principal_axes(some.rows, estimator.n_components, moments=means, mass=some.mass)
    inner = Unit.of_size(float(unit.inward(np.fmax(np.abs(rows.moments.least), np.abs(rows.moments.most)).max())))

    def sums(plane: LoosePlane) -> Sums:
        found: Sums = near.total("missing values", _expected, add, unit, inner, plane)
        return found

    floor = least_noise(inner.inward(columns.squares / columns.counts, 2))
    known = KnownValues(sums, inner, float(columns.counts.sum()), float(moments.n), floor)
    return climbed(rough, known, unit, estimator.max_iter, estimator.tol, rows.stages)


def _with_means(means: Floats, rows: Floats) -> Floats:
    return np.where(np.isnan(rows), means, rows)


def _expected(rows: Floats, unit: Unit, inner: Unit, plane: LoosePlane) -> Sums:
    """Of one partition."""
    return expected(unit.inward(rows), inner, plane)


@dataclass(frozen=True, eq=False)
class _Columns:
    """The known values of each column of some rows, and rows that have none."""

    counts: Floats  # (d,)
    mean: Floats  # (d,); 0 where there are none
    squares: Floats  # (d,) Σ (x − mean)²
    empty: Integers  # the first rows without a value, counted through all partitions
    n_empty: int

    def __add__(self, later: "_Columns") -> "_Columns":
        counts, away = self.counts + later.counts, later.mean - self.mean
        share = later.counts / np.maximum(counts, 1.0)
        return _Columns(
            counts,
            self.mean + share * away,
            self.squares + later.squares + self.counts * share * np.square(away),
            np.concatenate([self.empty, later.empty])[:NAMED],
            self.n_empty + later.n_empty,
        )


def _columns(rows: Floats, unit: Unit, start: int) -> _Columns:
    """Of one partition, whose first row has this number."""
    values: Floats = unit.inward(rows).astype(np.float64)
    known = ~np.isnan(values)
    counts = known.sum(axis=0).astype(np.float64)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(counts, 1.0)
    squares = np.square(np.where(known, values - mean, 0.0)).sum(axis=0)
    empty = empty_rows(rows)
    return _Columns(counts, mean, squares, start + empty[:NAMED], len(empty))

"""Linear maps of rows in partitions: a fit of stand-ins that have the mean and scatter of all rows.

    pass 1   mean and scatter of each partition, summed                      -> stand-ins -> axes
    pass 2   the rows that are outermost along each axis, or from the mean   -> signs, the ball about all rows; a sample

The outermost rows are fitted with next to no mass (stand_ins.py), so that signs and reach of the map are theirs, as
they are in a fit of all rows at once. Rows that hardly vary along some direction are passed over once more, for the
triangle of their QR decomposition: squares carry half the digits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np

from gramfold.distributed.drawn import columns_of, directions_of, fitted_whole, holding, is_held_whole, sample_of
from gramfold.distributed.moments import Moments, merged, moments_of
from gramfold.distributed.partitions import Partitions
from gramfold.distributed.stand_ins import StandIns, root_of, root_of_triangle
from gramfold.embedding import Table
from gramfold.embedding.degenerate import warn_of_degenerate_map
from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Model
from gramfold.errors import InputError
from gramfold.extension.extrapolation import EUCLIDEAN
from gramfold.kernels.linear import shifted
from gramfold.kernels.plain_map import rows_by
from gramfold.kernels.principal_axes import triangle_of
from gramfold.methods.factor_analysis.factor_analysis import REMEDY
from gramfold.neighbors.loud import warn_of_loud_columns
from gramfold.neighbors.units import Unit
from gramfold.runtime.cached import cached_property
from gramfold.runtime.warning import unheard
from gramfold.types import Floats, Integers, Plain

_TIE = 1e-6  # of two rows as far out the first decides, as among all rows (spectral/canonical.py)
_TALL = 4  # rows of a block beside its columns, so that QR of it costs little more than that of all rows

Build = Callable[[Fit, Floats], Model]  # from a fit to stand-ins, and the stand-ins of what is projected


def fit_linear(estimator: Any, rows: Partitions, extras: Mapping[str, Any]) -> Model:
    """PCA, and what else is a function of mean and scatter."""
    if getattr(estimator, "svd_solver", None) in {"full", "arpack"}:
        raise InputError(
            f"svd_solver={estimator.svd_solver!r} is scikit-learn's, which reads all rows in memory: use 'auto', "
            "'covariance_eigh' or 'gram' for rows in partitions."
        )
    if is_held_whole(rows):
        return fitted_whole(estimator, rows, extras)
    seen = Seen.of(rows)
    return Mapped(estimator, rows, extras, seen, seen).by(lambda fit, _: estimator._build(fit))  # noqa: SLF001  of every estimator


def fit_factors(estimator: Any, rows: Partitions, extras: Mapping[str, Any]) -> Model:
    """Factor analysis, whose map is judged by the rows that the model holds."""
    model = fit_linear(estimator, rows, extras)
    if not is_held_whole(rows):
        by = rows_by(EUCLIDEAN, model.source.rows)
        warn_of_degenerate_map(model.embedding, by, REMEDY, keeps_neighbors=False)
    return model


@dataclass(frozen=True, eq=False)
class View(Plain):
    """How a linear map sees the rows of a partition."""

    unit: Unit
    fill: Callable[[Floats], Floats] | None = None  # of missing values
    rebuild: Callable[[Floats], Floats] | None = None  # what is projected in the place of complete rows

    def complete(self, rows: Floats) -> Floats:
        """In the unit, without gaps."""
        inner: Floats = self.unit.inward(rows)
        return inner if self.fill is None else self.fill(inner)

    def projected(self, complete: Floats) -> Floats:
        """What is projected of complete rows."""
        return complete if self.rebuild is None else self.rebuild(complete)


@dataclass(frozen=True, eq=False)
class Seen:
    """Rows as a map sees them, by their sums."""

    rows: Partitions
    view: View
    moments: Moments

    @classmethod
    def of(cls, rows: Partitions, view: View | None = None) -> "Seen":
        """In their own unit, unless another view is given."""
        view = View(rows.moments.unit(rows.dtype)) if view is None else view
        if view.unit.power == 0 and view.fill is None and view.rebuild is None:
            found = rows.moments
        else:
            found = rows.total("moments", _moments, merged, view, own=range(len(rows)))
        varies = found.varies
        mean, both = np.where(varies, found.mean, found.least), np.outer(varies, varies)
        return cls(rows, view, replace(found, mean=mean, scatter=np.where(both, found.scatter, 0.0)))

    @cached_property
    def root(self) -> Floats:
        """A root (r, d) of the scatter."""
        mean, scatter, varies = self.moments.mean, self.moments.scatter, self.moments.varies
        root = root_of(scatter, varies)
        if root is None:
            root = root_of_triangle(self.rows.total("triangle", _triangle, _stacked, self.view, mean), varies)
        return root

    def stand_ins(self, edges: Floats) -> StandIns:
        """For all rows, with some of them at the edges."""
        return StandIns.of(self.moments, self.root, edges)


@dataclass(frozen=True, eq=False)
class Mapped:
    """A linear map of rows in partitions."""

    estimator: Any
    rows: Partitions
    extras: Mapping[str, Any]
    complete: Seen  # the rows
    projected: Seen  # what is projected of them

    def by(self, build: Build) -> Model:
        """The model that `build` makes of stand-ins, with a sample of the rows."""
        none = np.empty((0, self.rows.width))
        with unheard():  # all is told by the second
            (part,) = self._built(build, none, none).parts
        numbers = sample_of(self.rows, self.estimator.random_state)
        own = list(zip(self.rows.starts, self.rows.places_of(numbers), strict=True))
        mean, directions, view = part.placement.mean, directions_of(part), self.projected.view
        found = self.projected.rows.total("outermost", _outermost, add, view, mean, directions, own=own)
        outer = found.outermost
        order = np.argsort(outer.numbers, kind="stable")
        sample = self.rows.joined(found.sample)
        warn_of_loud_columns(self.estimator, sample, self.rows.reader.names, given_graph=False, in_parts=True)
        model = self._built(build, outer.complete[order], outer.projected[order])
        return holding(model, self.rows, numbers, sample, view.projected(sample), self.projected.moments)

    def _built(self, build: Build, complete: Floats, projected: Floats) -> Model:
        """The model of stand-ins, and of the rows at the edges."""
        rows, moments = self.complete.stand_ins(complete), self.complete.moments
        table = Table(rows.rows, self.complete.view.unit, (moments.mean, moments.scatter), gaps=False)
        fit = Fit.of(self.estimator, rows.rows, None, self.estimator._reads(), self.extras)  # noqa: SLF001  of every estimator
        fit = replace(
            fit,
            seen=table,
            sample_weight=rows.mass,
            mass=rows.mass,
            total=float(moments.n),
            columns=columns_of(self.rows),
            stages=self.rows.stages,
        )
        same = self.projected is self.complete
        return build(fit, rows.rows if same else self.projected.stand_ins(projected).rows)


@dataclass(frozen=True, eq=False)
class Outermost:
    """For each axis both rows farthest out, and the row farthest from the mean."""

    values: Floats  # (2p + 1,) how far out each is
    numbers: Integers  # (2p + 1,) counted through all partitions
    complete: Floats  # (2p + 1, d) the rows
    projected: Floats  # (2p + 1, d) what is projected of them

    def beside(self, later: "Outermost") -> "Outermost":
        """Of these and of later rows."""
        other = later.values > self.values + _TIE * np.abs(self.values)
        return Outermost(
            np.where(other, later.values, self.values),
            np.where(other, later.numbers, self.numbers),
            np.where(other[:, None], later.complete, self.complete),
            np.where(other[:, None], later.projected, self.projected),
        )


@dataclass(frozen=True, eq=False)
class _Found:
    outermost: Outermost
    sample: tuple[Floats, ...]  # of each partition

    def __add__(self, later: "_Found") -> "_Found":
        return _Found(self.outermost.beside(later.outermost), self.sample + later.sample)


def _moments(rows: Floats, view: View, number: int) -> Moments:
    return moments_of(view.projected(view.complete(rows)), number)


def _triangle(rows: Floats, view: View, mean: Floats) -> Floats:
    """R of the centred rows of one partition."""
    seen = view.projected(view.complete(rows))
    return triangle_of(part for _, part in shifted(seen, mean, slice(0, len(seen)), least=_TALL * len(mean)))


def _stacked(first: Floats, second: Floats) -> Floats:
    return triangle_of([first, second])


def _outermost(rows: Floats, view: View, mean: Floats, directions: Floats, own: tuple[int, Integers]) -> _Found:
    """Of one partition, with its part of the sample."""
    start, inside = own
    complete = view.complete(rows)
    projected = view.projected(complete)
    places = directions.T @ (projected - mean).T
    away = complete - mean
    values = np.vstack([places, -places, np.einsum("nd,nd->n", away, away)])  # (2p + 1, m)
    most = values.max(axis=1, keepdims=True)
    first = np.argmax(values >= most - _TIE * np.abs(most), axis=1)
    ends = complete[first].astype(np.float64)
    there = ends if projected is complete else projected[first].astype(np.float64)
    return _Found(Outermost(values[np.arange(len(values)), first], start + first, ends, there), (complete[inside],))

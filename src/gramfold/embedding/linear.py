"""What the linear maps share on the side of the engine: a first look at the table, and the model of a projection.

rows -> unit, mean and scatter -> directions (the method's) -> proved map (kernels/projection.py) -> model
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils._param_validation import Interval

from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Model, OwnInverse
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.reading import check_finite
from gramfold.embedding.weighing import require_more_than_one
from gramfold.extension.extrapolation import EUCLIDEAN, Ball
from gramfold.extension.linear_placement import LeastSquares, LinearPlacement
from gramfold.extension.placement import Part, Placement
from gramfold.extension.table_source import Filling, TableSource
from gramfold.kernels.linear import mean_and_scatter
from gramfold.kernels.principal_axes import Moments, are_ordinary, is_narrow
from gramfold.kernels.projection import ProjectedRows, algebra_threads
from gramfold.kernels.projection_memory import Beside, ProjectionMemory
from gramfold.neighbors.units import Unit
from gramfold.types import Floats


def _unit_vectors(model: Model) -> Floats:
    components: Floats = model.found["components_"]
    lengths = np.linalg.norm(components, axis=1, keepdims=True)
    return np.asarray(components / np.where(lengths > 0, lengths, 1.0))


@method
class LinearMap:
    """What is known of every linear map."""

    mean_ = attribute(
        "ndarray of shape (n_features,)",
        """Mean of the rows, which is the origin of the embedding. It and `components_` are in the unit of X, whatever
        `unit_` is.""",
    )
    components_ = attribute(
        "ndarray of shape (n_components, n_features)", "Matrix of the embedding: y = (x − mean_) · components_ᵀ."
    )


@method
class OrientedMap(LinearMap):
    """What the methods on distorted rows share: they are fitted with the rows as they should be and as they come."""

    reg: float = parameter(
        default=1e-6,
        allowed=[Interval(Real, 0, 1, closed="left")],
        words="""Regularisation of the noise covariance: eigenvalues smaller than this fraction of the largest are
        raised to it, so that directions without observed noise do not count as free of noise.""",
    )

    directions_ = attribute(
        "ndarray of shape (n_components, n_features)",
        "Unit vectors along `components_`. They do not change when the signal or the noise is scaled.",
        _unit_vectors,
    )
    signal_to_noise_ = attribute(
        "ndarray of shape (n_components,)",
        "Variance of the signal along each direction divided by the mean square of the noise.",
    )


@dataclass(frozen=True, eq=False)
class Table:
    """The training rows after a first look."""

    rows: Any  # in the unit
    unit: Unit
    moments: Moments | None  # mean and scatter of a narrow table
    gaps: bool  # whether values are missing


def first_look(fit: Fit, *, dimensions: int | None = None, beside: Beside | None = None) -> Table:
    """The rows, which nobody looked at when they were read; refused where their map, or its memory, is not there.

    The map has so many `dimensions` where n_components is no number; None: as many as rows and columns allow.
    """
    if fit.sample_weight is not None:
        require_more_than_one(fit.name, fit.total)
    with fit.stages("model"), algebra_threads(fit.n_jobs, fit.X):
        table: Table = _look(fit) if fit.seen is None else fit.seen
    n, d = fit.X.shape
    if isinstance(fit.n_components, Integral):
        fit.check_components(n if fit.seen is None else int(fit.total))
        dimensions = int(fit.n_components)
    dense, itemsize = not issparse(fit.X), fit.X.dtype.itemsize
    memory = ProjectionMemory(d, dense, dimensions or 1, dimensions is None, itemsize, beside)
    fit.forecast(memory.need, memory.advice)
    return table


def _look(fit: Fit) -> Table:
    X, narrow, moments, mass = fit.X, is_narrow(fit.X) and not issparse(fit.X), None, fit.sample_weight
    if narrow:
        moments = mean_and_scatter(X, fit.n_jobs, mass)
        if are_ordinary((moments[0], moments[1] * (X.shape[0] / fit.total))):  # then all values are numbers too
            return Table(X, Unit(), moments, gaps=False)
    gaps = not check_finite(X, "X", allow_missing=fit.reads.missing, names=fit.columns.shown)
    unit = Unit.of_rows(X)
    if gaps or not narrow:
        return Table(unit.inward(X), unit, None, gaps)
    rows = unit.inward(X)
    return Table(rows, unit, moments if unit.power == 0 else mean_and_scatter(rows, fit.n_jobs, mass), gaps)


def linear_model(
    fit: Fit,
    table: Table,
    made: ProjectedRows,
    *,
    degree: int,
    found: Mapping[str, Any],
    rows: Any = None,
    filling: Filling | None = None,
    placement: Placement | None = None,
    own: OwnInverse | None = None,
    outside: bool = True,
    flown: bool = True,
) -> Model:
    """The model of a map that comes in this power of the rows' unit.

    `rows` are those that the inverse rebuilds, where they are not the projected ones. New rows are placed by
    `placement`, else by the projection itself; those `outside` of the training rows, or `flown` far from the map, are
    told of.
    """
    unit, points = table.unit, made.kernel.points
    rows = points if rows is None else rows
    ball = None
    if outside:
        seen = rows is points and made.farthest is not None  # on the way
        ball = Ball(made.mean, made.farthest) if seen else Ball.of(rows, made.mean)  # type: ignore[arg-type]
    straight = LinearPlacement(made.mean, made.directions)
    places = made.places.astype(fit.X.dtype, copy=False)
    shown = {"mean_": unit.outward(made.mean), "components_": unit.outward(made.directions.T, degree - 1)}
    return Model(
        name=fit.name,
        reads=fit.reads,
        columns=fit.columns,
        timings=fit.stages.seconds,
        found={**shown, **found},
        source=TableSource(unit, rows, EUCLIDEAN, ball, filling, flown),
        parts=(Part(made.kernel, made.spectrum, placement or straight, made.places, np.zeros(made.places.shape[1])),),
        embedding=unit.shown(places, degree, fit.X.dtype, "coordinates"),
        degree=degree,
        own=LeastSquares() if own is None else own,
    )

"""Linear maps of rows in partitions: a fit of stand-ins that have the mean and scatter of all rows.

    pass 1   mean and scatter of each partition, summed                      -> stand-ins -> axes
    pass 2   the rows that are outermost along each axis, or from the mean   -> signs, the ball about all rows; a sample

The outermost rows are fitted with next to no mass: they turn no axis, but signs and reach of the map are theirs, as
they are in a fit of all rows at once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.distributed.drawn import SAMPLE, holding
from gramfold.distributed.moments import StandIns
from gramfold.distributed.partitions import Partitions
from gramfold.embedding.model import Model
from gramfold.errors import InputError
from gramfold.types import Floats, Integers

_LEAST_MASS = 1e-9  # of an outermost row, beside 1 of every row
_TIE = 1e-6  # of two rows as far out the first decides, as among all rows (spectral/canonical.py)


def fit_linear(estimator: Any, rows: Partitions, extras: Any) -> Model:
    """PCA, probabilistic PCA of complete rows, oriented PCA."""
    moments = rows.moments
    asked = estimator.n_components
    if isinstance(asked, int) and asked >= moments.n:
        raise InputError(
            f"n_components={asked} and n_samples={moments.n}: an embedding of {moments.n} rows has at most "
            f"{moments.n - 1} dimensions; use n_components <= {moments.n - 1}."
        )
    few = StandIns.of(moments.mean, moments.scatter, moments.n)
    if extras.get("X_distorted") is not None:
        raise InputError("X_distorted of rows in partitions is not read yet: pass noise_correlation.")
    noise = None
    first = _fitted(estimator, few, None, noise)
    (part,) = first.parts
    numbers = rows.drawn(SAMPLE, check_random_state(estimator.random_state))
    unit = first.source.unit
    mean, directions = unit.outward(part.placement.mean), part.placement.directions
    starts, inside = rows.starts, rows.places_of(numbers)
    seen = rows.each("outermost", _seen, mean, directions, own=list(zip(starts, inside, strict=True)))
    found = [one for one in seen if one is not None]
    outer = found[0].outermost
    for one in found[1:]:
        outer = outer.beside(one.outermost)
    model = _fitted(estimator, few, outer, noise)
    return holding(model, rows, numbers, rows.joined([one.sample for one in found]))


def _fitted(estimator: Any, few: StandIns, outer: "Outermost | None", noise: Floats | None) -> Model:
    """The model of the stand-ins, and of the outermost rows."""
    from sklearn.base import clone

    edge = np.empty((0, few.rows.shape[1])) if outer is None else outer.rows[np.argsort(outer.numbers, kind="stable")]
    table = np.vstack([edge, few.rows])
    mass = np.concatenate([np.full(len(edge), _LEAST_MASS), np.full(len(few.rows), few.mass)])
    extras = {} if noise is None else {"X_distorted": table + np.vstack([np.zeros_like(edge), noise])}
    alone = clone(estimator).set_params(progress=None, verbose=0)
    model: Model = alone.fit(table, sample_weight=mass, **extras).model_
    return model


@dataclass(frozen=True, eq=False)
class Outermost:
    """For each axis both rows farthest out, and the row farthest from the mean."""

    values: Floats  # (2p + 1,) how far out each is
    numbers: Integers  # (2p + 1,) counted through all partitions
    rows: Floats  # (2p + 1, d)

    def beside(self, later: "Outermost") -> "Outermost":
        """Of these and of later rows."""
        other = later.values > self.values + _TIE * np.abs(self.values)
        return Outermost(
            np.where(other, later.values, self.values),
            np.where(other, later.numbers, self.numbers),
            np.where(other[:, None], later.rows, self.rows),
        )


@dataclass(frozen=True, eq=False)
class _Seen:
    outermost: Outermost
    sample: Floats


def _seen(rows: Floats, mean: Floats, directions: Floats, own: tuple[int, Integers]) -> _Seen:
    """Of one partition."""
    start, inside = own
    moved = rows - mean
    places = moved @ directions
    values = np.column_stack([places, -places, np.square(moved).sum(axis=1)])  # (m, 2p + 1)
    first = np.argmax(values >= (1 - _TIE) * values.max(axis=0), axis=0)
    columns = np.arange(values.shape[1])
    return _Seen(Outermost(values[first, columns], start + first, rows[first].astype(np.float64)), rows[inside])

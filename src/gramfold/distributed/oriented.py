"""Oriented PCA of rows in partitions, with distorted versions of them in the same partitions.

R = (1/nN) Σ z zᵀ,  z = x̃ − x: the sum over each partition, merged
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gramfold.distributed.drawn import fitted_whole, is_held_whole
from gramfold.distributed.linear import Mapped, Seen, fit_linear
from gramfold.distributed.partitions import Partitions
from gramfold.distributed.side_by_side import side_by_side
from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Model
from gramfold.kernels.oriented_axes import noise_correlation
from gramfold.neighbors.units import Unit
from gramfold.types import Floats

_NAME = "X_distorted"
_VERSIONS = 3  # dimensions of an array that holds several


def fit_oriented(estimator: Any, rows: Partitions, extras: Mapping[str, Any]) -> Model:
    """OrientedPCA."""
    given = extras.get(_NAME)
    noisy = estimator._is_noisy(given)  # noqa: SLF001  as it reads them in memory
    if not noisy:
        return fit_linear(estimator, rows, extras)
    width, whole = rows.width, is_held_whole(rows)
    both = side_by_side(rows, _versions(given), _NAME)
    if whole:
        table = both.take(np.arange(rows.n_rows))
        return fitted_whole(estimator, rows, {**extras, _NAME: _distorted(table, width)})
    seen = Seen.of(rows)
    noise = both.total("noise", _noise, np.add, seen.view.unit, width) / seen.moments.n
    return Mapped(estimator, rows, extras, seen, seen).by(partial(_built, estimator, noise))


def _built(estimator: Any, noise: Floats, fit: Fit, _: Floats) -> Model:
    model: Model = estimator._map(fit, fit.seen, noise, noisy=True)  # noqa: SLF001  as it maps rows in memory
    return model


def _versions(given: Any) -> Sequence[Any]:
    """The tables of distorted rows, one or several."""
    if isinstance(given, list | tuple):
        return given
    return list(given) if getattr(given, "ndim", 0) == _VERSIONS else [given]


def _distorted(table: Floats, width: int) -> Floats:
    """Versions (N, m, d) of the rows that stand before them in a table."""
    return table[:, width:].reshape(len(table), -1, width).swapaxes(0, 1)


def _noise(table: Floats, unit: Unit, width: int) -> Floats:
    """Σ z zᵀ / N of one partition."""
    versions = unit.inward_new(_distorted(table, width))
    return len(table) * noise_correlation(unit.inward(table[:, :width]), versions)

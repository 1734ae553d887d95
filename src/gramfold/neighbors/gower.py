"""Gower's distance of rows of numbers, categories and gaps.

    d(a, b) = Σ w_c δ_c(a, b) / Σ w_c  over the columns c that both rows know
    δ_c = min(|a_c − b_c| / range of the training column, 1) of numbers, 0 or 1 of categories

Rows come as `mixed.py` encodes them, so that δ_c = min(|a_c − b_c|, 1) in every column. Gower, Biometrics 27 (1971).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gramfold.errors import InputError
from gramfold.neighbors.metrics import Metric
from gramfold.types import Floats, Integers

_NO_GAPS = np.empty((0, 0))
_GAP = -1e18  # no encoded value is as low


@dataclass(frozen=True, eq=False)
class Gower(Metric):
    """See the module."""

    @classmethod
    def of(cls, params: Mapping[str, Any], X: Floats) -> Self:
        """Of encoded training rows; `categorical` was used when they were read."""
        odd = params.keys() - {"categorical", "weights"}
        if odd:
            raise InputError(
                f"metric 'gower' has no parameter {min(odd)!r}: metric_params may hold 'categorical' and 'weights'."
            )
        return cls("blocks", "gower", params={"weights": _weights(params.get("weights"), X.shape[1])})

    def prepare(self, X: Floats) -> Floats:
        return np.ascontiguousarray(X, dtype=np.float64)

    @property
    def loose(self) -> bool:
        return True

    def identity(self, rows: Floats) -> Floats:
        return np.where(np.isnan(rows), _GAP, rows)  # NaN does not equal itself

    def middle(self, rows: Floats) -> Floats:
        """The median of each column, which is a value of some row: there is none between two categories."""
        middle = np.full((1, rows.shape[1]), np.nan)
        for c, column in enumerate(rows.T):
            known = column[~np.isnan(column)]
            if known.size:
                middle[0, c] = np.partition(known, known.size // 2)[known.size // 2]
        return middle

    def block(self, left: Floats, right: Floats) -> Floats:
        from gramfold.neighbors.gower_kernels import gower_block

        columns, weights = np.ascontiguousarray(right.T, dtype=np.float64), self.params["weights"]
        gaps, known = np.isnan(columns), _NO_GAPS
        if gaps.any():
            known = np.where(gaps, 0.0, weights[:, None])
            columns[gaps] = 0.0
        out = np.empty((len(left), len(right)))
        gower_block(self.prepare(left), columns, known, weights, out)
        return _defined(out)

    def _pairs(self, left: Floats, i: Integers, right: Floats, j: Integers, out: Floats) -> None:
        from gramfold.neighbors.gower_kernels import gower_pairs

        gower_pairs(left, i, right, j, self.params["weights"], out)
        _defined(out)


def _weights(given: Any, width: int) -> Floats:
    if given is None:
        return np.ones(width)
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the weights in metric_params are not numbers ({error}): pass one positive number for each column."
        ) from error
    if weights.shape != (width,):
        raise InputError(
            f"the weights in metric_params have shape {weights.shape}, but X has {width} columns: pass one positive "
            "number for each column."
        )
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise InputError(
            f"the weights in metric_params contain {weights[~(np.isfinite(weights) & (weights > 0))][0]:g}: pass a "
            "positive number for each column, and leave out columns that should not count."
        )
    return np.asarray(weights / weights.max())  # so that no sum overflows


def _defined(distances: Floats) -> Floats:
    if np.isnan(distances).any():
        raise InputError(
            f"{int(np.isnan(distances).sum())} pairs of rows share no known column, so their Gower distance is not "
            "defined: fill in some values, or leave such rows out."
        )
    return distances

"""Arrows of what the axes of a map mean: the columns along which it changes most, and the direction."""

from typing import Any

import numpy as np

from gramfold.diagnostics import Loadings, loadings
from gramfold.embedding import Estimator, Model
from gramfold.errors import InputError
from gramfold.report.subject import Subject
from gramfold.types import Floats

_MOST = 8  # arrows: more of them hide each other
_LEAST = 0.1  # of the longest
_WIDEST = 2_000  # columns: slopes along more take long, and none of them is much of an axis


def axes_of(subject: Subject) -> Loadings | None:
    """What the axes mean; None where there are no columns of numbers, or too few rows."""
    width = 0 if subject.X is None else subject.X.shape[1]
    if not 0 < width <= _WIDEST or subject.precomputed:
        return None
    names = subject.names or None
    fitted = isinstance(subject.model, Estimator) and isinstance(getattr(subject.model, "model_", None), Model)
    try:
        found = loadings(subject.model, names=names) if fitted else loadings(subject.X, subject.Y, names=names)
    except InputError:  # of categories, gaps, or few rows
        return None
    return found if found.shares.shape[0] == subject.Y.shape[1] else None


def weights_of(found: Loadings, spreads: Floats) -> Floats:
    """How much of the map each column is: its share of each axis, by the variance of the axis."""
    variance = (spreads / (float(spreads.max(initial=0.0)) or 1.0)) ** 2 * np.clip(
        np.nan_to_num(found.explained), 0.0, 1.0
    )
    whole = float(variance.sum())
    return np.asarray(variance @ found.shares / whole) if whole > 0 else np.zeros(found.shares.shape[1])


def arrows_of(found: Loadings | None, Y: Floats) -> list[dict[str, Any]]:
    """As the manifest has them: direction in units of the map, the longest of length 1, and the share of the map."""
    if found is None:
        return []
    spreads = spreads_of(Y)
    spreads = spreads / (float(spreads.max(initial=0.0)) or 1.0)  # lengths are relative, and squares vanish of none
    directions = (found.slopes * spreads[:, None]).T  # (d, p): where a column leads that rises by its spread
    lengths = np.linalg.norm(directions, axis=1)
    longest = float(lengths.max(initial=0.0))
    if not longest > 0:
        return []
    shares = weights_of(found, spreads)
    order = [int(j) for j in np.argsort(-lengths, kind="stable")[:_MOST] if lengths[j] >= _LEAST * longest]
    return [
        {
            "name": str(found.names[j]),
            "values": [float(value) for value in directions[j] / longest],
            "share": float(shares[j]),
        }
        for j in order
    ]


def spreads_of(Y: Floats) -> Floats:
    """Standard deviation of each coordinate."""
    placed = Y[np.isfinite(Y).all(axis=1)]
    if not len(placed):
        return np.zeros(Y.shape[1])
    unit = float(np.abs(placed).max()) or 1.0  # in which no square overflows or vanishes
    return np.asarray((placed / unit).std(axis=0) * unit)

"""Trustworthiness of a map: how far neighbours on it are neighbours in the data (Venna, Kaski 2001)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gramfold.embedding.model import Model
from gramfold.errors import InputError, PrecomputedInputError
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.threads import openmp_threads
from gramfold.types import Floats

_NEIGHBORS = 10


def refuse_precomputed(model: Model) -> None:
    """Raise an error where the model has not seen rows."""
    if model.reads.precomputed:
        raise PrecomputedInputError(
            f"{model.name} was fitted on precomputed input, but score needs the rows themselves: fit it on a table of "
            "rows."
        )


def trustworthiness_of(model: Model, rows: Any, transform: Callable[[], Any]) -> float:
    """Of the places that these rows are given."""
    refuse_precomputed(model)
    places = model.inward(np.asarray(transform()))  # a table, where the user set one as output
    if model.reads.mixed:
        return trustworthiness(rows, places, model.source.metric)
    return trustworthiness(model.source.unit.inward_new(rows), places)


def trustworthiness(rows: Floats, places: Floats, metric: Metric | None = None) -> float:
    """Among rows that have a place, for up to 10 neighbours; between 0 and 1. None: by Euclidean distances."""
    from sklearn.manifold import trustworthiness as of_neighbors

    placed = ~np.isnan(places[:, 0])
    k = min(_NEIGHBORS, (int(placed.sum()) - 1) // 2)
    if k < 1:
        raise InputError(f"score needs at least 4 rows with coordinates, but got {int(placed.sum())}: pass more rows.")
    # float32 rows and places have squares that overflow or vanish
    rows, places = rows[placed].astype(np.float64), places[placed].astype(np.float64)
    with openmp_threads():
        if metric is not None:
            return float(of_neighbors(metric.block(rows, rows), places, n_neighbors=k, metric="precomputed"))
        return float(of_neighbors(rows, places, n_neighbors=k))

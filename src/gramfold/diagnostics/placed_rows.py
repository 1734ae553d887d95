"""Rows with their places on a map: those of a model, or as they are given."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gramfold.diagnostics.partitions import drawn_rows
from gramfold.embedding import FittedMap, Model, Reads
from gramfold.embedding.reading import check_finite, read_new, read_training
from gramfold.errors import InputError, PrecomputedInputError
from gramfold.neighbors.columns import numeric_table, require_one_order
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.types import Floats, Integers

FEWEST = 10  # rows, below which nothing is said of a map
_FAR = 10.0  # interquartile ranges beyond a quartile of an axis, where a row is far outside
_FEW, _AT_LEAST = 0.02, 2  # of the rows: more of them far outside, or more than two, are a part of the map


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows with their places."""

    X: Any
    places: Floats
    names: tuple[str, ...]
    fitted: Model | None
    numbers: Integers  # of these rows, among those that were given
    n_far: int = 0  # rows far outside, which were left out

    def drawn(self, count: int, random_state: int, *, distinct: bool) -> "PlacedRows":
        """Those with a place and without gaps, at most so many; copies once, of which one would tell of the other.

        Without the few far outside of the rest, on which the variance of an axis would hang.
        """
        there = np.isfinite(self.places).all(axis=1)
        placed = np.flatnonzero(there if issparse(self.X) else there & np.isfinite(self.X).all(axis=1))
        if distinct and not issparse(self.X) and len(placed):
            placed = np.sort(placed[collapse_rows(self.X[placed]).first])
        if len(placed) < FEWEST:
            raise InputError(
                f"the map has {len(placed)} distinct rows with coordinates, but at least {FEWEST} are needed to tell "
                "what its axes mean: pass more rows."
            )
        far = far_outside(self.places[placed])
        placed = placed[~far]
        if len(placed) > count:
            placed = np.sort(np.random.default_rng(random_state).choice(placed, count, replace=False))
        return replace(self, X=self.X[placed], places=self.places[placed], numbers=placed, n_far=int(far.sum()))


def far_outside(places: Floats) -> NDArray[np.bool_]:
    """Which rows (n,) lie far outside of the rest on some axis; none where they are more than a few."""
    low, high = np.quantile(places, [0.25, 0.75], axis=0)
    beyond = np.maximum(low - places, places - high)
    far = ((beyond > _FAR * (high - low)) & (high > low)).any(axis=1)
    few = int(far.sum()) <= max(_FEW * len(far), _AT_LEAST)
    return np.asarray(far if few else np.zeros_like(far))


def of_data(X: Any, Y: Any, names: Sequence[str] | None) -> PlacedRows:
    """Of anybody's map."""
    if Y is None:
        raise InputError("the map is missing: pass loadings(X, Y) with its coordinates, or a fitted model.")
    drawn = drawn_rows(X, Y)
    X, Y = (X, Y) if drawn is None else (drawn.X, drawn.Y)
    require_one_order(X, Y)
    rows, columns = read_training("loadings", X, Reads(sparse=True))
    places = np.asarray(numeric_table(Y, least_rows=1, name="Y", dense_for="A map"), dtype=np.float64)
    if len(places) != rows.shape[0]:
        raise InputError(
            f"X has {rows.shape[0]} rows and Y has {len(places)}, so they cannot be compared row by row: pass the data "
            "that the map was made of, in the same order."
        )
    return PlacedRows(rows, places, names_of(names, columns.shown, rows.shape[1]), None, np.arange(len(places)))


def of_model(estimator: Any, X: Any, names: Sequence[str] | None) -> PlacedRows:
    """Of a fitted estimator: the rows that it was fitted on, or others."""
    name, fitted = type(estimator).__name__, getattr(estimator, "model_", None)
    if fitted is None:
        raise InputError(f"{name} is not fitted, so it has no map: call fit first.")
    if not isinstance(fitted, Model):
        why = "does not keep the rows it was fitted on" if isinstance(fitted, FittedMap) else "makes no map"
        raise InputError(f"{name} {why}: pass the rows and the coordinates of a map of them, loadings(X, Y).")
    if fitted.reads.mixed:
        raise InputError(
            f"{name} was fitted with metric='gower', whose rows may hold categories and gaps, which have no slopes: "
            "pass columns of numbers and the coordinates, loadings(X, model.embedding_), or use differences."
        )
    if fitted.source.rows is None:
        raise PrecomputedInputError(
            f"{name} was fitted on precomputed input, which has no columns: pass loadings(X, model.embedding_) with a "
            "table of these rows."
        )
    if X is None:
        rows, places = fitted.source.unit.outward(fitted.source.rows), fitted.aligned
    else:
        rows, places = read_new(name, X, fitted.reads, fitted.columns), estimator.transform(X)
        check_finite(rows, "X", names=fitted.columns.shown)
    names = names_of(names, fitted.columns.shown, rows.shape[1])
    return PlacedRows(rows, np.asarray(places, dtype=np.float64), names, fitted, np.arange(len(places)))


def names_of(given: Sequence[str] | None, own: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Names of so many columns: as given, as the table has them, or their numbers."""
    if given is None:
        return tuple(f"column {j}" for j in range(count)) if own is None else tuple(own)
    if isinstance(given, str) or len(given) != count:
        found = "one string" if isinstance(given, str) else f"{len(given)} names"
        raise InputError(f"names holds {found}, but X has {count} columns: pass one name for each column.")
    return tuple(str(name) for name in given)

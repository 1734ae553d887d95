"""Turn, mirror, scale and shift a map onto an earlier one, by the rows that both have.

    minimise  Σ |s y_i R + t − z_i|²   over orthogonal R, s > 0 and t;   y_i of the new map, z_i of the old one, as rows

1. At the best t the derivative vanishes: t = z̄ − s ȳ R, the means coincide. With centred Y and Z (m, p) what is left is
   s² |Y|² − 2 s tr(Rᵀ Yᵀ Z) + |Z|².
2. With the singular values YᵀZ = U Σ Vᵀ the trace is tr(Σ W), W = Vᵀ Rᵀ U. W is orthogonal, so none of its diagonal is
   above 1, and the trace is largest for W = I: R = U Vᵀ. Where a singular value is 0 other R are as good.
3. The derivative by s then vanishes at s = tr Σ / |Y|².

What is left over is |Z|² (1 − (tr Σ)² / (|Y|² |Z|²)); its root, relative to |Z|, is the misfit.
Schönemann, Psychometrika 31 (1966); Schönemann, Carroll, Psychometrika 35 (1970).
"""

from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array, check_is_fitted

from gramfold.embedding import Alignable, Alignment, FittedMap, Model
from gramfold.embedding.reading import Columns, check_finite
from gramfold.errors import DegenerateMapWarning, InputError, RankWarning
from gramfold.neighbors.columns import numeric_table
from gramfold.neighbors.common_rows import common_rows
from gramfold.neighbors.units import Unit
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

Map = TypeVar("Map", bound=Alignable)

_NAME_THEM = "name the rows in common with rows=(rows of new, rows of old)"
_PAIRS = "pass a pair of integer arrays (rows of new, rows of old), or an array of shape (n_common, 2)"
_ANOTHER_SHAPE = 0.5  # misfit above which a quarter of the old map's variance is not in the new one
_ROUNDING = 16.0  # in units of the dtype's: a singular value below it, relative to the largest, may be 0


def align(new: Map, old: Any, *, rows: Any = None) -> Map:
    """Bring a fitted map into the orientation, scale and position of an earlier one.

    Eigenvectors have no sign of their own, and near-equal eigenvalues no order: a new fit of nearly the same rows may
    be the mirror image of the last one, or turned. The new map is turned, mirrored, scaled and shifted as a whole, so
    that the rows in common come as near as possible to their old coordinates (least squares). Distances on the map
    change by one factor and nothing else does.

    Parameters
    ----------
    new : estimator
        A fitted map of gramfold. It is not changed.
    old : estimator or array-like of shape (n_old, n_components)
        The earlier map: a fitted estimator or its coordinates. Rows with NaN are left out.
    rows : pair of array-like of int, or array-like of shape (n_common, 2), default=None
        The rows in common: their numbers in the new map and in the old one. No row of the new map may be listed twice.
        None: rows of equal values, where both maps were fitted on tables (columns are matched by name where both have
        names; of duplicate rows the first counts); else row i is row i, and both must have the same number of rows.

    Returns
    -------
    aligned : estimator
        Of the same class and parameters, fitted: `embedding_`, `transform`, `inverse_transform` and all other methods
        are in the frame of the old map, and `alignment_` describes how it got there. Attributes such as `components_`
        and `mean_` describe the map before alignment: y_aligned = scale · y · rotation + shift.

    Warns
    -----
    RankWarning
        The rows in common span fewer than n_components dimensions, so that several rotations are equally good.
    DegenerateMapWarning
        The misfit is above 0.5: the maps differ in shape.

    Examples
    --------
    >>> from gramfold import Isomap, align
    >>> from gramfold.datasets import make_swiss_roll
    >>> X = make_swiss_roll(500, random_state=0).points
    >>> march = Isomap().fit(X[:460])
    >>> april = align(Isomap().fit(X[40:]), march)
    >>> len(april.alignment_.rows), bool(april.alignment_.misfit < 0.05)
    (420, True)
    """
    model = _fitted_map(new)
    earlier = _Earlier.of(old)
    p = model.embedding.shape[1]
    if earlier.places.shape[1] != p:
        raise InputError(
            f"the new map has {p} dimensions and the old one has {earlier.places.shape[1]}: fit with the same "
            "n_components, or pass as many columns of the old coordinates."
        )
    pairs = _matched(model, earlier) if rows is None else _given(rows, len(model.embedding), len(earlier.places))
    pairs = pairs[model.kept[pairs[:, 0]] & earlier.kept[pairs[:, 1]]]
    if len(pairs) <= p:
        raise InputError(
            f"only {len(pairs)} rows of the new map are also on the old one, but an orientation in {p} dimensions "
            f"needs at least n_components + 1 = {p + 1}: {_NAME_THEM}."
        )
    # not a parameter `align_to=`: an estimator given there would be unfitted by clone()
    aligned: Map = clone(new)
    vars(aligned)["model_"] = replace(model, alignment=_best(model.embedding, earlier.places, pairs))
    return aligned


# --- the two maps


def _fitted_map(new: Any) -> FittedMap:
    if not isinstance(new, Alignable):
        raise InputError(
            f"new is a {type(new).__name__}, but align() needs a fitted gramfold estimator with the attribute "
            "alignment_: pass one (for a Pipeline, its last step)."
        )
    check_is_fitted(new)
    model: FittedMap = vars(new)["model_"]
    return model


@dataclass(frozen=True, eq=False)
class _Earlier:
    """The earlier map."""

    places: Floats  # (n, p)
    model: FittedMap | None  # None where only coordinates are known

    @classmethod
    def of(cls, old: Any) -> Self:
        if isinstance(old, Alignable):
            model = _fitted_map(old)
            return cls(model.aligned, model)
        if hasattr(old, "fit") and (isinstance(old, type) or not hasattr(old, "embedding_")):
            called = old.__name__ if isinstance(old, type) else type(old).__name__
            raise InputError(f"old is {called} without coordinates (embedding_): pass them, as its transform(X) gives.")
        table = numeric_table(getattr(old, "embedding_", old), least_rows=1, name="old", dense_for="align")
        places = check_array(table, dtype=(np.float64, np.float32), ensure_all_finite=False, input_name="old")
        check_finite(places, "old", allow_missing=True)
        return cls(places, None)

    @property
    def kept(self) -> Any:
        """Which rows have coordinates."""
        return ~np.isnan(self.places).any(axis=1)


# --- rows in common


def _matched(new: FittedMap, earlier: _Earlier) -> Integers:
    """(m, 2) by their values, else by their indices."""
    old = earlier.model
    if old is not None:
        left, right = training_rows(new), training_rows(old)
        if left is not None and right is not None:
            return common_rows(left, _in_order(right, new.columns, old.columns))
    n_new, n_old = len(new.embedding), len(earlier.places)
    if n_new != n_old:
        raise InputError(
            f"the new map has {n_new:,} rows and the old one {n_old:,}, so rows cannot be matched by index, and their "
            f"values are not known: {_NAME_THEM}."
        )
    return np.column_stack([np.arange(n_new)] * 2)


def training_rows(model: FittedMap) -> Any:
    """In the user's unit and the dtype of the fit; None where only values between rows, or none, were kept."""
    if not isinstance(model, Model) or model.source.rows is None:
        return None
    return model.source.unit.outward(model.source.rows).astype(model.embedding.dtype, copy=False)


def _in_order(rows: Any, new: Columns, old: Columns) -> Any:
    """Rows of the old table with the columns in the order of the new one."""
    if new.count != old.count:
        raise InputError(
            f"the new map was fitted on {new.count} columns and the old one on {old.count}, so no rows are equal: fit "
            f"both on the same columns, or {_NAME_THEM}."
        )
    if new.names is None or old.names is None or new.names == old.names:
        return rows
    if sorted(new.names) != sorted(old.names):
        odd = next(name for name in (*new.names, *old.names) if new.names.count(name) != old.names.count(name))
        raise InputError(
            f"column '{odd}' is not in both tables, so no rows are equal: fit both on the same columns, or "
            f"{_NAME_THEM}."
        )
    order = np.empty(new.count, dtype=np.intp)
    order[np.argsort(new.names, kind="stable")] = np.argsort(old.names, kind="stable")
    return rows[:, order]


def _given(rows: Any, n_new: int, n_old: int) -> Integers:
    """(m, 2) as the user named them."""
    if isinstance(rows, tuple | list) and len(rows) == 2:
        left, right = (one.astype(np.intp) if one.dtype.kind in "iu" else one for one in map(np.asarray, rows))
        if left.ndim != 1 or left.shape != right.shape:
            raise InputError(f"rows holds arrays of shapes {left.shape} and {right.shape}: {_PAIRS}.")
        pairs = np.column_stack([left, right])
    else:
        pairs = np.asarray(rows)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and pairs.dtype.kind not in "iu"):
        raise InputError(f"rows is an array of {pairs.dtype} of shape {pairs.shape}: {_PAIRS}.")
    for numbers, n, which in zip(pairs.T, (n_new, n_old), ("new", "old"), strict=True):
        wrong = numbers[(numbers < 0) | (numbers >= n)]
        if wrong.size:
            raise InputError(
                f"rows contains index {wrong[0]} for the {which} map, which has rows 0 to {n - 1}: {_PAIRS}."
            )
    listed, counts = np.unique(pairs[:, 0], return_counts=True)
    if (counts > 1).any():
        raise InputError(
            f"rows lists row {listed[counts > 1][0]} of the new map more than once: list each row of the new map at "
            "most once."
        )
    return pairs.astype(np.intp)


# --- the alignment


def _best(new: Floats, old: Floats, pairs: Integers) -> Alignment:
    """As `similarity`, with a warning where the rows in common do not fix it or do not fit."""
    alignment, rank = similarity(new, old, pairs)
    _warn(rank, alignment.misfit, pairs, new.shape[1])
    return alignment


def similarity(new: Floats, old: Floats, pairs: Integers) -> tuple[Alignment, int]:
    """The similarity that brings these rows nearest to their old coordinates, and how many dimensions they span.

    `pairs` (m, 2) are the numbers of rows in the new and in the old map, none of which has NaN.
    """
    rounding = _ROUNDING * max(float(np.finfo(one.dtype).eps) for one in (new, old))
    here, there = (_Cloud.of(one[number].astype(np.float64)) for one, number in zip((new, old), pairs.T, strict=True))
    for cloud, which in ((here, "new"), (there, "old")):
        if cloud.size <= rounding * np.sqrt(len(pairs)):
            raise InputError(
                f"the {len(pairs):,} rows in common all have the same coordinates on the {which} map, so they have no "
                f"orientation: {_NAME_THEM}."
            )
    left, shares, right = np.linalg.svd(here.centered.T @ there.centered)
    if shares.sum() <= rounding * here.size * there.size:
        raise InputError(
            f"the coordinates of the {len(pairs):,} rows in common are uncorrelated on the two maps, so no rotation is "
            f"better than another: {_NAME_THEM}."
        )
    rotation, ratio = left @ right, shares.sum() / here.size**2
    with np.errstate(over="ignore", under="ignore"):
        scale = float(np.ldexp(ratio, there.unit.power - here.unit.power))
    if not np.finfo(np.float64).tiny <= scale < np.inf:
        raise InputError(
            "the maps differ in size by a factor that float64 cannot hold: divide the coordinates of one of them by a "
            "constant."
        )
    apart = np.linalg.norm(ratio * (here.centered @ rotation) - there.centered, axis=1)
    misfit = float(np.linalg.norm(apart)) / there.size
    shift = there.unit.outward(there.mean - ratio * (here.mean @ rotation))
    alignment = Alignment(rotation, scale, shift, pairs, there.unit.outward(apart), misfit)
    return alignment, int((shares > rounding * shares[0]).sum())


@dataclass(frozen=True, eq=False)
class _Cloud:
    """Points about their mean, in a unit in which they are of size 1."""

    unit: Unit
    mean: Floats  # (p,)
    centered: Floats  # (m, p)

    @classmethod
    def of(cls, points: Floats) -> Self:
        unit = Unit.of_size(float(np.abs(points).max()))
        points = unit.inward(points)
        mean = points.mean(axis=0)
        return cls(unit, mean, points - mean)

    @property
    def size(self) -> float:
        """Root of the sum of squares."""
        return float(np.linalg.norm(self.centered))


def _warn(rank: int, misfit: float, pairs: Integers, p: int) -> None:
    if rank < p:
        warn(
            f"the {len(pairs):,} rows in common span {rank} of {p} dimensions on both maps, so several rotations fit "
            "equally well and one of them is used: name more rows in common, or fit fewer components.",
            RankWarning,
        )
    if misfit > _ANOTHER_SHAPE:
        warn(
            f"after alignment the misfit of the {len(pairs):,} rows in common is {misfit:.2f} (0: identical; 1: no "
            "better than placing all rows at their mean), so the maps differ in shape: check that method, parameters "
            "and matched rows are the same.",
            DegenerateMapWarning,
        )

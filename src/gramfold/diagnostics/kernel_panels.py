"""What the panels of Ham, Lee, Mika and Schölkopf show: pairs of neighbours, and distances from one row on the map.

ICML 2004, figs 2 to 4. Distances themselves are those of feature_space.py.
"""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from gramfold.diagnostics.feature_space import ComparedDistances, FeatureDistances
from gramfold.diagnostics.judged import Judged
from gramfold.errors import InputError
from gramfold.types import Floats, Integers

Where = Literal["boundary", "centre"]

NEAREST = 8  # neighbours of a row, where no graph says which they are
_SAMPLE = 400  # rows between which distances are compared, of a method without a kernel
_CONTOURS = 8
_GRID = 80  # points of the grid of the contours along the longer side of the map
_AVERAGED = 12  # rows near a point of it, whose distances are averaged
_AVERAGED_SHARE = 0.02  # of all rows
_BEYOND = 2.0  # distances to the nearest row, from which a point of the grid is off the map


def nearest_pairs(found: FeatureDistances) -> tuple[ComparedDistances, str]:
    """Pairs of neighbours; where none are known, each row and those nearest to it in feature space. And what they are.

    The latter for landmarks, of which hardly two are neighbours, or rows that were never seen (precomputed values).
    """
    if len(found.local.pairs):
        return found.local, "neighbours"
    every = found.everywhere
    rows, place = np.unique(every.pairs, return_inverse=True)
    i, j = place.reshape(-1, 2).T
    of_pair = np.full((len(rows), len(rows)), -1)
    of_pair[i, j] = of_pair[j, i] = np.arange(len(every.feature))
    far = np.append(every.feature, np.inf)[of_pair]  # a row is not near itself
    near = np.argsort(far, axis=1, kind="stable")[:, : min(NEAREST, len(rows) - 1)]
    some = np.unique(np.take_along_axis(of_pair, near, axis=1))
    nearest = ComparedDistances(
        every.pairs[some],
        every.feature[some],
        every.input[some],
        every.map[some],
        every.principal[some],
        every.negative,
    )
    return nearest, f"{NEAREST} nearest"


def distances_by_rows(X: Any, model: Any, sample: int | None) -> FeatureDistances:
    """Distances in the data and on the map by given rows; those in feature space are not asked for."""
    metric = model.get_params().get("metric", "euclidean")
    judged = Judged(X, model.embedding_, n_neighbors=min(NEAREST, len(model.embedding_) - 1), metric=metric)
    return judged_distances(judged, sample)


def judged_distances(judged: Judged, sample: int | None = None) -> FeatureDistances:
    """Distances in the data and on the map, whoever made it, among rows drawn and from all rows to their neighbours.

    Rows are numbered among those that are compared; distances in feature space are NaN.
    """
    rng = np.random.default_rng(0)
    count = min(sample or _SAMPLE, judged.n)
    drawn = np.sort(rng.choice(judged.n, count, replace=False))
    i, j = np.triu_indices(count, k=1)
    near = np.column_stack([judged.in_data.rows, judged.in_data.indices])

    def compared(pairs: Integers) -> ComparedDistances:
        first, second = pairs.T
        unknown = np.full(len(pairs), np.nan)
        return ComparedDistances(
            pairs,
            unknown,
            np.asarray(judged.data.between(first, second)),
            np.asarray(judged.map.between(first, second)),
            unknown,
            0.0,
        )

    return FeatureDistances(compared(np.column_stack([drawn[i], drawn[j]])), compared(near), count, judged.n)


@dataclass(frozen=True, eq=False)
class DistancesFrom:
    """Distances in feature space from one row to the others that were looked at."""

    row: int
    rows: Integers  # (m,) ascending
    places: Floats  # (m, p) of these on the map
    values: Floats  # (m,)

    @classmethod
    def of(cls, found: FeatureDistances, embedding: Any, where: Where) -> Self:
        """From the row that is farthest from the middle of the map, or nearest to it."""
        pairs, distances = found.everywhere.pairs, found.everywhere.feature
        rows = np.unique(pairs)
        places = np.asarray(embedding, dtype=float)[rows]
        if len(rows) < 2 or not np.isfinite(places).all():
            raise InputError("Fewer than two rows have a kernel value and a place.")
        row = rows[_chosen(places[:, :2], where)]
        # in the order of `rows`: each other row meets this one once
        meets = (pairs == row).any(axis=1)
        other = pairs[meets].sum(axis=1) - row
        values = np.zeros(len(rows))
        values[np.searchsorted(rows, other)] = distances[meets]
        return cls(int(row), rows, places, values)

    @property
    def place(self) -> Floats:
        """Of the row itself, (p,)."""
        return np.asarray(self.places[np.searchsorted(self.rows, self.row)])


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Means of values at scattered places on a grid, where there are rows nearby; NaN elsewhere."""

    x: Floats  # (w,)
    y: Floats  # (h,)
    values: Floats  # (h, w)
    levels: Floats  # of contours; none where values do not vary, or the grid is too small

    @classmethod
    def of(cls, places: Floats, values: Floats) -> Self:
        """Weighted means of the nearest of the places (m, 2)."""
        from scipy.spatial import cKDTree

        spans = np.ptp(places, axis=0)
        if not (spans > 0).all():
            raise InputError("The map is a line, which has no contours.")
        step = float(spans.max()) / _GRID
        axes = [
            np.arange(low - step, high + 2 * step, step)
            for low, high in zip(places.min(axis=0), places.max(axis=0), strict=True)
        ]
        x, y = np.meshgrid(*axes)
        tree = cKDTree(places)
        k = min(max(_AVERAGED, int(_AVERAGED_SHARE * len(places))), len(places))
        spacing = float(np.quantile(tree.query(places, k=min(4, len(places)))[0][:, -1], 0.9))
        distances, near = (
            np.reshape(found, (x.size, k)) for found in tree.query(np.column_stack([x.ravel(), y.ravel()]), k=k)
        )
        weights = np.exp(-0.5 * np.square(distances / np.maximum(distances[:, -1:], 1e-300) * 2.0))
        means = (weights * values[near]).sum(axis=1) / weights.sum(axis=1)
        means[distances[:, 0] > max(_BEYOND * spacing, step)] = np.nan
        table = means.reshape(x.shape)
        drawn = np.ptp(values) > 0 and min(table.shape) >= 2 and not np.isnan(table).all()
        levels = np.linspace(float(values.min()), float(values.max()), _CONTOURS + 2)[1:-1] if drawn else np.empty(0)
        return cls(axes[0], axes[1], table, levels)


def _chosen(places: Floats, where: Where) -> int:
    """The row that is farthest from the middle of the map, or nearest to it."""
    far = np.linalg.norm(places - np.median(places, axis=0), axis=1)
    return int(far.argmax() if where == "boundary" else far.argmin())

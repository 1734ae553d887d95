"""Small maps of a sample of the rows, of which the best says which method and how many neighbours to take.

The best keeps most neighbours beyond chance: R_NX of the ten nearest, twice, and its area over all scales. Short
circuits, torn rings and layers that are laid one on another lose the nearest neighbours; the area sees what is far, but
praises a linear map for distances in space that a curved one gives up, and so counts less. Rows far from all others
take part in no trial.
"""

import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.spatial import cKDTree

from gramfold.diagnostics import Judged, dimension, r_nx, r_nx_area
from gramfold.diagnostics.four_faults import faults_of
from gramfold.diagnostics.noise import Added, added_locally
from gramfold.diagnostics.refits import FAILS
from gramfold.errors import DisconnectedGraphWarning, InputError
from gramfold.methods.isomap import Isomap
from gramfold.methods.laplacian_eigenmaps import LaplacianEigenmaps
from gramfold.methods.pca import PCA
from gramfold.types import Floats, Integers

FEWEST = 50  # distinct rows, below which no graph of neighbours is tried
ROWS = 800
_WIDE = 200  # columns
_NEIGHBORS = (5, 6, 8, 12, 20)
_ON_LAPLACIAN = (8, 20)
LOOSE: Final = "trim"  # few rows at the ends of a graph would take its coordinates
_JUDGED = 10
_ENOUGH = 0.95  # of the variance in so many principal axes: the dimension of a map
_AS_GOOD = 0.98  # of the best score: then the simplest map is taken
SHAPELESS = 0.12  # a smaller best score: rows have no shape that a map of few dimensions could show
_FAR, _OF_ALL, _MOST_FAR, _NTH = 5.0, 0.9, 0.05, 5


@dataclass(frozen=True)
class Tried:
    """A map of the sample."""

    method: str
    n_neighbors: int | None
    score: float  # share of neighbours that it keeps, beyond chance
    connected: bool
    collapsed: bool  # whether rows that differ cannot be told apart on it
    kept: Added  # what its rows add to the share of the nearest that it keeps

    def clearly_above(self, other: "Tried") -> bool:
        """Whether it keeps more of the neighbours by more than noise."""
        return self.score - other.score > self.kept.noise(other.kept)


@dataclass(frozen=True, eq=False)
class Shape:
    """What a sample says of the rows."""

    distinct: int  # rows of the sample that differ
    far: int  # rows far from all others
    dimension: float | None  # intrinsic, at the scale where noise counts least; None where nothing can be told
    shares: Floats  # cumulative variance of the principal axes
    n_components: int
    tried: tuple[Tried, ...]  # the best first; none where rows are too few

    @classmethod
    def of(cls, rows: Floats, width: int, random_state: int = 0) -> "Shape":
        """Of rows in the units that distances are measured in; `width` is the number of columns of the table."""
        largest = float(np.abs(rows).max())
        distinct = np.unique(rows / largest if largest > 0 else rows, axis=0)  # so that no square overflows
        drawn = np.random.default_rng(random_state).permutation(len(distinct))[:ROWS]
        some = _few_axes(distinct[np.sort(drawn)])
        far = far_rows(some)
        inner = np.delete(some, far, axis=0) if len(far) else some
        shares = _shares(inner)
        found = _dimension(inner)
        p = max(1, min(_components(shares, found), width, len(distinct) - 1))
        tried = _tried(inner, p) if len(inner) >= FEWEST and width > 1 else ()
        return cls(len(distinct), len(far), found, shares, p, tried)

    @property
    def best(self) -> Tried | None:
        """The linear map if it is as good as the best, or where no map shows a shape; else the best."""
        if not self.tried:
            return None
        least = _AS_GOOD * self.tried[0].score if self.tried[0].score >= SHAPELESS else 0.0
        good = [one for one in self.tried if one.score >= least]
        plain = next((one for one in good if one.method == "PCA"), None)
        return plain or self.tried[0]

    @property
    def linear(self) -> Tried | None:
        """The linear map, if it was tried."""
        return next((one for one in self.tried if one.method == "PCA"), None)


def _few_axes(rows: Floats) -> Floats:
    """Wide rows on the axes that have all but 1e-6 of their variance, by which distances are as they were."""
    if rows.shape[1] <= _WIDE:
        return rows
    centered = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centered @ centered.T)
    kept = np.cumsum(values) > 1e-6 * values.sum()
    return np.asarray(vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0)))


def far_rows(some: Floats) -> Integers:
    """Rows whose fifth neighbour is five times as far as that of nine in ten; none where they are many.

    Gaps (NaN), which a method may be left, are taken for the medians of their columns.
    """
    if len(some) < FEWEST:
        return np.empty(0, dtype=np.intp)
    if np.isnan(some).any():
        some = np.where(np.isnan(some), np.nanmedian(some, axis=0), some)
    nth = cKDTree(some).query(some, _NTH + 1)[0][:, -1]
    far = np.flatnonzero(nth > _FAR * np.quantile(nth, _OF_ALL))
    return far if len(far) <= _MOST_FAR * len(some) else np.empty(0, dtype=np.intp)


def _shares(rows: Floats) -> Floats:
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2
    return np.asarray(np.cumsum(values) / values.sum()) if values.sum() > 0 else np.ones(1)


def _dimension(rows: Floats) -> float | None:
    """The smallest over the scales: noise is seen at small ones."""
    try:
        found = dimension(rows, n_neighbors=min(20, len(rows) - 1))
    except InputError:  # too few rows, or all at one distance
        return None
    known = found.scales.corrected[np.isfinite(found.scales.corrected)]
    return float(known.min()) if len(known) else None


def _components(shares: Floats, found: float | None) -> int:
    """Two, for a picture, or three where the rows need them and no more."""
    needed = int(np.searchsorted(shares, _ENOUGH)) + 1  # by a linear map; a curved one may need fewer
    if found is not None:
        needed = min(needed, max(1, round(found)))
    return 3 if needed == 3 else 2


def _tried(rows: Floats, p: int) -> tuple[Tried, ...]:
    trials: list[tuple[str, int | None, Any]] = [("PCA", None, PCA(p))]
    trials += [("Isomap", k, Isomap(p, n_neighbors=k)) for k in _NEIGHBORS]
    trials += [("LaplacianEigenmaps", k, LaplacianEigenmaps(p, n_neighbors=k, loose_rows=LOOSE)) for k in _ON_LAPLACIAN]
    found = []
    for name, k, model in trials:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                places = model.fit_transform(rows)
            except FAILS:  # a method that these rows do not suit is none to advise
                continue
        connected = not any(issubclass(one.category, DisconnectedGraphWarning) for one in told)
        judged = Judged(rows, places, n_neighbors=min(_JUDGED, len(rows) // 3))
        collapsed = "collapsed" in faults_of(judged, every_row=False).named
        found.append(Tried(name, k, _score(judged), connected, collapsed, added_locally(judged)))
    return tuple(sorted(found, key=lambda one: -one.score))


def _score(judged: Judged) -> float:
    return float(2 * r_nx(judged).value + r_nx_area(judged).value) / 3

"""The neighbours of rows, searched once for all estimators of the intrinsic dimension.

Copies of a row are one vertex, and so are rows that are nearly copies (near_copies.py): at distance 0 they would say
that the data have dimension 0. Beyond `sample` distinct rows some are drawn, and their neighbours are searched among
all: the memory is that of sample · k numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gramfold.diagnostics.intrinsic.near_copies import AROUND, NearCopies
from gramfold.diagnostics.intrinsic.tight_groups import TightGroups
from gramfold.diagnostics.partitions import drawn_rows
from gramfold.diagnostics.randomness import drawn_from
from gramfold.embedding import Estimator
from gramfold.embedding.reading import Reads, read_training
from gramfold.errors import InputError, PrecomputedInputError
from gramfold.neighbors.duplicates import Collapse, collapse_rows
from gramfold.neighbors.index import Index, VectorIndex, without
from gramfold.neighbors.metrics import Metric, MetricName, degree, make_metric, reads_mixed, sees_units
from gramfold.neighbors.precomputed import check_distances
from gramfold.neighbors.scales import LoudColumns
from gramfold.neighbors.search import build_index, exact_index
from gramfold.neighbors.units import Unit
from gramfold.runtime.threads import at_work
from gramfold.types import Floats, Integers

SAMPLE = 20_000  # rows whose neighbours are searched, by default
# two distances closer than this, relative to their size, are the same one computed twice
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Nearby:
    """Rows and the nearest neighbours of some or all of them."""

    index: Index  # over the distinct rows
    copies: Collapse
    n_near: int  # rows that are no copies of others but nearly so, and count as such
    vertices: Integers  # (m,) the distinct rows that were drawn, ascending: all where there are few
    indices: Integers  # (m, k) their neighbours, vertices
    distances: Floats  # (m, k) nearest first, in the unit
    unit: float  # of distances: 1, or a power of two where rows are very large or small
    random_state: Any
    loud: LoudColumns | None  # columns that are nearly all that distances see
    columns: tuple[str, ...] | None  # names, where they are known

    @classmethod
    def of(
        cls,
        X: Any,
        k: int,
        *,
        widest: int = 0,
        metric: MetricName = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        sample: Any = SAMPLE,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Of rows, distances or a fitted model; an object of this class is returned as it is.

        At least k neighbours are searched, and up to `widest` where these are no more than a quarter of the rows.
        """
        if isinstance(X, cls):
            return X.require(k)
        if sample is not None and (isinstance(sample, bool) or not isinstance(sample, Integral) or sample < 2):
            raise InputError(
                f"sample={sample!r} is not a number of rows: pass an integer of at least 2, or None for all."
            )
        held = drawn_rows(X, random_state=random_state, metric=metric)
        X = X if held is None else held.X
        drawn_from(random_state)  # which few rows do not need, but a wrong seed is told of
        with at_work(n_jobs):
            if isinstance(X, Estimator):
                read = _index_of_model(X, k, metric, metric_params, n_jobs)
            else:
                read = _index_of_rows(X, k, metric, metric_params, n_jobs)
            index, copies = read.index, read.copies
            drawn, indices, distances = _search(index, k, widest, sample, random_state)
            near, n = NearCopies.of(index, drawn, distances), index.size
            if near is not None and len(near.groups) > k:
                index, copies = near.index(index, n_jobs), near.within(copies)
                drawn, indices, distances = _search(index, k, widest, sample, random_state)
            return cls(
                index,
                copies,
                n - index.size,
                drawn,
                indices,
                distances,
                read.unit,
                random_state,
                read.loud,
                read.columns,
            )

    def __repr__(self) -> str:
        return f"Nearby({len(self.vertices):,} of {self.n_rows:,} rows, {self.n_neighbors} neighbours each)"

    @property
    def n_rows(self) -> int:
        """Rows of X."""
        return len(self.copies.vertex)

    @property
    def n_distinct(self) -> int:
        """Distinct ones."""
        return self.index.size

    @property
    def n_neighbors(self) -> int:
        """Of each drawn row."""
        return int(self.indices.shape[1])

    @property
    def share(self) -> float:
        """Of the distinct rows that were drawn."""
        return len(self.vertices) / self.n_distinct

    @property
    def apart(self) -> np.ndarray:
        """Which drawn rows have no other row at distance 0, as some metrics give rows that differ, (m,)."""
        return np.asarray(self.distances[:, 0] > 0.0)

    @property
    def tied(self) -> float:
        """Share of the drawn rows whose two nearest neighbours are equally far."""
        first, second = self.distances[:, 0], self.distances[:, 1]
        return float(np.mean(second <= first * (1.0 + _ROUNDING)))

    @property
    def tight(self) -> TightGroups | None:
        """Groups of a few rows each that are far from all others."""
        return TightGroups.of(self.distances[self.apart], self.mutual)

    @property
    def mutual(self) -> float:
        """Share of the drawn rows that are the nearest of their nearest, among those whose nearest was drawn too."""
        place = np.full(self.n_distinct, -1)
        place[self.vertices] = np.arange(len(self.vertices))
        other = place[self.indices[:, 0]]
        known = other >= 0
        back = self.indices[other[known], 0] == self.vertices[known]
        return float(back.mean()) if len(back) else 0.0

    def spacing(self, d: float) -> float:
        """Spread of the nearest distances relative to that of random rows of d dimensions, at least 1 for those.

        r₁^d is exponential where the density is constant, so that log r₁ has the standard deviation (π/√6) / d, and
        more where it is not. Frames of a film or nodes of a grid have less.
        """
        nearest = self.distances[self.apart, 0]
        if not len(nearest) or not np.isfinite(d):
            return 0.0
        return float(np.log(nearest).std() * d * np.sqrt(6.0) / np.pi)

    def require(self, k: int) -> Self:
        """Itself, if so many neighbours were searched."""
        if k > self.n_neighbors:
            raise InputError(
                f"{k} neighbours are needed, but {self.n_neighbors} of each row were searched: search for more of them."
            )
        return self

    def over_rows(self, values: Floats) -> Floats:
        """Values (m,) of the drawn rows, for all rows of X, (n_rows,); NaN where not drawn. Copies share theirs."""
        known = np.full(self.n_distinct, np.nan)
        known[self.vertices] = values
        return np.asarray(known[self.copies.vertex])

    def smoothed(self, inverses: Floats, k: int, n_jobs: int | None = None) -> Floats:
        """The mean over each drawn row and its k nearest drawn ones, (m,), of those that are not NaN."""
        lists = self.indices[:, :k]
        if self.share < 1.0:  # few neighbours of a drawn row were drawn themselves
            assert isinstance(self.index, VectorIndex)
            fewer = exact_index(self.index.points[self.vertices], self.index.metric, n_jobs)
            lists = fewer.own(min(k, len(self.vertices) - 1), None).indices.reshape(len(self.vertices), -1)
        around = np.column_stack([inverses, inverses[lists]])
        known = ~np.isnan(around)
        sums, counts = np.where(known, around, 0.0).sum(axis=1), known.sum(axis=1)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@dataclass(frozen=True, eq=False)
class _Read:
    """What rows are searched in."""

    index: Index
    copies: Collapse
    unit: float
    loud: LoudColumns | None = None
    columns: tuple[str, ...] | None = None


def _index_of_rows(
    X: Any, k: int, metric: MetricName, metric_params: Mapping[str, Any] | None, n_jobs: int | None
) -> _Read:
    given = isinstance(metric, str) and metric == "precomputed"
    params = dict(metric_params or {})
    mixed = reads_mixed(metric)
    rows, columns = read_training(
        "dimension", X, Reads(precomputed=given, sparse=True, mixed=mixed, categorical=params.get("categorical"))
    )
    if given:
        if issparse(rows):
            raise PrecomputedInputError(
                "X is a sparse matrix of distances, so those between most rows are not known: pass all distances, or "
                "the rows themselves."
            )
        check_distances(rows)
    loud = LoudColumns.of(rows) if sees_units(metric) else None
    if _by_angle(metric):
        rows, metric = make_metric(metric, metric_params, rows).prepare(rows), "euclidean"
    power = degree(metric, metric_params)
    unit = Unit() if power is None else Unit.of_rows(rows)
    index, copies = build_index(
        unit.inward(rows),
        metric=metric,
        metric_params=metric_params,
        search="exact",
        n_neighbors=1,
        radius=None,
        n_jobs=n_jobs,
        random_state=check_random_state(0),  # an exact search draws nothing
    )
    _require(k, index.size)
    return _Read(index, copies, unit.size ** (power or 0), loud, columns.shown)


def _index_of_model(
    model: Any, k: int, metric: MetricName, metric_params: Mapping[str, Any] | None, n_jobs: int | None
) -> _Read:
    """Of the rows that a model was fitted to, by its own metric."""
    check_is_fitted(model)
    name = type(model).__name__
    if metric_params is not None or not (isinstance(metric, str) and metric == "euclidean"):
        raise InputError(
            f"X is a fitted {name}, whose own metric is used: leave out metric and metric_params, or pass rows."
        )
    source: Any = getattr(model.model_, "source", None)
    rows = getattr(source, "rows", None)
    if rows is None:
        net = getattr(getattr(source, "components", None), "net", None)
        if net is None or net.index.given:
            raise PrecomputedInputError(
                f"{name} holds no rows or distances from which neighbours could be searched: pass the rows, or all "
                "their distances with metric='precomputed'."
            )
        _require(k, net.index.size)
        return _Read(net.index, net.copies, net.unit_of_distances)
    measure = source.metric or Metric("euclidean", "euclidean")
    loud, names = LoudColumns.of(rows) if sees_units(measure.name) else None, getattr(model, "feature_names_in_", None)
    if _by_angle(measure.name):
        rows, measure = measure.prepare(rows), Metric("euclidean", "euclidean")
    copies = collapse_rows(measure.prepare(rows))
    _require(k, len(copies))
    power = degree(measure.name, measure.params)
    index = exact_index(rows[copies.first], measure, n_jobs)
    return _Read(index, copies, source.unit.size ** (power or 0), loud, None if names is None else tuple(names))


def _by_angle(metric: MetricName) -> bool:
    """Whether a distance is half the square of one between unit rows, of which the dimension would be half as high.

    Then the distance between the unit rows is used.
    """
    return isinstance(metric, str) and metric.lower() in {"cosine", "correlation"}


def _require(k: int, n: int) -> None:
    if k >= n:
        raise InputError(
            f"{k} neighbours of each row are needed, but there are only {n} distinct rows: use more rows, or fewer "
            "neighbours."
        )


def _search(index: Index, k: int, widest: int, sample: Any, random_state: Any) -> tuple[Integers, Integers, Floats]:
    """Some vertices or all, their neighbours, and the distances of these."""
    # of a matrix of all distances every row is used: it is in memory anyway
    drawn = _drawn(index.size, sample if isinstance(index, VectorIndex) else None, random_state)
    k = max(k, min(widest, index.size // 4), min(AROUND, index.size - 1))
    return drawn, *_lists(index, drawn, k)


def _drawn(n: int, sample: Any, random_state: Any) -> Integers:
    if sample is None or n <= sample:
        return np.arange(n)
    return np.sort(drawn_from(random_state).choice(n, int(sample), replace=False))


def _lists(index: Index, drawn: Integers, k: int) -> tuple[Integers, Floats]:
    """Neighbours (m, k) of these vertices, and their distances."""
    m = len(drawn)
    if m == index.size or not isinstance(index, VectorIndex):
        found = index.own(k, None)
        indices, distances = found.indices.reshape(-1, k), found.distances.reshape(-1, k)
        return indices[drawn], distances[drawn]
    found = index.nearest(index.points[drawn], k + 1)
    return without(drawn, found.indices.reshape(m, k + 1), found.distances.reshape(m, k + 1))

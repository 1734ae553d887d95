"""A table of rows, or a matrix of distances, asked for distances and neighbours."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gramfold.diagnostics.randomness import check_seed
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.precomputed import DistanceIndex
from gramfold.neighbors.search import rows_index
from gramfold.neighbors.with_copies import nearest_with_copies
from gramfold.types import Floats, Integers, Neighbors


class Table(Protocol):
    """One side of a comparison: the data, or the map."""

    def __len__(self) -> int:
        """Number of rows."""

    def distances(self, rows: Integers, columns: Integers | None = None) -> Floats:
        """Distances (len(rows), n) of these rows from all rows, or from some: a new array, which may be changed."""

    def between(self, first: Integers, second: Integers) -> Floats:
        """The distance of each of these pairs of rows."""

    def neighbors(self, k: int) -> Neighbors:
        """The k nearest other rows of each row; copies are neighbours, and at a tie the lower number is first."""

    def constant(self) -> bool:
        """Whether all rows are at distance 0 of the first."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A table under a metric."""

    rows: Any  # (n, d) as the metric reads them, dense in float64 or sparse
    metric: Metric
    search: str = field(default="exact", kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)
    random_state: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check_seed(self.random_state)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @cached_property
    def _prepared(self) -> Any:
        return self.metric.prepare(self.rows)

    def distances(self, rows: Integers, columns: Integers | None = None) -> Floats:
        metric = self.metric
        if issparse(self.rows) or metric.family not in {"euclidean", "minkowski"}:
            found = metric.block(self.rows[rows], self.rows if columns is None else self.rows[columns])
        else:
            # as `Metric.block`, which would prepare all rows for each block; equal rows are at distance 0 by these
            from scipy.spatial.distance import cdist

            asked, points = self._prepared[rows], self._prepared if columns is None else self._prepared[columns]
            if metric.family == "minkowski":
                found = metric.block(asked, points)
            elif metric.name == "euclidean":
                found = cdist(asked, points)
            else:
                found = 0.5 * cdist(asked, points, "sqeuclidean")  # of unit rows
        return np.asarray(found)

    def between(self, first: Integers, second: Integers) -> Floats:
        return self.metric.pairs(self._prepared, first, self._prepared, second, self.n_jobs)

    def neighbors(self, k: int) -> Neighbors:
        collapse = collapse_rows(self._prepared)  # for the cosine metric rows of one direction are the same
        points = self.rows if len(collapse) == len(self) else self.rows[collapse.first]
        index = rows_index(
            points,
            self.metric,
            search=self.search,
            n_neighbors=max(1, min(k, len(collapse) - 1)),
            radius=None,
            n_jobs=self.n_jobs,
            random_state=np.random.RandomState(self.random_state),
        )
        return nearest_with_copies(index, collapse, k)

    def constant(self) -> bool:
        return not self.distances(np.array([0])).any()


@dataclass(frozen=True, eq=False)
class Remembered:
    """A table that keeps the distances of some rows once they were computed: each measure asks for them again."""

    table: Table
    rows: Integers  # (m,) ascending
    kept: Floats  # (m, n) their distances, ...
    known: NDArray[np.bool_]  # ... where this is True

    @classmethod
    def of(cls, table: Table, rows: Integers) -> Self:
        """Nothing is known yet."""
        return cls(table, rows, np.empty((len(rows), len(table))), np.zeros(len(rows), dtype=bool))

    def __len__(self) -> int:
        return len(self.table)

    def distances(self, rows: Integers, columns: Integers | None = None) -> Floats:
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        if not np.array_equal(self.rows[place], rows):
            return self.table.distances(rows, columns)
        fresh = place[~self.known[place]]
        if fresh.size:
            self.kept[fresh] = self.table.distances(self.rows[fresh])
            self.known[fresh] = True  # now they are complete: another thread may read them
        return np.asarray(self.kept[place] if columns is None else self.kept[np.ix_(place, columns)])

    def between(self, first: Integers, second: Integers) -> Floats:
        return self.table.between(first, second)

    def neighbors(self, k: int) -> Neighbors:
        return self.table.neighbors(k)

    def constant(self) -> bool:
        return self.table.constant()


@dataclass(frozen=True, eq=False)
class Distances:
    """A symmetric matrix of all distances."""

    matrix: Floats  # (n, n)

    def __len__(self) -> int:
        return len(self.matrix)

    def distances(self, rows: Integers, columns: Integers | None = None) -> Floats:
        return self.matrix[rows if columns is None else np.ix_(rows, columns)].astype(np.float64)

    def between(self, first: Integers, second: Integers) -> Floats:
        return np.asarray(self.matrix[first, second], dtype=np.float64)

    def neighbors(self, k: int) -> Neighbors:
        return DistanceIndex.of(self.matrix, np.arange(len(self))).own(k, None)

    def constant(self) -> bool:
        return not self.matrix[0].any()

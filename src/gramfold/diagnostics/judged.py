"""Data and a map of them, compared: one neighbour search in each, and the rows on which measures are computed."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from typing import Any, Self, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, check_is_fitted

from gramfold.diagnostics.partitions import Drawn, drawn_of_model, drawn_rows
from gramfold.diagnostics.tables import Distances, Remembered, Rows, Table
from gramfold.embedding import Estimator, FittedMap, Model, Reads
from gramfold.embedding.reading import check_finite, read_training
from gramfold.errors import InputError, PrecomputedInputError, UndefinedMeasureError
from gramfold.neighbors.columns import numeric_table, require_one_order
from gramfold.neighbors.metrics import Metric, MetricName, degree, make_metric, reads_mixed
from gramfold.neighbors.precomputed import check_distances, settled_distances
from gramfold.neighbors.units import Unit
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Integers, Neighbors

_EXACT = 3_000  # rows up to which all of them are looked at: some seconds for all measures
_SAMPLE = 1_000  # rows that are looked at among more
_FEWEST = 20  # rows of a sample from which an interval can be computed
_ENTRIES_PER_BLOCK = 500_000  # 4 megabytes, which stay in the cache between passes
_BLOCKS_AT_ONCE = 8
_REMEMBERED = 10_000_000  # distances that are kept for the next measure: 80 megabytes

_DEFAULTS: Mapping[str, Any] = {"n_neighbors": 10, "metric": "euclidean", "sample": None, "random_state": 0}

Result = TypeVar("Result")


class Judged:
    """Data and a map of them, ready to be compared by any number of measures.

    It holds one neighbour search in the data and one on the map, each made when it is first needed, and the rows that
    were drawn for measures that look at all distances of a row. Every function of `gramfold.diagnostics` that takes
    `(X, Y)` takes a `Judged` in their place.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns), or a fitted gramfold estimator
        The data; with ``metric="precomputed"`` the matrix of all distances (n_rows, n_rows). Of a fitted estimator the
        training rows and its own metric are taken. Of rows in partitions (Dask, files that are streamed) 10,000 are
        drawn, and compared with each other.
    Y : array-like of shape (n_rows, n_components), optional
        The map, however it was made. Rows with NaN have no place and are left out of both tables. It may be left out
        where X is a fitted estimator: then it is its ``embedding_``.
    n_neighbors : int, default=10
        Number of neighbours of each row. Copies of a row are neighbours like any other; ties are broken by row number.
    metric : str or callable, default="euclidean"
        Distance in the data, as in every method of gramfold; distances on the map are Euclidean.
    sample : int, optional
        Number of rows whose distances from all other rows are computed. By default all rows up to 3,000, and 1,000
        drawn at random among more. Measures of a sample come with a 95% interval.
    random_state : int, default=0
        Seed of what is drawn.
    metric_params : dict, optional
        Further arguments of the metric.
    search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are searched, as in every method of gramfold.
    n_jobs : int, optional
        Number of threads.

    Attributes
    ----------
    n : int
        Number of rows that are compared.
    n_given : int
        Number of rows of the tables that were given, those without a place included; of tables in partitions, of the
        rows that were drawn from them.
    n_all : int
        Number of rows of the tables that were given, in all of their partitions.
    drawn : ndarray of shape (n_given,), or None
        Numbers of the rows that were drawn from tables in partitions, or that a model which was fitted to such holds.
        None where the tables are in memory.
    rows : ndarray of shape (m,)
        The rows whose distances from all others are looked at, ascending, among these n; all of them where `exact`.
    exact : bool
        Whether all rows are looked at.
    kept : ndarray of shape (n,)
        Where the n rows stand in the tables that were given.
    in_data, on_map : Neighbors
        The nearest neighbours of all n rows.
    data, map : Table
        With ``distances(rows)``, ``between(first, second)`` and ``neighbors(k)``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from gramfold.diagnostics import Judged, continuity, trustworthiness
    >>> X = load_digits().data
    >>> judged = Judged(X, PCA(2).fit_transform(X))
    >>> trustworthiness(judged), continuity(judged)
    (Measure(0.83), Measure(0.9505))
    """

    n: int
    n_given: int
    n_all: int
    drawn: Integers | None
    n_neighbors: int
    kept: Integers
    rows: Integers
    data: Table
    map: Rows
    n_jobs: int | None
    random_state: int
    unit: float  # of distances on the map to that of distances in the data: 1 unless values are extreme

    def __init__(
        self,
        X: Any,
        Y: Any = None,
        *,
        n_neighbors: int = 10,
        metric: MetricName = "euclidean",
        sample: int | None = None,
        random_state: int = 0,
        metric_params: Mapping[str, Any] | None = None,
        search: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        if search not in {"auto", "exact", "approximate"}:
            raise InputError(f"search={search!r} is not known: use 'auto', 'exact' or 'approximate'.")
        self.random_state = _whole(random_state, 0)
        if self.random_state < 0:
            raise InputError(f"random_state={random_state!r} is not a seed: pass an integer of at least 0.")
        self.drawn = None
        drawn = X if isinstance(X, Drawn) else drawn_rows(X, Y, random_state=self.random_state, metric=metric)
        if drawn is not None:
            X, Y = drawn.X, drawn.Y
        elif Y is None:
            drawn = drawn_of_model(X)
        rows, measure, places = _read(X, Y, metric)
        if rows.shape[0] != len(places):
            raise InputError(
                f"X has {rows.shape[0]} rows and Y has {len(places)}, so they cannot be compared row by row: pass the "
                "data that the map was made of, in the same order."
            )
        placed = ~np.isnan(places).any(axis=1)
        check_finite(places[placed], "Y")
        self.n_given = self.n_all = len(places)
        if drawn is not None:
            self.drawn, self.n_all = drawn.numbers, drawn.n_rows
        self.kept = np.flatnonzero(placed)
        self.n = len(self.kept)
        self.n_neighbors = _checked_neighbors(n_neighbors, self.n, self.n_given)
        self.n_jobs = n_jobs
        self._unit_of_data = 1.0
        options: dict[str, Any] = {"search": search, "n_jobs": n_jobs, "random_state": self.random_state}
        if measure is None:
            self.data = Distances(rows if self.n == self.n_given else rows[np.ix_(self.kept, self.kept)])
        else:
            rows = rows if self.n == self.n_given else rows[self.kept]
            # its scales are of the rows that are compared, where it is not that of a model
            if isinstance(measure, Metric):
                self.data = Rows(rows, measure, **options)
            else:
                found = make_metric(metric, metric_params, rows)
                power = degree(found.name, found.params)
                if power is not None and (unit := Unit.of_rows(rows)).power:
                    rows, self._unit_of_data = unit.inward(rows), unit.size**-power
                    found = make_metric(metric, metric_params, rows)
                self.data = Rows(rows, found, **options)
        if self.data.constant():
            name = "euclidean" if isinstance(self.data, Distances) else self.data.metric.name
            raise InputError(
                "all rows of X are at one place, so none is nearer than another: check that the right columns were "
                "passed."
                if name == "euclidean"
                else f"by the metric '{name}' all rows of X are at distance 0 of the first, so none is nearer than "
                "another: use a metric that suits these values."
            )
        self._take_map(places[self.kept], options)
        self.rows = self._drawn(sample)
        if measure is not None and len(self.rows) * self.n <= _REMEMBERED:
            self.data = Remembered.of(self.data, self.rows)
        self._made: dict[Any, Any] = {}
        self._made_of_data: dict[Any, Any] = {}  # shared with every other map of the same data

    @classmethod
    def of(cls, X: Any, Y: Any, **parameters: Any) -> Self:
        """X itself where it is judged already; then nothing else can be given."""
        if not isinstance(X, cls):
            return cls(X, Y, **parameters)
        if Y is not None:
            raise InputError("X is a Judged, which has its map, but Y was given too: pass one or the other.")
        for name, value in parameters.items():
            if value is not _DEFAULTS[name] and value != _DEFAULTS[name]:
                raise InputError(
                    f"{name}={value!r} was given with a Judged, whose searches are made with its own: pass {name} "
                    "to Judged."
                )
        return X

    def with_map(self, Y: Any) -> Self:
        """Another map of the same data, judged on the same rows; what is known of the data is not computed again.

        Parameters
        ----------
        Y : array-like of shape (n_given, n_components)
            The other map, with a place for each of the rows in `kept`; its other rows are left out.

        Returns
        -------
        Judged

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from gramfold.diagnostics import Judged, stress
        >>> X = load_iris().data
        >>> first = Judged(X, X[:, :2])
        >>> other = first.with_map(X[:, 2:])
        >>> stress(first), stress(other)
        (Measure(0.3075), Measure(0.1115))
        >>> other.in_data is first.in_data
        True
        """
        places = read_places(Y)
        if len(places) != self.n_given:
            raise InputError(
                f"the data have {self.n_given} rows and Y has {len(places)}, so they cannot be compared row by row: "
                "pass a map of the same data, in the same order."
            )
        places = places[self.kept]
        absent = int(np.isnan(places).any(axis=1).sum())
        if absent:
            raise InputError(
                f"Y has no coordinates (NaN) for {absent} of the {self.n} rows that are compared: judge it by itself, "
                "or leave these rows out of the first map too."
            )
        check_finite(places, "Y")
        other = copy(self)
        vars(other).pop("on_map", None)
        search = {name: getattr(self.map, name) for name in ("search", "n_jobs", "random_state")}
        other._take_map(places, search)  # noqa: SLF001  its own
        other._made = {}  # noqa: SLF001
        return other

    def _take_map(self, places: Floats, options: dict[str, Any]) -> None:
        unit = Unit.of_rows(places)
        places, self.unit = unit.inward(places), self._unit_of_data * unit.size
        self.map = Rows(places, make_metric("euclidean", None, places), **options)

    def __repr__(self) -> str:
        looked = "all of them looked at" if self.exact else f"{len(self.rows):,} of them drawn"
        of = "" if self.drawn is None else f" of {self.n_all:,}"
        return f"Judged({self.n:,}{of} rows, {looked}, {self.n_neighbors} neighbours)"

    @property
    def exact(self) -> bool:
        """Whether all rows are looked at."""
        return len(self.rows) == self.n

    @cached_property
    def in_data(self) -> Neighbors:
        """The nearest neighbours of all rows in the data."""
        return self.once_of_data(_nearest_in_data)

    @cached_property
    def on_map(self) -> Neighbors:
        """The nearest neighbours of all rows on the map."""
        return self.map.neighbors(self.n_neighbors)

    def require_apart(self, what: str) -> None:
        """Raise an error for a measure of the nearest on the map, where all rows are at one place."""
        if self.map.constant():
            raise UndefinedMeasureError(
                f"all rows of Y are at one place, so none is nearer than another and {what} is not defined: see "
                "faults, which calls such a map collapsed."
            )

    def fewer(self, most: int) -> "Judged":
        """The comparison of at most so many rows, drawn at random, among themselves."""
        if self.n <= most:
            return self
        chosen = np.sort(self.generator(1).choice(self.n, most, replace=False))
        found = copy(self)
        vars(found).pop("on_map", None)
        table = self.data.table if isinstance(self.data, Remembered) else self.data
        found.data = (
            replace(table, rows=table.rows[chosen])
            if isinstance(table, Rows)
            else Distances(table.distances(chosen, chosen))
        )
        found.map = replace(self.map, rows=self.map.rows[chosen])
        found.kept, found.n = self.kept[chosen], most
        found.rows = np.sort(found.generator(0).choice(most, min(len(self.rows), most), replace=False))
        found._made, found._made_of_data = {}, {}  # noqa: SLF001  its own
        return found

    def over_rows(self, work: Callable[[slice], Result]) -> list[Result]:
        """Run `work` on slices of `rows`, so small that their distances from all rows fit in little memory."""
        return run_blocks(work, blocks(len(self.rows), max(1, _ENTRIES_PER_BLOCK // self.n)), self.n_jobs)

    def added_over(self, count: int, work: Callable[[slice], tuple[Floats, ...]]) -> tuple[Floats, ...]:
        """The same for a list of so many rows, and the sums of what `work` returns, always in the same order."""
        parts = blocks(count, max(1, _ENTRIES_PER_BLOCK // self.n))
        total: tuple[Floats, ...] = ()
        for group in blocks(len(parts), _BLOCKS_AT_ONCE):  # few at once: each may return a value for each of n rows
            for found in run_blocks(work, parts[group], self.n_jobs):
                total = tuple(a + b for a, b in zip(total, found, strict=True)) if total else found
        return total

    def once(self, make: "Callable[[Judged], Result]") -> Result:
        """What several measures need, made when the first of them asks for it."""
        if make not in self._made:
            self._made[make] = make(self)
        found: Result = self._made[make]
        return found

    def once_of_data(self, make: "Callable[..., Result]", *more: Any) -> Result:
        """The same of what depends on the data, and on `more`, but not on the map: made once for all maps."""
        if (make, *more) not in self._made_of_data:
            self._made_of_data[make, *more] = make(self, *more)
        found: Result = self._made_of_data[make, *more]
        return found

    def per_point(self, values: Floats) -> Floats:
        """Values of the sampled rows, or of all n, as one for each row that was given: NaN for the others."""
        found = np.full(self.n_given, np.nan)
        found[self.kept if len(values) == self.n else self.kept[self.rows]] = values
        return found

    def generator(self, purpose: int) -> np.random.Generator:
        """Random numbers that are the same whichever measures are computed before."""
        return np.random.default_rng([self.random_state, purpose])

    def _drawn(self, sample: int | None) -> Integers:
        if sample is None:
            size = self.n if self.n <= _EXACT else _SAMPLE
        elif _whole(sample, _FEWEST) < 0:
            raise InputError(
                f"sample={sample!r} cannot be drawn: an interval needs an integer of at least {_FEWEST} rows."
            )
        else:
            size = min(int(sample), self.n)
        if size == self.n:
            return np.arange(self.n)
        return np.sort(self.generator(0).choice(self.n, size, replace=False))


def _nearest_in_data(judged: Judged) -> Neighbors:
    return judged.data.neighbors(judged.n_neighbors)


def _whole(value: Any, least: int) -> int:
    """A whole number of at least this; -1 for anything else."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        return -1
    return int(value)


def _read(X: Any, Y: Any, metric: MetricName) -> tuple[Any, Any, Floats]:
    """The data, their metric (True: to be made, None: they are distances), and the map."""
    if isinstance(X, Estimator):
        return _of_model(X, Y, metric)
    if Y is None:
        raise InputError("Y is missing, so there is no map to judge: pass its coordinates, one row for each row of X.")
    require_one_order(X, Y)
    precomputed = isinstance(metric, str) and metric.lower() == "precomputed"
    if precomputed and issparse(X):
        raise InputError(
            "X is a sparse matrix of precomputed distances, so most distances are not known: pass all of them, or the "
            "rows themselves."
        )
    reads = Reads(precomputed=precomputed, sparse=True, mixed=reads_mixed(metric))
    rows, _ = read_training("Judged", X, reads)
    if precomputed:
        check_distances(rows)
        return settled_distances(rows), None, read_places(Y)
    return rows.astype(np.float64, copy=False), True, read_places(Y)


def _of_model(estimator: Any, Y: Any, metric: MetricName) -> tuple[Any, Metric, Floats]:
    name = type(estimator).__name__
    check_is_fitted(estimator, msg="%(name)s is not fitted, so it has no map to judge: call fit first.")
    model = estimator.model_
    if not isinstance(model, FittedMap):
        raise InputError(
            f"{name} makes no map: pass the rows as X and the coordinates of a map of them as Y, as in "
            "gramfold.diagnostics.verdict(X, Y)."
        )
    if not isinstance(model, Model):
        raise InputError(
            f"{name} does not keep the rows it was fitted on: pass them as X and its embedding_ as Y, as in "
            "gramfold.diagnostics.verdict(X, model.embedding_)."
        )
    if metric != "euclidean":
        raise InputError(
            f"metric={metric!r} was given with a fitted {name}, whose own metric is used: pass the rows for another."
        )
    if model.source.rows is None:
        raise PrecomputedInputError(
            f"{name} was fitted on precomputed input, which it does not keep: pass the distances as X with "
            "metric='precomputed', and its embedding_ as Y."
        )
    rows = model.source.rows
    check_finite(rows, "X", allow_missing=model.reads.mixed)
    own = model.source.metric or make_metric("euclidean", None, rows)
    return rows.astype(np.float64, copy=False), own, read_places(model.aligned if Y is None else Y)


def read_places(Y: Any) -> Floats:
    """Coordinates (n, p) of a map in float64; NaN is allowed."""
    table = numeric_table(Y, least_rows=1, name="Y", dense_for="a map")
    found: Floats = check_array(table, dtype=np.float64, ensure_all_finite=False, input_name="Y")
    return found


def check_neighbors(k: Any) -> int:
    """A number of neighbours, at least 1."""
    if _whole(k, 1) < 0:
        raise InputError(f"n_neighbors={k!r} is not a number of neighbours: pass an integer of at least 1.")
    return int(k)


def _checked_neighbors(k: Any, n: int, given: int) -> int:
    count = check_neighbors(k)
    if n < 3:
        without = "" if n == given else f" of {given}"
        raise InputError(f"the map has {n}{without} rows with coordinates, but a comparison needs 3: pass more rows.")
    if k >= n:
        raise InputError(
            f"n_neighbors={k}, but there are only {n} rows, so each has at most {n - 1} neighbours: use "
            f"n_neighbors <= {n - 1} or more rows."
        )
    return count

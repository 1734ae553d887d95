"""Fits of a clone on other rows: what they warn of is collected, and what fails is kept as a sentence."""

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from gramfold.alignment import training_rows
from gramfold.embedding import Alignable, Estimator, FittedMap
from gramfold.embedding.reading import check_finite
from gramfold.errors import GramfoldError, InputError
from gramfold.neighbors.columns import MISSING, as_table, numeric_table, types_of, values_of
from gramfold.neighbors.duplicates import Collapse, collapse_distances, collapse_rows, no_duplicates
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.precomputed import rounding_of, settled_distances
from gramfold.types import Floats, Integers

# What a fit raises where rows or settings do not suit it; anything else is a fault of the program, and is not caught.
FAILS = (GramfoldError, ValueError, ArithmeticError)


@dataclass
class Told:
    """Warnings of several fits: how many of them gave each, and one as an example."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Count each category once for the block; nothing is shown."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            finally:
                heard = {warning.category.__name__: str(warning.message) for warning in reversed(caught)}
                self.counts.update(heard.keys())
                self.examples = {**heard, **self.examples}

    @property
    def by_category(self) -> dict[str, int]:
        """The most frequent first."""
        return dict(self.counts.most_common())


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, or precomputed values between them, of which some are taken."""

    X: Any
    y: Any
    weights: Floats | None
    pairwise: bool

    @classmethod
    def of(cls, model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> "Table":
        """X as an estimator of this kind reads it."""
        table = as_table(X)
        if not hasattr(table, "shape") or len(table.shape) != 2:
            raise InputError(f"X is a {type(X).__name__}, which is no table: pass rows as an array of two dimensions.")
        # an estimator that is not of scikit-learn's classes has no tags
        pairwise = hasattr(model, "__sklearn_tags__") and bool(get_tags(model).input_tags.pairwise)
        if pairwise and table.shape[0] != table.shape[1]:
            raise InputError(
                f"X is precomputed and has shape {tuple(table.shape)}, but rows can be left out of a square matrix "
                "only: pass the values between all rows."
            )
        if issparse(table):
            table = table.tocsr()  # which can be indexed by rows
        for given, name in ((y, "y"), (sample_weight, "sample_weight")):
            if given is not None and len(given) != table.shape[0]:
                raise InputError(
                    f"X has {table.shape[0]:,} rows and {name} {len(given):,} entries: pass one entry for each row."
                )
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return cls(table, None if y is None else np.asarray(y), weights, pairwise)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: Integers) -> "Table":
        """Some rows only, by themselves."""
        y, weights = (None if one is None else one[rows] for one in (self.y, self.weights))
        return Table(self.against(rows, rows), y, weights, self.pairwise)

    def against(self, rows: Integers, others: Integers) -> Any:
        """Rows as they are given to the transform of a model that was fitted on others."""
        some = _rows(self.X, rows)
        if not self.pairwise:
            return some
        return some.iloc[:, others] if hasattr(some, "iloc") else some[:, others]

    def copies(self, model: Any) -> Collapse:
        """Groups of rows that are copies of one another to this model; by angle, also rows of one direction.

        Of a sparse graph, or of weights, equal rows are no copies: they are vertices with the same neighbours.
        """
        metric, kernel = (getattr(model, name, None) for name in ("metric", "kernel"))
        if self.pairwise:
            given = [name for name in (metric, kernel) if isinstance(name, str) and name == "precomputed"]
            if issparse(self.X) or not given:
                return no_duplicates(len(self))
            values = coordinates(self.X)
            if metric != "precomputed":
                return collapse_rows(values)
            return collapse_distances(settled_distances(values), rounding_of(values))
        rows = self.X if issparse(self.X) else _numbers(self.X)
        if isinstance(metric, str) and metric.lower() in {"cosine", "correlation"}:
            rows = make_metric(metric, None, rows).prepare(rows)
        return collapse_rows(rows)

    def fitted(self, model: Any) -> tuple[Any, Floats]:
        """A clone fitted on these rows, and their coordinates."""
        fresh, given = clone(model), {} if self.weights is None else {"sample_weight": self.weights}
        return fresh, map_of(fresh.fit_transform(own_rows(fresh, self.X), self.y, **given), len(self))


def rows_of(model: Any, X: Any, y: Any, sample_weight: Any) -> Table:
    """The table that a model is fitted on: X or, where that is None, the training rows that it keeps."""
    require_map(model)
    if X is not None:
        return Table.of(model, X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise InputError("y or sample_weight was given without X: pass the rows that they belong to as X.")
    if not isinstance(model, Alignable):
        raise InputError(f"the training rows of {type(model).__name__} are not known: pass them as X.")
    check_is_fitted(model, msg="%(name)s is not fitted, so it has no map and no rows: call fit first, or pass X.")
    fitted: FittedMap = vars(model)["model_"]
    rows = None if fitted.reads.mixed or fitted.reads.precomputed else training_rows(fitted)
    if rows is None:
        raise InputError(
            f"{fitted.name} was fitted on precomputed values, or on rows that it does not keep as they were: pass X."
        )
    return Table.of(model, rows)


def own_rows(model: Any, X: Any) -> Any:
    """X for a fit of this model: one of another package gets a copy, since it may work in place."""
    return X if isinstance(model, Estimator) else deepcopy(X)


def require_other_rows(model: Any) -> None:
    """Refuse a model whose parameters are numbers of rows, which are other rows in a refit."""
    if not isinstance(getattr(model, "drop_edges", None), str | None):
        raise InputError(
            "drop_edges names rows of the whole table, which have other numbers among fewer rows: use "
            "drop_edges='short_circuits', which finds them in each refit."
        )


def require_map(model: Any) -> None:
    """Refuse what makes no coordinates."""
    if isinstance(model, type) or not hasattr(model, "fit_transform"):
        named = model.__name__ if isinstance(model, type) else type(model).__name__
        what = "a class" if isinstance(model, type) else "no map"
        raise InputError(f"model is {named}, which is {what}: pass an estimator with fit_transform, such as Isomap().")


def refuse_numbered_rows(model: Any) -> None:
    """Refuse a model that names rows by their numbers, which are others among fewer rows."""
    for name, value in model.get_params().items():
        if name.rsplit("__", 1)[-1] == "landmarks" and not (value is None or isinstance(value, str | Integral)):
            raise InputError(
                f"{name} are given as row numbers, which stand for other rows where some are left out: pass the number "
                "of landmarks."
            )


def coordinates(found: Any) -> Floats:
    """As an array in float64, whatever kind of table the estimator was set to return."""
    return np.asarray(found, dtype=np.float64)


def map_of(found: Any, n: int) -> Floats:
    """What the fit_transform of any estimator returned, as a map of n rows; NaN where a row has no place."""
    name = "fit_transform(X)"
    table = numeric_table(found, least_rows=1, name=name, dense_for="a map")
    places = coordinates(table)
    check_finite(places, name, allow_missing=True)
    if len(places) != n:
        raise InputError(f"{name} has {len(places)} rows for {n} rows of X: pass an estimator that places each row.")
    return places


def check_whole(value: Any, name: str, least: int) -> int:
    """A whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name}={value!r} is not valid: pass an integer of at least {least}.")
    return int(value)


def _rows(X: Any, rows: Integers) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows.tolist()] if hasattr(X, "columns") else X[rows]  # the latter a table of polars


def _numbers(X: Any) -> Floats:
    """Rows as numbers that are equal where values are: of text and categories, the order of their first occurrence."""
    plain = np.asarray(X)
    if plain.dtype.kind in "biuf":
        return np.ascontiguousarray(plain, dtype=np.float64)
    count = plain.shape[1]
    columns = [values_of(X, j) for j in range(count)] if types_of(X) else list(plain.T)
    return np.column_stack([_places(column) for column in columns]).astype(np.float64)


def _places(values: Any) -> Integers:
    """The number of each value among the different ones; all gaps are one."""
    known: dict[str | None, int] = {}
    gaps = (type(value).__name__ in MISSING or value != value for value in values)
    return np.array(
        [known.setdefault(None if gap else str(value), len(known)) for value, gap in zip(values, gaps, strict=True)]
    )

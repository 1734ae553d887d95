"""How rows should be measured: steps before a method, the metric, and a sample of the rows in those units."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline

from gramfold.advice.asked import Asked, Gaps
from gramfold.advice.columns import Column, Seen, read_columns, rows_of
from gramfold.advice.plan import Item
from gramfold.advice.scaling import Scaling, choose_scaling
from gramfold.advice.texts import written_numbers
from gramfold.advice.trial import ROWS, far_rows
from gramfold.errors import InputError
from gramfold.methods.classical_mds import ClassicalMDS
from gramfold.neighbors.columns import require_numbers
from gramfold.neighbors.mixed import MixedColumns, MixedTable
from gramfold.runtime.counting import counted
from gramfold.types import Floats

_LOOKED = 2_000  # rows of the sample that are scaled and imputed
_IMPUTED_BY_ROWS = 5_000  # rows up to which gaps are imputed from similar rows, which compares all of them
_AXES = 10  # of a map of distances, on which the shape is seen
_SPARSE_AXES = 50
_FEWEST_NUMBERS, _TEXTS_TO_ONE = 2, 2  # columns of numbers that make a map; columns of text for each of them
_FEWEST_DISTANCES = 4  # rows of a matrix of all distances
_SYMMETRIC = 1e-8

TEXT = "it holds text (the metric gower would compare its categories)"
_NO_GAPS = Item("none", "no value is missing")
_EUCLIDEAN = Item("euclidean", "rows are numbers in one unit, or in units made alike")


@dataclass(frozen=True, eq=False)
class Look:
    """How to measure rows, and a sample of them so measured."""

    metric: Item
    gaps: Item
    scaling: Item
    steps: tuple[Any, ...]  # between the table without columns that are left out and the method
    reads: bool  # whether the first of these, or the method, reads the whole table as it is
    rows: Floats  # (m, d)
    width: int  # columns that a map sees


def look_at(seen: Seen, asked: Asked) -> Look:
    """At a table of any kind; numbers are scaled as it was asked for, or as suits them."""
    if is_distances(seen.X):
        return _at_distances(seen)
    if issparse(seen.X):
        return _at_sparse(seen)
    if not asked.mixed and all(one.numbers for one in seen.kept):
        return _at_numbers(seen, asked)
    return _at_mixed(seen, asked)


def is_distances(X: Any) -> bool:
    """Whether a table is a symmetric matrix of distances, 0 on its diagonal alone."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "iuf" or X.shape[0] != X.shape[1]:
        return False
    if len(X) < _FEWEST_DISTANCES or np.diagonal(X).any() or not np.isfinite(X).all() or X.min() < 0:
        return False
    return bool((X > 0).mean() > 0.5 and np.abs(X - X.T).max() <= _SYMMETRIC * X.max())


def measured(seen: Seen, asked: Asked) -> Seen:
    """The same table without columns of text, unless they are most of it or were asked for.

    A category counts as much as a whole range of numbers in Gower's distance, so that rows of one value are a group of
    the map, also where the column has nothing to do with the others: a map of four measurements beside the first names
    of those who took them shows the names. Columns of text that agree with the numbers would show nothing that these do
    not. So the numbers are mapped where there are two of them, and a column for every two of text; where there are
    fewer, text is what the table holds.
    """
    numbers = sum(one.numbers for one in seen.kept)
    texts = len(seen.kept) - numbers
    if asked.mixed or numbers < _FEWEST_NUMBERS or texts > _TEXTS_TO_ONE * numbers:
        return seen
    return seen.without(lambda one: not one.numbers and one.key not in asked.insisted, _why_no_text)


def _why_no_text(column: Column) -> str:
    there = np.array([value for value in column.values if value is not None], dtype=object)
    return written_numbers(there) or TEXT


def sharing(seen: Seen) -> Seen:
    """The same table, without categories where rows share no known column and have no Gower distance."""
    if all(one.numbers for one in seen.columns if one.why_not is None):
        return seen
    few = rows_of(seen.X, seen.sample)
    try:
        MixedColumns.of(MixedTable.of(read_columns(few, [one.position for one in seen.kept]), None, 2))
    except InputError:
        why = "it holds categories, which only Gower's distance reads, and some rows share no known value"
        return seen.without(lambda one: not one.numbers, lambda _: why)
    return seen


def _at_numbers(seen: Seen, asked: Asked) -> Look:
    from sklearn.preprocessing import FunctionTransformer, Normalizer, RobustScaler, StandardScaler

    some = seen.numbers()[:: max(1, len(seen.sample) // _LOOKED)]
    scaling = asked.scaling or choose_scaling(some, [one.shown for one in seen.kept])
    gaps, filled = _gaps(seen.kept, seen.n, asked.gaps)
    fill = () if filled is None else (filled,)
    if gaps.value == "method" and scaling.value == "logarithm":  # a row with gaps has no length
        scaling = Scaling("standardise", "values are counts, of which common ones would be most of the variance")
    if scaling.value == "logarithm":
        steps = (*fill, FunctionTransformer(np.log1p), Normalizer())
    elif scaling.value == "standardise":
        steps = (StandardScaler(), *fill)
        if asked.scaling is None and len(far_rows(make_pipeline(*steps).fit_transform(some))):
            scaling = Scaling(
                "robust", f"{scaling.reason}, and rows far from all others would set the standard deviations"
            )
            steps = (RobustScaler(), *fill)
    elif scaling.value == "robust":
        steps = (RobustScaler(), *fill)
    else:
        steps = fill
    rows = make_pipeline(*steps).fit_transform(some) if steps else some
    kept = Item(scaling.value, scaling.reason)
    return Look(_EUCLIDEAN, gaps, kept, steps, seen.plain, np.asarray(rows), len(seen.kept))


def _gaps(columns: tuple[Column, ...], n: int, asked: Gaps | None) -> tuple[Item, Any]:
    from sklearn.impute import KNNImputer, SimpleImputer

    from gramfold.advice.filling import FillByPPCA

    share = float(np.mean([one.gaps for one in columns]))
    if share == 0.0:
        return _NO_GAPS, None
    having = sum(one.gaps > 0 for one in columns)
    found = f"{share:.1%} of the values are missing, in {counted(having, 'column')}"
    if asked == "keep":
        return Item("method", f"{found}: the method reads them as they are"), None
    if asked == "mean":
        return Item("mean", f"{found}: they are imputed by the mean of the column, as asked for"), SimpleImputer()
    if asked == "ppca":
        return Item("ppca", f"{found}: they are imputed by probabilistic PCA, as asked for"), FillByPPCA()
    if n <= _IMPUTED_BY_ROWS:
        return Item("nearest", f"{found}: they are imputed from the five most similar rows"), KNNImputer()
    why = f"{found}: they are imputed by the median of the column, since to compare all rows takes long"
    return Item("median", why), SimpleImputer(strategy="median")


def _at_mixed(seen: Seen, asked: Asked) -> Look:
    texts = [one for one in seen.kept if not one.numbers]
    why = "it was asked for"
    if not asked.mixed:
        why = (
            f"{counted(len(texts), 'column')} of {len(seen.kept)} hold{'s' * (len(texts) == 1)} text (such as "
            f"{texts[0].shown}), which Gower's distance compares beside numbers: these are too few to be mapped alone"
        )
    metric = Item("gower", why)
    any_gaps = any(one.gaps > 0 for one in seen.kept)
    gaps = Item("metric", "Gower's distance compares what both rows know") if any_gaps else _NO_GAPS
    few = rows_of(seen.X, seen.sample[:: max(1, len(seen.sample) // ROWS)])
    table = read_columns(few, [one.position for one in seen.kept])
    scaling = Item("none", "Gower's distance divides each column by its range")
    return Look(metric, gaps, scaling, (), seen.typed, _axes_of(table, "gower"), len(seen.kept))


def _at_distances(seen: Seen) -> Look:
    some = seen.sample[:: max(1, len(seen.sample) // ROWS)]
    metric = Item("precomputed", "X is symmetric and 0 on its diagonal: distances between all rows")
    nothing = Item("none", "distances have one unit")
    return Look(metric, _NO_GAPS, nothing, (), True, _axes_of(seen.X[np.ix_(some, some)], "precomputed"), seen.n)


def _axes_of(table: Any, metric: str) -> Floats:
    """Rows on the leading axes of their distances."""
    import warnings

    count = min(_AXES, len(table) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of axes that there are not, and of a map that nobody sees
        return np.asarray(ClassicalMDS(count, metric=metric).fit_transform(table), dtype=np.float64)


def _at_sparse(seen: Seen) -> Look:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import FunctionTransformer, Normalizer

    require_numbers(seen.X)
    some = seen.X[seen.sample[:: max(1, len(seen.sample) // _LOOKED)]]
    if not np.isfinite(some.data).all():
        raise InputError("X is sparse and holds NaN or infinity: correct these values.")
    whole = bool(some.nnz and (some.data > 0).all() and np.array_equal(some.data, np.round(some.data)))
    log = (FunctionTransformer(np.log1p, accept_sparse=True),) if whole and (some.data > 1).any() else ()
    steps = (*log, Normalizer())
    rows = make_pipeline(*steps).fit_transform(some.astype(np.float64))
    if min(rows.shape) > 2:
        axes = min(_SPARSE_AXES, min(rows.shape) - 1)
        rows = TruncatedSVD(axes, random_state=0).fit_transform(rows)
    else:
        rows = rows.toarray()
    filled = seen.X.nnz / (seen.n * seen.width)
    words = "counts: logarithms of them, in rows of length 1" if log else "numbers: rows of length 1"
    scaling = Item(
        "logarithm" if log else "length", f"X is sparse, {filled:.2%} of it filled with {words}, as for texts"
    )
    metric = replace(_EUCLIDEAN, reason="between rows of length 1 it orders pairs as the cosine does")
    return Look(metric, _NO_GAPS, scaling, steps, True, np.asarray(rows), seen.width)

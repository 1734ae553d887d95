"""From a fitted model, a pipeline, or rows and their coordinates to what a report is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gramfold.diagnostics import Dimensions, Judged, Stability, dimension, stability
from gramfold.diagnostics.judged import read_places
from gramfold.diagnostics.plain_places import plain_places
from gramfold.embedding import Estimator, FittedMap, Model
from gramfold.embedding.reading import coordinates_of
from gramfold.embedding.written import call_of as step_of
from gramfold.embedding.written import steps_of
from gramfold.errors import GramfoldError, InputError, PrecomputedInputError
from gramfold.neighbors.columns import numeric_table, require_one_order, types_of
from gramfold.report.provenance import call_of, digest_of
from gramfold.report.subject import Subject
from gramfold.runtime.counting import counted
from gramfold.runtime.progress import Stages
from gramfold.types import Floats

NEIGHBORS = 10  # by which maps are judged
_FEWEST = 3  # rows that can be compared
_FARTHEST = float(np.finfo(np.float64).max) / 16  # coordinate up to which distances on the map are numbers
_MOST = 50_000  # rows that are compared: more are drawn from, as for a verdict


@dataclass(frozen=True, eq=False)
class Asked:
    """What a report is asked to hold beside the map."""

    title: str | None = None
    stability: bool = False
    dimension: bool = True
    metric: Any = "euclidean"  # of rows that were given
    metric_params: Mapping[str, Any] | None = None
    n_neighbors: int = NEIGHBORS
    seed: int = 0
    decisions: Sequence[str] = ()
    judged: Judged | None = field(default=None, kw_only=True)  # by whoever has judged the map already


def subject_of(X: Any, Y: Any, rows: Any, asked: Asked, stages: Stages) -> Subject:
    """Of a fitted estimator or pipeline X, or of rows X and coordinates Y.

    `rows` are those that a model was fitted on, or the distances, where it does not keep them.
    """
    given, steps = X, ()
    if isinstance(X, Pipeline):
        *before, X = steps_of(X) or [X]
        steps = tuple(before)
    if isinstance(X, Estimator):
        if Y is not None:
            raise InputError(
                f"Y was given with {type(X).__name__}, which has its own map: leave Y out, or pass the rows and Y."
            )
        return _of_model(X, steps, rows, asked, stages)
    if hasattr(X, "fit"):
        made = f"{type(given).__name__.lower()}.{'transform(rows)' if hasattr(given, 'transform') else 'embedding_'}"
        raise InputError(
            f"{type(X).__name__} is not an estimator of gramfold, so that its rows are not known: pass the rows and "
            f"the coordinates, write_report(path, rows, {made})."
        )
    if rows is not None:
        raise InputError("rows was given with rows X: pass rows with a fitted model only.")
    return _of_map(X, Y, asked, stages)


# --- of a model


def _of_model(model: Any, steps: tuple[Any, ...], rows: Any, asked: Asked, stages: Stages) -> Subject:
    name = type(model).__name__
    check_is_fitted(model, msg="%(name)s is not fitted, so it has no map to report: call fit first.")
    fitted = model.model_
    if fitted.remains is not None:
        raise InputError(
            f"this {name} was saved with compact=True and keeps no map: save it without, or pass rows and their "
            "coordinates, write_report(path, X, model.transform(X))."
        )
    places = getattr(model, "embedding_", None)
    given = rows is not None
    precomputed = bool(fitted.reads.precomputed)
    X = _read_rows(rows, precomputed) if given else _rows_of(fitted)
    metric: Any = "precomputed" if precomputed else getattr(model, "metric", "euclidean")
    n = fitted.n_held if places is None else len(places)
    if X is not None and X.shape[0] != n:
        raise InputError(f"rows has {X.shape[0]} rows, but {name} was fitted on {n}: pass the rows of the fit.")
    if given and precomputed and X.shape != (n, n):
        raise InputError(
            f"rows has shape {X.shape}, but {name} was fitted on values for all pairs of {n} rows: pass these, of "
            f"shape ({n}, {n})."
        )
    measure = {"metric": metric, "metric_params": getattr(model, "metric_params", None)}
    axes: tuple[str, ...] = ()
    made_by = name
    if places is None:  # clusters that are connected components have no map
        places, made_by = _plain_map(X, n, measure, name), f"{name}, drawn by PCA"
        axes = tuple(f"principal component {j + 1}" for j in range(places.shape[1]))
    judged, why = asked.judged, ""
    if judged is None:
        with stages("judging"):
            k = neighbors_for(places, asked.n_neighbors)
            own = isinstance(fitted, Model) and not given
            options = {"n_neighbors": k, "random_state": asked.seed}
            judged, why = _judged(model, None, options) if own else _judged(X, places, {**options, **measure}, name)
    seen = judged.fewer(_MOST) if judged is not None else None
    moved, unmoved = _stability(model, rows, asked, stages)
    return Subject(
        title=asked.title or f"{name} of {counted(len(places), 'row')}",
        model=model,
        Y=np.asarray(places, dtype=np.float64),
        X=X,
        steps=tuple(step_of(step) for step in steps),
        names=_names(fitted, steps, X),
        judged=seen,
        unjudged=why,
        decisions=tuple(asked.decisions),
        call=call_of(model, steps),
        seconds=dict(fitted.timings),
        digest=_digest(X),
        warnings=tuple(fitted.warned),
        stability=moved,
        not_measured=unmoved,
        dimension=_dimension(model if isinstance(fitted, Model) and not given else X, measure, asked, stages),
        seed=asked.seed,
        metric=metric,
        axes=axes or _axes(model, places.shape[1]),
        method=made_by,
    )


def _rows_of(fitted: Any) -> Any:
    """The rows that a fit keeps, in the user's unit; None where it has none."""
    mixed = fitted.columns.mixed
    if isinstance(fitted, Model):
        rows, unit = fitted.source.rows, fitted.source.unit
    else:
        net = getattr(fitted, "net", None)  # of clusters
        points = getattr(getattr(net, "index", None), "points", None)
        if points is None or net is None:
            return None
        rows, unit = points[net.copies.vertex], net.unit
    if rows is None:
        return None
    return _outward(unit, rows) if mixed is None else mixed.decode(rows)


def _outward(unit: Any, rows: Any) -> Any:
    return unit.outward(rows) if unit.power else rows


def _read_rows(rows: Any, precomputed: bool) -> Any:
    table = numeric_table(rows, least_rows=1, name="rows")
    if issparse(table):
        if precomputed:
            raise InputError("rows is a sparse matrix of distances, most of which are not known: pass all of them.")
        return table.tocsr()
    return np.asarray(table, dtype=np.float64)


def _plain_map(X: Any, n: int, measure: Mapping[str, Any], name: str) -> Floats:
    """The map of PCA, for rows that need no map to be clustered."""
    if X is None or n < _FEWEST:
        raise InputError(
            f"{name} found that the clusters are connected components, so there is no map of them: pass rows and "
            "coordinates to draw, write_report(path, X, Y, color=model.labels_)."
        )
    judged = Judged(X, np.zeros((n, 1)), n_neighbors=1, **measure)
    return plain_places(judged, 2)


def _names(fitted: Any, steps: tuple[Any, ...], X: Any) -> tuple[str, ...]:
    """Of the columns of the rows as the method saw them."""
    shown = fitted.columns.shown or fitted.columns.names
    if shown is not None:
        return tuple(map(str, shown))
    if steps and X is not None:
        try:
            found = Pipeline([(str(j), step) for j, step in enumerate(steps)]).get_feature_names_out()
        except (AttributeError, ValueError, TypeError):  # of steps that do not know
            return ()
        if len(found) == X.shape[1] and not all(str(one) == f"x{j}" for j, one in enumerate(found)):
            return tuple(map(str, found))
    return ()


def _axes(model: Any, count: int) -> tuple[str, ...]:
    if hasattr(model, "get_feature_names_out") and isinstance(model.model_, FittedMap):
        names = tuple(str(name) for name in model.get_feature_names_out())
        if len(names) == count:
            return names
    return tuple(f"{type(model).__name__.lower()}{j}" for j in range(count))


def _stability(model: Any, rows: Any, asked: Asked, stages: Stages) -> tuple[Stability | None, str]:
    """How far rows move, or why it is not known."""
    if not asked.stability:
        return None, ""
    if not hasattr(model, "fit_transform"):
        raise InputError(f"{type(model).__name__} makes no map that could be fitted again: leave stability out.")
    with stages("stability"):
        try:
            return stability(model, rows, random_state=asked.seed, progress=stages.progress), ""
        except GramfoldError as error:  # of rows that are not kept as they were, of too few
            return None, str(error)


def _dimension(X: Any, measure: Mapping[str, Any], asked: Asked, stages: Stages) -> Dimensions | None:
    if not asked.dimension or X is None:
        return None
    with stages("dimension"):
        try:
            given = {} if isinstance(X, Estimator) else measure
            return dimension(X, random_state=asked.seed, **given)
        except GramfoldError:  # of few rows, of categories, of distances that are no numbers
            return None


# --- of a map that anybody made


def _of_map(X: Any, Y: Any, asked: Asked, stages: Stages) -> Subject:
    if Y is None:
        raise InputError("Y is missing, so there is no map to report: pass the coordinates, or a fitted model as X.")
    method = type(Y).__name__ if hasattr(Y, "fit") else ""
    Y = coordinates_of(Y, "Y")
    require_one_order(X, Y)
    places = read_places(Y)
    farthest = float(np.abs(places[np.isfinite(places)]).max(initial=0.0))
    if farthest > _FARTHEST:
        raise InputError(f"Y holds coordinates up to {farthest:.1e}, too large to be drawn: divide Y by a constant.")
    axes = [str(name) for name, _ in types_of(Y, "Y")] or [f"coordinate {j + 1}" for j in range(places.shape[1])]
    measure = {"metric": asked.metric, "metric_params": asked.metric_params}
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != len(places):
        raise InputError(
            f"X has {n_rows} rows and Y has {len(places)}: pass the rows that the map was made of, in the same order."
        )
    judged, why = asked.judged, ""
    if judged is None:
        with stages("judging"):
            if int(np.isfinite(places).all(axis=1).sum()) < _FEWEST:
                why = _too_few(places)
            else:
                k = neighbors_for(places, asked.n_neighbors)
                judged = Judged(X, places, n_neighbors=k, random_state=asked.seed, **measure)
    rows = X if issparse(X) else np.asarray(X)
    precomputed = isinstance(asked.metric, str) and asked.metric.lower() == "precomputed"
    names = () if precomputed else tuple(str(name) for name, _ in types_of(X))
    return Subject(
        title=asked.title or f"Map of {counted(len(places), 'row')}",
        model=None,
        Y=places,
        X=rows,
        names=names,
        judged=None if judged is None else judged.fewer(_MOST),
        unjudged=why,
        decisions=tuple(asked.decisions),
        digest=_digest(rows),
        dimension=_dimension(rows, measure, asked, stages),
        seed=asked.seed,
        metric=asked.metric,
        axes=tuple(axes),
        method=method,
    )


# --- of both


def neighbors_for(places: Floats, asked: int) -> int:
    """By how many neighbours a map is judged: at most a third of its rows."""
    placed = int(np.isfinite(places).all(axis=1).sum())
    return max(1, min(asked, placed // 3))


def _judged(X: Any, Y: Any, options: Mapping[str, Any], name: str = "") -> tuple[Judged | None, str]:
    """The comparison, or why there is none."""
    not_kept = (
        f"The map was not judged: {name or type(X).__name__} does not keep the rows or distances that it was fitted "
        "on. Pass them as rows, and the report has it all."
    )
    if X is None:
        return None, not_kept
    try:
        return Judged(X, Y, **options), ""
    except PrecomputedInputError:
        return None, not_kept
    except GramfoldError as error:
        return None, f"The map was not judged: {error}"


def _too_few(places: Floats) -> str:
    placed = int(np.isfinite(places).all(axis=1).sum())
    return (
        f"The map was not judged: it has {counted(placed, 'row')} with coordinates, and a comparison needs {_FEWEST}."
    )


def _digest(X: Any) -> str:
    return "" if X is None or X.dtype == object else digest_of(X)  # which decoding may have rounded

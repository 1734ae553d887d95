"""Fits in memory of rows that were drawn from partitions; all other rows are embedded out-of-sample, where they are."""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.distributed.partitions import Partitions
from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Drawn, Fitted
from gramfold.errors import InputError
from gramfold.graph.neighbor_graph import Find, found_here
from gramfold.neighbors.columns import is_dask
from gramfold.neighbors.loud import warn_of_loud_columns
from gramfold.neighbors.metrics import reads_mixed
from gramfold.types import Floats, Integers


def fit_sampled(estimator: Any, rows: Partitions, extras: Mapping[str, Any]) -> Fitted:
    """Kernel eigenmaps and LPP: at most `graph_rows` rows are drawn for the graph; with no more than that it is of all.

    The map is a function of the columns, so that nothing else is asked of the other rows.
    """
    if extras.get("affinity") is not None:
        raise InputError(
            f"{type(estimator).__name__} of rows in partitions takes no affinity, whose edges are between rows of one "
            "table: leave it out, or fit to a sample in memory with the affinity of its rows."
        )
    require_numbers(estimator)
    numbers = rows.drawn(estimator.graph_rows, check_random_state(estimator.random_state))
    reads_classes = estimator.__sklearn_tags__().target_tags.required
    y = labels_of(extras.get("y"), rows, numbers) if reads_classes else None
    return fitted_on(estimator, rows, numbers, y=y)


def require_numbers(estimator: Any) -> None:
    """Refuse what reads no rows of numbers."""
    for parameter in ("metric", "weights", "kernel"):
        value = getattr(estimator, parameter, None)
        if (isinstance(value, str) and value == "precomputed") or reads_mixed(value):
            raise InputError(
                f"{type(estimator).__name__} of rows in partitions reads rows of numbers, which {parameter}={value!r} "
                "does not: use another, or a table in memory."
            )


def fitted_on(estimator: Any, rows: Partitions, numbers: Integers, **more: Any) -> Fitted:
    """The model of the estimator on the rows of these ascending numbers; `more` as for `fitted_to`."""
    return fitted_to(estimator, rows.take(numbers), Drawn(rows.n_rows, numbers), rows, **more)


def fitted_to(
    estimator: Any,
    table: Floats,
    drawn: Drawn,
    rows: Partitions,
    *,
    y: Any = None,
    find: Find = found_here,
    **changed: Any,
) -> Fitted:
    """The model of the estimator, with some parameters changed, on a table that was drawn from these rows.

    It is what the class itself makes of the table in memory; `y` are its labels, and `find` finds its neighbours. The
    estimator stays as it is.
    """
    alone = copy(estimator).set_params(**changed)
    model: Fitted = alone._build(fit_of(alone, table, rows, y=y, find=find))  # noqa: SLF001  of every estimator
    return replace(model, drawn=drawn)


def fit_of(estimator: Any, table: Floats, rows: Partitions, *, y: Any = None, find: Find = found_here) -> Fit:
    """A fit of the estimator to a table that was drawn from these rows."""
    extras: Mapping[str, Any] = {"affinity": None}
    fit = Fit.of(estimator, table, y, estimator._reads(), extras)  # noqa: SLF001  likewise
    names = rows.reader.names
    columns = replace(fit.columns, names=names, shown=names)
    warn_of_loud_columns(estimator, fit.X, names, given_graph=False, in_parts=True)
    return replace(fit, columns=columns, stages=rows.stages, find=find, fewer="use graph_rows={}")


def labels_of(y: Any, rows: Partitions, numbers: Integers) -> Any:
    """Of the rows of these ascending numbers: `y` is in memory, or a Dask collection of the same partitions as X."""
    if y is None:
        return None
    if is_dask(y):
        return _labels_in_parts(y, rows, numbers)
    labels = np.asarray(y)
    if labels.shape != (rows.n_rows,):
        raise InputError(
            f"y has the shape {labels.shape}, but X has {rows.n_rows:,} rows: pass one class for each row."
        )
    return labels[numbers]


def _labels_in_parts(y: Any, rows: Partitions, numbers: Integers) -> Any:
    from dask import delayed

    from gramfold.distributed.running import computed

    parts = np.ravel(y.to_delayed()).tolist()
    if len(parts) != len(rows):
        raise InputError(
            f"y has {len(parts)} partitions and X has {len(rows)}: pass a y whose partitions are those of X, such as a "
            "column of the same dataframe."
        )
    pick = delayed(_picked, pure=False)
    wanted = zip(parts, rows.sizes, rows.places_of(numbers), strict=True)
    tasks = [pick(part, i, int(size), inside) for i, (part, size, inside) in enumerate(wanted)]
    return np.concatenate(computed(tasks, "labels", getattr(rows, "client", None), rows.stages))


def _picked(part: Any, number: int, size: int, inside: Integers) -> Any:
    labels = np.asarray(part)
    if labels.shape != (size,):
        raise InputError(
            f"partition {number} of y has the shape {labels.shape}, but that of X has {size:,} rows: pass one class "
            "for each row."
        )
    return labels[inside]

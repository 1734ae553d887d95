"""Fits in memory of rows that were drawn from partitions; all other rows are embedded out-of-sample, where they are."""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from gramfold.distributed.partitions import Partitions
from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Drawn, Fitted
from gramfold.graph.neighbor_graph import Find, found_here
from gramfold.neighbors.loud import warn_of_loud_columns
from gramfold.types import Floats, Integers


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
    extras: Mapping[str, Any] = {"affinity": None}
    fit = Fit.of(alone, table, y, alone._reads(), extras)  # noqa: SLF001  of every estimator
    names = rows.reader.names
    columns = replace(fit.columns, names=names, shown=names)
    fit = replace(fit, columns=columns, stages=rows.stages, find=find, fewer="use graph_rows={}")
    warn_of_loud_columns(alone, fit.X, names, given_graph=False)
    model: Fitted = alone._build(fit)  # noqa: SLF001  likewise
    return replace(model, drawn=drawn)

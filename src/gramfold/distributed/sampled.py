"""Fits in memory of rows that were drawn from partitions; all other rows are embedded out-of-sample, where they are."""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from gramfold.distributed.partitions import Partitions
from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Drawn, Fitted, FittedMap
from gramfold.neighbors.loud import warn_of_loud_columns
from gramfold.types import Integers


def fitted_on(estimator: Any, rows: Partitions, numbers: Integers, *, y: Any = None, **changed: Any) -> Fitted:
    """The model of the estimator, with some parameters changed, on the rows of these ascending numbers.

    It is what the class itself makes of them in memory; `y` are labels of theirs. The estimator stays as it is.
    """
    table = rows.take(numbers)
    alone = copy(estimator).set_params(**changed)
    extras: Mapping[str, Any] = {"affinity": None}
    fit = Fit.of(alone, table, y, alone._reads(), extras)  # noqa: SLF001  of every estimator
    names = rows.reader.names
    fit = replace(fit, columns=replace(fit.columns, names=names, shown=names), stages=rows.stages)
    warn_of_loud_columns(alone, fit.X, names, given_graph=False)
    model: Fitted = alone._build(fit)  # noqa: SLF001  likewise
    return replace(model, drawn=Drawn(rows.n_rows, numbers)) if isinstance(model, FittedMap) else model

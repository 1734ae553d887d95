"""Tables in partitions are judged by rows that are drawn from them, and compared with each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.diagnostics.randomness import drawn_from
from gramfold.embedding import Estimator, FittedMap
from gramfold.errors import InputError
from gramfold.neighbors.partitioned import is_partitioned
from gramfold.types import Integers

MOST = 10_000  # rows that are drawn: neighbours of a row are sought among them


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of two tables of which at least one is in partitions, or of one table."""

    n_rows: int  # in all partitions
    numbers: Integers  # of the rows, counted through all partitions
    X: Any
    Y: Any = None


def drawn_rows(X: Any, Y: Any = None, *, random_state: Any = 0, metric: Any = "euclidean") -> Drawn | None:
    """The rows that stand for these tables; None where both are in memory."""
    if not (is_partitioned(X) or is_partitioned(Y)):
        return None
    if isinstance(X, Estimator):
        raise InputError(
            f"Y is in partitions, but {type(X).__name__} holds the rows it was fitted on, and not those of Y: pass the "
            "rows of the map as X."
        )
    if isinstance(metric, str) and metric in {"precomputed", "gower"}:
        raise InputError(
            f"rows in partitions are rows of numbers, which metric={metric!r} does not read: use another metric, or a "
            "sample in memory."
        )
    from gramfold.distributed import drawn_together

    tables = {"X": X} if Y is None else {"X": X, "Y": Y}
    found = drawn_together(tables, MOST, drawn_from(random_state))
    return Drawn(found.n_rows, found.numbers, *found.tables)


def drawn_of_model(estimator: Any) -> Drawn | None:
    """Which rows a model holds, where it was fitted to rows in partitions."""
    model = getattr(estimator, "model_", None)
    drawn = model.drawn if isinstance(model, FittedMap) else None
    return None if drawn is None else Drawn(drawn.n_rows, np.asarray(drawn.rows), None)

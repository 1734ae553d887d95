"""The column of a table that holds the weights of its rows (`sample_weight`), and not data."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.cli.options import read_input
from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Table


def check_weighed(model: Any, weight: str | None) -> None:
    """Raise an error for weights that the model does not use."""
    from sklearn.utils.validation import has_fit_parameter

    if weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise InputError(
            f"{type(model).__name__} does not use weights of rows: leave out --sample-weight. Use --skip {weight} to "
            "leave out the column."
        )


def read_weighed(
    source: Path,
    model: Any,
    written: dict[str, Any],
    columns: list[str] | None,
    skip: list[str] | None,
    labels: str | None,
    weight: str | None,
) -> tuple["Table", Any]:
    """INPUT as `read_input` reads it, without the column of the weights; and the weights, None where none are named."""
    from gramfold.io import read_sparse, read_table

    if weight is None:
        return read_input(source, model, written, columns, skip, labels), None
    if read_sparse(source) is not None:
        raise InputError(f"'{source}' is a sparse matrix, which has no column names: leave out --sample-weight.")
    if weight == labels:
        raise InputError(f"column '{weight}' cannot be both --labels and --sample-weight: name two columns.")
    if columns is not None and weight in columns:
        raise InputError(f"column '{weight}' holds weights and is not data: leave it out of --columns.")
    if source.suffix == ".npz":  # it may be an array beside the table
        table = read_input(source, model, written, columns, skip, labels)
        return _without(table, weight), read_table(source, labels=weight, **written).labels
    left_out = [*(skip or []), *([weight] if columns is None and weight not in (skip or []) else [])]
    table = read_input(source, model, written, columns, left_out or None, labels)
    return table, read_table(source, columns=[weight], **written).values[:, 0]


def account_of_weights(weights: Any, weight: str | None) -> list[str]:
    """Summary line of the weights."""
    if weights is None:
        return []
    return [f"weights   of the rows, by column '{weight}' (in all {float(weights.sum()):,.6g})"]


def _without(table: "Table", name: str) -> "Table":
    """The table without a column, if it has one of this name."""
    import numpy as np

    if name not in table.names:
        return table
    kept = [j for j, other in enumerate(table.names) if other != name]
    return replace(table, values=np.ascontiguousarray(table.values[:, kept]), names=[table.names[j] for j in kept])

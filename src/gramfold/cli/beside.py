"""What a fit takes beside the rows (classes, distorted versions, pair weights), and whether a method uses it."""

import inspect
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Table


def check_use(model: Any, labels: str | None, distorted: Sequence[Path], pair_weights: Path | None = None) -> None:
    """Refuse what the model would not use, and what it needs and was not given."""
    # whether it looks at classes may depend on a parameter, which may be misspelt
    model._validate_params()  # noqa: SLF001 - scikit-learn has no public name for it
    name = type(model).__name__
    # every fit takes a y for scikit-learn's sake: only a model that requires one looks at it
    needs_labels = model.__sklearn_tags__().target_tags.required
    if labels is not None and not needs_labels:
        raise InputError(
            f"{name} with these parameters does not look at classes, so --labels means nothing to it: use "
            f"--skip {shlex.quote(labels)} if that column is only to be left out of the map."
        )
    if labels is None and needs_labels:
        raise InputError(
            f"{name} with these parameters needs the class of each row: name the column that holds it with --labels."
        )
    taken = inspect.signature(model.fit).parameters
    if distorted and "X_distorted" not in taken:
        raise InputError(
            f"{name} does not learn from distorted rows, so --distorted means nothing to it: leave it out."
        )
    if pair_weights is not None and "pair_weights" not in taken:
        raise InputError(
            f"{name} has no weights for pairs of rows, so --pair-weights means nothing to it: leave it out, or use "
            "--method ordinal_mds."
        )


def read_beside(
    table: "Table", distorted: Sequence[Path], written: dict[str, Any], pair_weights: Path | None = None
) -> dict[str, Any]:
    """The arguments of fit beside X: the labels of the table; distorted versions and pair weights from other files.

    `written` is how text files are read.
    """
    beside: dict[str, Any] = {} if table.labels is None else {"y": table.labels}
    if distorted:
        import numpy as np

        beside["X_distorted"] = np.stack([_version(table, path, written) for path in distorted])
    if pair_weights is not None:
        beside["pair_weights"] = _weights(table, pair_weights, written)
    return beside


def account_of(table: "Table", labels: str | None, distorted: Sequence[Path], pair_weights: Any = None) -> list[str]:
    """What was learned from beside the rows, in words."""
    lines = []
    if table.labels is not None:
        import numpy as np

        lines.append(f"classes   {len(np.unique(table.labels)):,}, by column '{labels}'")
    if distorted:
        lines.append(f"noise     of {len(distorted)} distorted version{'s' * (len(distorted) != 1)} of the rows")
    if pair_weights is not None:
        import numpy as np

        n, weighted = len(pair_weights), np.count_nonzero(np.triu(pair_weights, 1))
        lines.append(f"weights   of {weighted:,} of {n * (n - 1) // 2:,} pairs of rows")
    return lines


def _read(path: Path, written: dict[str, Any], **how: Any) -> "Table":
    from gramfold.io import is_text, read_table

    return read_table(path, **how, **(written if is_text(path) else {}))


def _weights(table: "Table", path: Path, written: dict[str, Any]) -> Any:
    """A square table, with a row and a column for each row of the table."""
    weights, n = _read(path, written).values, len(table.values)
    if weights.shape != (n, n):
        raise InputError(
            f"'{path}' has {weights.shape[0]:,} rows and {weights.shape[1]:,} columns and '{table.source}' has {n:,} "
            "rows: pair weights have a row and a column for each row of the table, in the same order."
        )
    return weights


def _version(table: "Table", path: Path, written: dict[str, Any]) -> Any:
    """The columns of the table, by their names, from another file."""
    version = _read(path, written, columns=table.names)
    if len(version.values) != len(table.values):
        raise InputError(
            f"'{path}' has {len(version.values):,} rows and '{table.source}' has {len(table.values):,}: a distorted "
            "version has a row for each row of the table, in the same order."
        )
    return version.values

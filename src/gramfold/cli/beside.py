"""What a fit takes beside the rows, classes and distorted versions of them, and whether a method has any use for it."""

import inspect
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Table


def check_use(model: Any, labels: str | None, distorted: Sequence[Path]) -> None:
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
    if distorted and "X_distorted" not in inspect.signature(model.fit).parameters:
        raise InputError(
            f"{name} does not learn from distorted rows, so --distorted means nothing to it: leave it out."
        )


def read_beside(table: "Table", distorted: Sequence[Path], written: dict[str, Any]) -> dict[str, Any]:
    """The arguments of fit beside X: the labels of the table, and its distorted versions from files of their own.

    `written` says how text files are to be read.
    """
    beside: dict[str, Any] = {} if table.labels is None else {"y": table.labels}
    if distorted:
        import numpy as np

        beside["X_distorted"] = np.stack([_version(table, path, written) for path in distorted])
    return beside


def account_of(table: "Table", labels: str | None, distorted: Sequence[Path]) -> list[str]:
    """What was learned from beside the rows, in words."""
    lines = []
    if table.labels is not None:
        import numpy as np

        lines.append(f"classes   {len(np.unique(table.labels)):,}, by column '{labels}'")
    if distorted:
        lines.append(f"noise     of {len(distorted)} distorted version{'s' * (len(distorted) != 1)} of the rows")
    return lines


def _version(table: "Table", path: Path, written: dict[str, Any]) -> Any:
    """The columns of the table, by their names, from another file."""
    from gramfold.io import is_text, read_table

    version = read_table(path, columns=table.names, **(written if is_text(path) else {}))
    if len(version.values) != len(table.values):
        raise InputError(
            f"'{path}' has {len(version.values):,} rows and '{table.source}' has {len(table.values):,}: a distorted "
            "version has a row for each row of the table, in the same order."
        )
    return version.values

"""Arguments of fit other than X: class labels, distorted versions, weights of pairs, a graph."""

import inspect
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Table


# Square matrices, by the argument of fit: why a method does not take one, and a method that does.
SQUARES = {
    "pair_weights": ("does not use weights of pairs", "ordinal_mds"),
    "affinity": ("does not take a graph in addition to the rows", "lpp or --method kernel_eigenmaps"),
}


def check_use(
    model: Any, labels: str | None, distorted: Sequence[Path], squares: Mapping[str, Path] | None = None
) -> None:
    """Raise an error for arguments that the model does not use, and for missing class labels."""
    # whether it uses classes may depend on a parameter, which may be misspelt
    model._validate_params()  # noqa: SLF001 - scikit-learn has no public name for it
    name = type(model).__name__
    # every fit takes a y, as in scikit-learn: only a model that requires one uses it
    needs_labels = model.__sklearn_tags__().target_tags.required
    if labels is not None and not needs_labels:
        raise InputError(
            f"{name} with these parameters does not use class labels: leave out --labels. Use --skip "
            f"{shlex.quote(labels)} to leave out the column."
        )
    if labels is None and needs_labels:
        raise InputError(
            f"{name} with these parameters needs the class of each row: name the column of the classes with --labels."
        )
    taken = inspect.signature(model.fit).parameters
    if distorted and "X_distorted" not in taken:
        raise InputError(f"{name} does not use distorted rows: leave out --distorted, or use --method oriented_pca.")
    for argument in squares or {}:
        if argument not in taken:
            reason, other = SQUARES[argument]
            option = f"--{argument.replace('_', '-')}"
            raise InputError(f"{name} {reason}: leave out {option}, or use --method {other}.")


def read_beside(
    table: "Table", distorted: Sequence[Path], written: dict[str, Any], squares: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """The arguments of fit other than X: the labels of the table; distorted versions and matrices of other files.

    `written` is how text files are read.
    """
    beside: dict[str, Any] = {} if table.labels is None else {"y": table.labels}
    if distorted:
        import numpy as np

        beside["X_distorted"] = np.stack([_version(table, path, written) for path in distorted])
    for argument, path in (squares or {}).items():
        beside[argument] = _square(table, path, written)
    return beside


def account_of(table: "Table", labels: str | None, distorted: Sequence[Path], beside: Mapping[str, Any]) -> list[str]:
    """Summary lines of what was used in addition to the rows."""
    lines = []
    if table.labels is not None:
        import numpy as np

        lines.append(f"classes   {len(np.unique(table.labels)):,}, by column '{labels}'")
    if distorted:
        lines.append(f"noise     of {len(distorted)} distorted version{'s' * (len(distorted) != 1)} of the rows")
    n = table.values.shape[0]
    if "pair_weights" in beside:
        lines.append(f"weights   of {_pairs(beside['pair_weights']):,} of {n * (n - 1) // 2:,} pairs of rows")
    if "affinity" in beside:
        lines.append(f"graph     given, {_pairs(beside['affinity']):,} edges")
    return lines


def _pairs(weights: Any) -> int:
    """The number of pairs of rows whose weight is not 0."""
    from scipy.sparse import coo_array

    entries = coo_array(weights)
    return int(((entries.data != 0) & (entries.row < entries.col)).sum())


def _read(path: Path, written: dict[str, Any], **how: Any) -> "Table":
    from gramfold.cli.map_file import how_read
    from gramfold.io import read_table

    return read_table(path, **how, **how_read(path, written))


def _square(table: "Table", path: Path, written: dict[str, Any]) -> Any:
    """A square matrix, dense or sparse, with a row and a column for each row of the table."""
    from gramfold.io import read_sparse

    sparse: Any = read_sparse(path)
    matrix, n = _read(path, written).values if sparse is None else sparse, table.values.shape[0]
    if matrix.shape != (n, n):
        raise InputError(
            f"'{path}' has {matrix.shape[0]:,} rows and {matrix.shape[1]:,} columns, but '{table.source}' has {n:,} "
            "rows: pass a matrix with a row and a column for each row of the table, in the same order."
        )
    return matrix


def _version(table: "Table", path: Path, written: dict[str, Any]) -> Any:
    """The columns of the table, by their names, from another file."""
    version = _read(path, written, columns=table.names)
    n = table.values.shape[0]
    if len(version.values) != n:
        raise InputError(
            f"'{path}' has {len(version.values):,} rows, but '{table.source}' has {n:,}: pass a distorted version of "
            "every row, in the same order."
        )
    return version.values

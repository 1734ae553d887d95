"""What a fit takes beside the rows (classes, distorted versions, weights of pairs), and whether a method uses it."""

import inspect
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Table


# Square matrices, by the argument of fit: what a method lacks that does not take one, and a method that does.
SQUARES = {
    "pair_weights": ("has no weights for pairs of rows", "ordinal_mds"),
    "affinity": ("takes no given graph", "lpp or --method kernel_eigenmaps"),
}


def check_use(
    model: Any, labels: str | None, distorted: Sequence[Path], squares: Mapping[str, Path] | None = None
) -> None:
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
    for argument in squares or {}:
        if argument not in taken:
            lack, other = SQUARES[argument]
            raise InputError(
                f"{name} {lack}, so --{argument.replace('_', '-')} means nothing to it: leave it out, or use --method "
                f"{other}."
            )


def read_beside(
    table: "Table", distorted: Sequence[Path], written: dict[str, Any], squares: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """The arguments of fit beside X: the labels of the table; distorted versions and square matrices of other files.

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
    """What was learned from beside the rows, in words."""
    lines = []
    if table.labels is not None:
        import numpy as np

        lines.append(f"classes   {len(np.unique(table.labels)):,}, by column '{labels}'")
    if distorted:
        lines.append(f"noise     of {len(distorted)} distorted version{'s' * (len(distorted) != 1)} of the rows")
    n = len(table.values)
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
    from gramfold.io import is_text, read_table

    return read_table(path, **how, **(written if is_text(path) else {}))


def _square(table: "Table", path: Path, written: dict[str, Any]) -> Any:
    """A square matrix, dense or sparse, with a row and a column for each row of the table."""
    sparse = _read_sparse(path)
    matrix, n = _read(path, written).values if sparse is None else sparse, len(table.values)
    if matrix.shape != (n, n):
        raise InputError(
            f"'{path}' has {matrix.shape[0]:,} rows and {matrix.shape[1]:,} columns and '{table.source}' has {n:,} "
            "rows: pass a matrix with a row and a column for each row of the table, in the same order."
        )
    return matrix


def _read_sparse(path: Path) -> Any:
    """The matrix of a file of scipy.sparse.save_npz; None for any other file."""
    from zipfile import BadZipFile, ZipFile

    from scipy.sparse import load_npz

    if path.suffix.lower() != ".npz":
        return None
    try:
        with ZipFile(path) as archive:
            if "format.npy" not in archive.namelist():
                return None
        return load_npz(path)
    except (BadZipFile, OSError):
        return None  # told in the words of all tables
    except Exception as error:  # damaged bytes make a parser raise anything
        raise InputError(
            f"'{path}' is not a readable sparse matrix ({error}): save it again with scipy.sparse.save_npz."
        ) from error


def _version(table: "Table", path: Path, written: dict[str, Any]) -> Any:
    """The columns of the table, by their names, from another file."""
    version = _read(path, written, columns=table.names)
    if len(version.values) != len(table.values):
        raise InputError(
            f"'{path}' has {len(version.values):,} rows and '{table.source}' has {len(table.values):,}: a distorted "
            "version has a row for each row of the table, in the same order."
        )
    return version.values

"""Columns of a file that go beside coordinates or rows in another: ids, and those of --keep."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Columns, Ids

ALL = "all"


def kept_names(table: "Columns", keep: Sequence[str] | None, by: str | None) -> list[str]:
    """Names that --keep means; `all` are all but the ids."""
    if keep is None:
        return []
    names = list(table.names) if list(keep) == [ALL] and ALL not in table.names else list(dict.fromkeys(keep))
    for name in names:
        table.place(name)  # an error for one that is not there, or twice
    return [name for name in names if name != by]


def ids_of(table: "Columns", by: str | None) -> "Ids | None":
    """The column that names the rows, as it is written."""
    if by is None:
        return None
    import numpy as np

    from gramfold.io import Ids
    from gramfold.io.selection import require_labels

    j = table.place(by)
    words = table.words_at(j) if table.lines is None else table.lines.labels(j)
    require_labels(np.array(words, dtype=np.str_), by, f"'{table.source}'")
    return Ids(by, words)


def columns_beside(table: "Columns", names: Sequence[str]) -> dict[str, Any]:
    """These columns as they are to be written: numbers as numbers, but 007 as it is."""
    return {name: _written(table, name) for name in names}


def _written(table: "Columns", name: str) -> Any:
    from gramfold.io import Ids
    from gramfold.io.mixed import as_column

    kind, words = table.kind(table.place(name)), table.words(name)
    if kind == "number" and "" not in words:
        whole = Ids(name, words).typed()
        zeros = any(word.startswith("0") and word[1:].isdigit() for word in words)
        return whole if whole.dtype.kind == "i" or zeros else table.column(name)
    if kind in ("number", "date"):
        return table.column(name)
    return as_column([word or None for word in words])


def require_free(names: Sequence[str], taken: Sequence[str], option: str) -> None:
    """Raise an error for columns that have the name of one that is written."""
    double = [name for name in names if name in taken]
    if double:
        raise InputError(f"column '{double[0]}' is also written by gramfold: leave it out of {option}, or rename it.")

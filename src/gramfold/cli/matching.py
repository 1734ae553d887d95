"""A table and a map of its rows in two files, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import HeaderWarning, InputError

if TYPE_CHECKING:
    from gramfold.io import Table


@dataclass(frozen=True, eq=False)
class MappedTable:
    """Rows of a table that a map has places for."""

    values: Any  # (m, d)
    places: Any  # (m, p)
    labels: Any  # (m,) or None
    rows: Any  # (m,) which of the table they are
    n_rows: int  # of the table
    names: list[str]  # of the coordinates
    repeated: list[str]  # columns of the map that the table has too
    columns: list[str]  # of the table

    def account(self) -> list[str]:
        """Summary lines: which columns are coordinates, which rows are left out."""
        lines = [f"map       columns {', '.join(self.names)}"]
        if self.repeated:
            lines[0] += f"; not {', '.join(self.repeated)}, which the table has too"
        if len(self.rows) < self.n_rows:
            lines.append(f"left out  {self.n_rows - len(self.rows):,} rows of the table that the map does not have")
        return lines


def read_map(
    source: Path,
    placed: Path,
    by: str | None,
    labels: str | None,
    metric: str,
    columns: Sequence[str] | None,
    skip: Sequence[str] | None,
    map_columns: Sequence[str] | None,
    written: dict[str, Any],
) -> MappedTable:
    """The rows of a table, and their coordinates on a map; matched by the column `by`, else by order."""
    table = read_data(source, by, labels, metric, columns, skip, written)
    return matched(table, source, placed, by, metric, map_columns, written)


def matched(
    table: "Table",
    source: Path,
    placed: Path,
    by: str | None,
    metric: str,
    map_columns: Sequence[str] | None,
    written: dict[str, Any],
) -> MappedTable:
    """The same of a table that was read."""
    import numpy as np
    from scipy.sparse import issparse

    n = table.values.shape[0]
    known = set() if issparse(table.values) else {*table.names, *_names(source, written)}
    if metric == "precomputed" and table.values.shape[1] != n:
        raise InputError(
            f"'{source}' has {n:,} rows and {table.values.shape[1]:,} columns, but precomputed distances are a "
            "square matrix: leave out other columns with --skip, or use another metric."
        )
    names, repeated, places = _coordinates(placed, known, by, map_columns, written)
    if by is None:
        _require_same_order(source, placed, repeated, table, written)
        if len(places) != n:
            raise InputError(
                f"'{source}' has {n:,} rows and '{placed}' has {len(places):,}, so rows cannot be matched by order: "
                "name a column that both have with --id."
            )
        mine = theirs = np.arange(n)
    else:
        mine, theirs = _in_common(source, placed, by, written)
    values = table.values[mine]
    if metric == "precomputed":
        values = values[:, mine]
    classes = None if table.labels is None else table.labels[mine]
    return MappedTable(values, places[theirs], classes, mine, n, names, repeated, table.names)


def read_data(
    source: Path,
    by: str | None,
    labels: str | None,
    metric: str,
    columns: Sequence[str] | None,
    skip: Sequence[str] | None,
    written: dict[str, Any],
) -> "Table":
    """The rows, without the column that names them."""
    from gramfold.io import Table, read_sparse, read_table
    from gramfold.neighbors.metrics import reads_mixed

    matrix: Any = read_sparse(source)
    if matrix is not None:
        if by is not None or labels is not None or columns or skip:
            raise InputError(
                f"'{source}' is a sparse matrix, which has no column names: leave out --id and the others."
            )
        return Table(matrix, [], source)
    left_out = [*(skip or []), *([] if by is None or by == labels else [by])]
    mixed = reads_mixed(metric)
    return read_table(
        source,
        columns=columns,
        skip=left_out or None,
        labels=labels,
        missing=mixed,
        text=mixed,
        **_how(source, written),
    )


def _coordinates(
    placed: Path, known: set[str], by: str | None, chosen: Sequence[str] | None, written: dict[str, Any]
) -> tuple[list[str], list[str], Any]:
    """Names of the coordinates, of columns that the table has too, and the coordinates (n, p)."""
    import numpy as np

    from gramfold.io import read_table

    how = _how(placed, written)
    if chosen:
        found = read_table(placed, columns=chosen, missing=True, **how)
        return found.names, [], found.values
    names = _names(placed, written)
    repeated = [name for name in names if name in known and name != by]
    if names and len(repeated) + (by in names) == len(names):
        raise _no_coordinates(placed)
    left_out = [*repeated, *([by] if by in names else [])]
    found = read_table(placed, skip=left_out or None, text=True, missing=True, **how)
    taken = [column for column in range(len(found.names)) if _numeric(found.values[:, column])]
    if not taken:
        raise _no_coordinates(placed)
    places = np.array([[np.nan if v is None else v for v in row] for row in found.values[:, taken]], dtype=np.float64)
    return [found.names[column] for column in taken], repeated, places


def _no_coordinates(placed: Path) -> InputError:
    return InputError(
        f"'{placed}' has no column of numbers that the table does not have too, so its coordinates are not known: name "
        "them with --map-columns."
    )


def _names(path: Path, written: dict[str, Any]) -> list[str]:
    """Names of all columns of a file; none where they are made up, as those of arrays are."""
    from gramfold.io import names_in

    names = names_in(path, **_how(path, written))
    return [] if names == [f"x{column}" for column in range(len(names))] else names


def _how(path: Path, written: dict[str, Any]) -> dict[str, Any]:
    """How a file is read, where it is text."""
    from gramfold.io import is_text

    return written if is_text(path) else {}


def _numeric(values: Any) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, Real) for value in known)


def _require_same_order(
    source: Path, placed: Path, repeated: Sequence[str], table: "Table", written: dict[str, Any]
) -> None:
    """Rows are matched by order: refuse names of rows that are in another, and say so of those that are data."""
    from gramfold.io import read_table
    from gramfold.runtime.warning import warn

    if not repeated:
        return
    both = [
        read_table(path, columns=repeated, text=True, missing=True, **_how(path, written)) for path in (source, placed)
    ]
    for column, name in enumerate(repeated):
        ours, theirs = ([str(value) for value in one.values[:, column]] for one in both)
        if len(set(ours)) < len(ours) or set(ours) != set(theirs):
            continue  # it does not name rows
        if ours != theirs:
            raise InputError(
                f"'{source}' and '{placed}' have the same values of '{name}' in another order, so row by row they do "
                f"not belong together: match them with --id {name}."
            )
        if name in table.names and all(float(value).is_integer() for value in ours):
            warn(
                f"column '{name}' has another whole number in each row of both files and counts as data: if it names "
                f"the rows, use --id {name}.",
                HeaderWarning,
            )


def _column(path: Path, name: str, written: dict[str, Any]) -> list[str]:
    from gramfold.io import read_table

    found = read_table(path, labels=name, text=True, missing=True, **_how(path, written)).labels
    assert found is not None  # they were asked for
    return [str(one) for one in found]


def _in_common(source: Path, placed: Path, by: str, written: dict[str, Any]) -> tuple[Any, Any]:
    """Rows of the table and of the map that have the same value in a column."""
    import numpy as np

    ours, theirs = (_ids(path, by, written) for path in (source, placed))
    places = {name: row for row, name in enumerate(theirs)}
    pairs = [(row, places[name]) for row, name in enumerate(ours) if name in places]
    if len(pairs) < 3:
        raise InputError(
            f"'{source}' and '{placed}' have {len(pairs)} values of '{by}' in common, so hardly a row can be matched: "
            "check that --id names the same column in both."
        )
    mine, others = np.array(pairs).T
    return mine, others


def _ids(path: Path, by: str, written: dict[str, Any]) -> list[str]:
    names = _column(path, by, written)
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"'{path}' has the value '{double}' of '{by}' more than once, so rows cannot be matched by it: remove the "
            "copies, or use another column."
        )
    return names

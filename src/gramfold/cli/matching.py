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
    import numpy as np

    table = _table(source, by, labels, metric, columns, skip, written)
    n = table.values.shape[0]
    if metric == "precomputed" and table.values.shape[1] != n:
        raise InputError(
            f"'{source}' has {n:,} rows and {table.values.shape[1]:,} columns, but precomputed distances are a "
            "square matrix: leave out other columns with --skip, or use another metric."
        )
    names, repeated, places = _coordinates(placed, _all_names(source, table, written), by, map_columns, written)
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


def _table(
    source: Path,
    by: str | None,
    labels: str | None,
    metric: str,
    columns: Sequence[str] | None,
    skip: Sequence[str] | None,
    written: dict[str, Any],
) -> "Table":
    from gramfold.io import Table, is_text, read_sparse, read_table
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
    how = written if is_text(source) else {}
    return read_table(source, columns=columns, skip=left_out or None, labels=labels, missing=mixed, text=mixed, **how)


def _all_names(source: Path, table: "Table", written: dict[str, Any]) -> set[str]:
    """Names of all columns of the file, also of those that are left out."""
    from gramfold.io import is_text, read_table

    if not is_text(source) and source.suffix.lower() not in {".parquet", ".feather"}:
        return set()  # an array has no names
    how = written if is_text(source) else {}
    return {*table.names, *read_table(source, text=True, missing=True, **how).names}


def _coordinates(
    placed: Path, known: set[str], by: str | None, chosen: Sequence[str] | None, written: dict[str, Any]
) -> tuple[list[str], list[str], Any]:
    import numpy as np

    from gramfold.io import is_text, read_table

    how = written if is_text(placed) else {}
    if chosen:
        found = read_table(placed, columns=chosen, missing=True, **how)
        return found.names, [], found.values
    whole = read_table(placed, text=True, missing=True, **how)
    made_up = whole.names == [f"x{column}" for column in range(len(whole.names))]
    taken = [
        column
        for column, name in enumerate(whole.names)
        if name != by and (made_up or name not in known) and _numeric(whole.values[:, column])
    ]
    if not taken:
        raise InputError(
            f"'{placed}' has no column of numbers that the table does not have too, so its coordinates are not known: "
            "name them with --map-columns."
        )
    places = np.array([[np.nan if v is None else v for v in row] for row in whole.values[:, taken]], dtype=np.float64)
    repeated = [] if made_up else [name for name in whole.names if name in known and name != by]
    return [whole.names[column] for column in taken], repeated, places


def _numeric(values: Any) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, Real) for value in known)


def _require_same_order(
    source: Path, placed: Path, repeated: Sequence[str], table: "Table", written: dict[str, Any]
) -> None:
    """Rows are matched by order: refuse names of rows that are in another, and say so of those that are data."""
    from gramfold.runtime.warning import warn

    for name in repeated:
        ours, theirs = (_column(path, name, written) for path in (source, placed))
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
    from gramfold.io import is_text, read_table

    found = read_table(path, labels=name, text=True, missing=True, **(written if is_text(path) else {})).labels
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

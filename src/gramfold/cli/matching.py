"""A table and a map of its rows in two files, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.cli.coordinate_names import warn_of_no_coordinates
from gramfold.cli.map_file import MapFile, as_numbers, counts_rows, how_read, known_names, read_map_file
from gramfold.errors import GramfoldWarning, HeaderWarning, InputError

if TYPE_CHECKING:
    from gramfold.cli.prepared import Measured, Preparing
    from gramfold.io import Ids

_FEWEST = 3  # rows in common


@dataclass(frozen=True, eq=False)
class MappedTable:
    """Rows of a table that a map has places for."""

    values: Any  # (m, d)
    places: Any  # (m, p)
    labels: Any  # (m,) or None
    rows: Any  # (m,) which of the table they are
    absent: int  # rows of the table that the map does not have
    ids: "Ids | None"  # of all rows of the table
    reading: str  # of the ids by which rows were matched
    table: "Measured"
    read: MapFile

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return self.table.n_rows

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the table."""
        return self.table.names

    @property
    def n_placed(self) -> int:
        """Number of rows whose coordinates are known."""
        import numpy as np

        return int((~np.isnan(self.places).any(axis=1)).sum())

    def account(self) -> list[str]:
        """Summary lines: which columns are coordinates, which rows are left out."""
        from gramfold.runtime.counting import counted

        lines = [self.read.account()]
        unplaced = len(self.rows) - self.n_placed
        if self.absent:
            compared = f"(ids were compared {self.reading})"
            lines.append(f"left out  {counted(self.absent, 'row')} of the table that the map does not have {compared}")
        if unplaced:
            lines.append(f"left out  {counted(unplaced, 'row')} without coordinates on the map")
        return lines


def read_map(
    source: Path,
    placed: Path,
    by: str | None,
    labels: str | None,
    metric: str | None,
    map_columns: Sequence[str] | None,
    how: "Preparing",
) -> MappedTable:
    """The rows of a table, and their coordinates on a map; matched by the column `by`, else by order."""
    table = read_data(source, by, labels, metric, how)
    return matched(table, source, placed, by, metric, map_columns, how.written)


def matched(
    table: "Measured",
    source: Path,
    placed: Path,
    by: str | None,
    metric: str | None,
    map_columns: Sequence[str] | None,
    written: dict[str, Any],
) -> MappedTable:
    """The same of a table that was read."""
    import numpy as np
    from scipy.sparse import issparse

    n, width = table.n_rows, table.values.shape[1]
    if metric == "precomputed" and width != n:
        raise InputError(
            f"'{source}' has {n:,} rows and {width:,} columns, but precomputed distances are a "
            "square matrix: leave out other columns with --skip, or use another metric."
        )
    known = set() if issparse(table.values) else {*table.names, *known_names(source, written)}
    found = read_map_file(placed, known, by, map_columns, written)
    places = found.places
    if not map_columns:
        warn_of_no_coordinates(placed, found.coordinates, places)
    if places.shape[1] > width:
        _warn_of_the_order(source, placed, width, places.shape[1])
    ids = None if by is None else ids_of_rows(source, by, written)
    if ids is None:
        _require_same_order(source, found, table, written)
        if len(places) != n:
            raise InputError(
                f"'{source}' has {n:,} rows and '{placed}' has {len(places):,}, so rows cannot be matched by order: "
                "name a column that both have with --id."
            )
        common = Common(np.arange(n), np.arange(n), "")
    else:
        common = in_common(source, placed, ids, ids_of_rows(placed, ids.name, found.how))
    at = np.full(n, -1)  # where the rows of the file are in the table, which may have no place for some
    at[table.rows] = np.arange(len(table.rows))
    absent = n - len(common.mine)
    both = at[common.mine] >= 0
    mine, theirs = common.mine[both], common.theirs[both]
    values = table.values[at[mine]]
    if metric == "precomputed":
        values = values[:, mine]
    classes = None if table.labels is None else table.labels[at[mine]]
    return MappedTable(values, places[theirs], classes, mine, absent, ids, common.reading, table, found)


def read_data(source: Path, by: str | None, labels: str | None, metric: str | None, how: "Preparing") -> "Measured":
    """The rows, without the column that names them."""
    from gramfold.cli.prepared import measured
    from gramfold.io import read_sparse

    matrix: Any = read_sparse(source)
    if matrix is not None:
        how.refuse_columns(source, id=by, labels=labels)
    return measured(source, metric, labels, [name for name in (by, labels) if name is not None], how, matrix=matrix)


def _warn_of_the_order(source: Path, placed: Path, width: int, dimensions: int) -> None:
    from gramfold.runtime.counting import counted
    from gramfold.runtime.warning import warn

    warn(
        f"the map '{placed}' has {counted(dimensions, 'coordinate')}, more than the {counted(width, 'column')} of the "
        f"table '{source}': if they are the wrong way round, name the table first.",
        GramfoldWarning,
    )


def _require_same_order(source: Path, found: MapFile, table: "Measured", written: dict[str, Any]) -> None:
    """Rows are matched by order: refuse names of rows that are in another, and say so of those that are data."""
    import numpy as np

    from gramfold.io import read_table
    from gramfold.runtime.warning import warn

    for name in found.index:
        numbers = as_numbers(found.columns[name])
        if counts_rows(np.sort(numbers)) and not counts_rows(numbers):
            raise InputError(
                f"'{found.path}' has row numbers in another order than '{source}' (column '{name}'), so row by row "
                "they do not belong together: sort it by that column."
            )
    if not found.table_has:
        return
    ours = read_table(source, columns=found.table_has, text=True, missing=True, **how_read(source, written))
    for name, cells in zip(ours.names, ours.values.T, strict=True):
        mine, theirs = ([_alike(cell) for cell in column] for column in (cells, found.columns[name]))
        if len(set(mine)) < len(mine) or set(mine) != set(theirs):
            continue  # it does not name rows
        if mine != theirs:
            raise InputError(
                f"'{source}' and '{found.path}' have the same values of '{name}' in another order, so row by row they "
                f"do not belong together: match them with --id {name}."
            )
        if name in table.names and all(float(value).is_integer() for value in mine):
            warn(
                f"column '{name}' has another whole number in each row of both files and counts as data: if it names "
                f"the rows, use --id {name}.",
                HeaderWarning,
            )


def _alike(cell: Any) -> str:
    """A value as it is compared: 7 and 7.0 are one number."""
    return str(float(cell)) if isinstance(cell, Real) else str(cell)


@dataclass(frozen=True)
class Common:
    """Rows of the table and of the map that have the same id."""

    mine: Any  # (m,)
    theirs: Any  # (m,)
    reading: str  # of the ids


def in_common(source: Path, placed: Path, mine: "Ids", theirs: "Ids") -> Common:
    """By ids read as numbers where they are numbers, 7, 7.0 and 007; as they are written where that names rows twice.

    Ids that are equal as they are written are equal as numbers, so that the first has all pairs of the second.
    """
    import numpy as np

    numbers = [[_as_number(word) for word in ids.values] for ids in (mine, theirs)]
    one_each = all(len(set(keys)) == len(keys) for keys in numbers)
    pairs = _pairs(*numbers) if one_each else _pairs(mine.values, theirs.values)
    if len(pairs) < _FEWEST:
        raise InputError(
            f"'{source}' and '{placed}' have {len(pairs)} values of '{mine.name}' in common, so hardly a row can be "
            "matched: check that --id names the same column in both."
        )
    ours, others = np.array(pairs).T
    some = one_each and any(isinstance(key, Real) for keys in numbers for key in keys)
    return Common(ours, others, "as numbers" if some else "as they are written")


def _as_number(word: str) -> float | str:
    """An id as a number, where it is one: a whole one exactly, since floats do not tell long ids apart."""
    from math import isfinite

    from gramfold.io.numerals import PLAIN

    number = PLAIN.number(word)
    if number is None or not isfinite(number):
        return word
    return int(word) if word.strip().lstrip("+-").isdecimal() else number


def _pairs(mine: Sequence[Any], theirs: Sequence[Any]) -> list[tuple[int, int]]:
    places = {name: row for row, name in enumerate(theirs)}
    return [(row, places[name]) for row, name in enumerate(mine) if name in places]


def ids_of_rows(path: Path, by: str, written: dict[str, Any]) -> "Ids":
    """The column that names the rows of a file, each another."""
    from collections import Counter

    from gramfold.io import ids_in

    ids = ids_in(path, by, **how_read(path, written))
    double = next((name for name, count in Counter(ids.values).items() if count > 1), None)
    if double is not None:
        raise InputError(
            f"'{path}' has the value '{double}' of '{by}' more than once, so rows cannot be matched by it: remove the "
            "copies, or use another column."
        )
    return ids

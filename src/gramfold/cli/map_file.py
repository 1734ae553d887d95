"""The file of a map: which of its columns are coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from gramfold.errors import InputError

_INDEX = "index"  # what pandas calls one that becomes a column


@dataclass(frozen=True, eq=False)
class MapFile:
    """A file with coordinates, and which of its columns they are."""

    path: Path
    columns: dict[str, Any]  # numbers and text, (n,) each
    how: dict[str, Any]  # it was read
    mark: str | None  # its decimal mark, where that is not the table's
    table_has: list[str]  # columns that the table has too
    index: list[str]  # columns that number the rows
    coordinates: list[str]

    @property
    def places(self) -> Any:
        """The coordinates, (n, p)."""
        import numpy as np

        places = np.column_stack([as_numbers(self.columns[name]) for name in self.coordinates])
        if np.isinf(places).any():
            row, column = np.argwhere(np.isinf(places))[0]
            raise InputError(
                f"'{self.path}' has an infinite value in column '{self.coordinates[column]}', row {row} counted from "
                "0, and such a row has no distances: correct it, or leave the cell empty, which leaves the row out."
            )
        return places

    def account(self) -> str:
        """Summary line: which columns are coordinates."""
        from gramfold.io.selection import listed

        line = f"map       columns {listed(self.coordinates)}"
        if self.table_has:
            line += f"; not {listed(self.table_has)}, which the table has too"
        if self.index:
            line += f"; not {listed(self.index)}: row numbers"
        return line if self.mark is None else f"{line}; their decimal mark is '{self.mark}'"


def read_map_file(
    placed: Path, known: set[str], by: str | None, chosen: Sequence[str] | None, written: dict[str, Any]
) -> MapFile:
    """The file of a map; `known` are the columns of the table, `by` names the rows, `chosen` are the coordinates."""
    from gramfold.io import first_unnamed, is_text, read_table

    how = how_read(placed, written)
    names = known_names(placed, written)
    # text by name, so that a column without one is read too
    wanted = chosen or (names if is_text(placed) and names else None)
    found = read_table(placed, columns=wanted, text=True, missing=True, **how)
    columns, mark = dict(zip(found.names, found.values.T, strict=True)), None
    if is_text(placed):
        told = how.get("decimal", ".")
        columns, mark = _in_one_mark(columns, by, told)
        guessed = found.reading.decimal if found.reading is not None else None
        mark = guessed if guessed not in (None, told) else mark
    if chosen:
        _require_numbers(placed, columns)
        return MapFile(placed, columns, how, mark, [], [], list(columns))
    table_has = [name for name in names if name in known and name != by]
    numeric = [name for name, cells in columns.items() if name not in (by, *table_has) and _is_numeric(cells)]
    unnamed = first_unnamed(placed, **how)
    index = [name for name in numeric if name in names and _numbers_rows(columns[name], name in (unnamed, _INDEX))]
    coordinates = [name for name in numeric if name not in index]
    if unnamed in coordinates:
        commas = ", or if the comma is a decimal mark save it with decimal points" if len(names) == 2 else ""
        raise InputError(
            f"The first column of '{placed}' has no name and does not number the rows: name it in the header, or name "
            f"the coordinates with --map-columns{commas}."
        )
    if not coordinates:
        raise InputError(
            f"'{placed}' has no column of numbers that the table does not have too{' but row numbers' * bool(index)}, "
            "so its coordinates are not known: name them with --map-columns."
        )
    return MapFile(placed, columns, how, mark, table_has, index, coordinates)


def after_a_method(names: Sequence[str]) -> list[str]:
    """Those that a map of gramfold has, beside columns that were kept: isomap0, isomap1, …."""
    from gramfold.methods.names import method_names

    stems = {name.replace("_", "") for name in method_names()}
    return [name for name in names if (stem := name.rstrip("0123456789")) in stems and stem != name]


def _in_one_mark(columns: dict[str, Any], by: str | None, decimal: str) -> tuple[dict[str, Any], str | None]:
    """Text that is numbers with the other decimal mark as numbers, and that mark: programs differ in it."""
    from gramfold.io.mixed import as_column
    from gramfold.io.numerals import Numerals

    other = "," if decimal == "." else "."
    numerals, read = Numerals(other), {}
    for name, cells in columns.items():
        if name == by or _is_numeric(cells):
            continue
        numbers = [None if cell is None else numerals.number(str(cell)) for cell in cells]
        if [number is None for number in numbers] == [cell is None for cell in cells] and any(numbers):
            read[name] = as_column(numbers)
    return {**columns, **read}, other if read else None


def _require_numbers(placed: Path, columns: dict[str, Any]) -> None:
    for name, cells in columns.items():
        if not _is_numeric(cells):
            raise InputError(
                f"'{placed}' has other values than numbers in column '{name}', so it is no coordinate: name columns of "
                "numbers with --map-columns."
            )


def known_names(path: Path, written: dict[str, Any]) -> list[str]:
    """Names of all columns of a file; none where they are made up, as those of arrays are."""
    from gramfold.io import names_in

    names = names_in(path, **how_read(path, written))
    return [] if names == [f"x{column}" for column in range(len(names))] else names


def how_read(path: Path, written: dict[str, Any]) -> dict[str, Any]:
    """How a file is read: its marks where it is text, and the codes of missing values."""
    from gramfold.io import is_text

    return written if is_text(path) else {name: value for name, value in written.items() if name == "na"}


def _is_numeric(cells: Any) -> bool:
    if cells.dtype != object:
        return True
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, Real) for cell in known)


def as_numbers(cells: Any) -> Any:
    """A column of numbers; NaN where one is missing."""
    import numpy as np

    return np.array([np.nan if cell is None else cell for cell in cells.tolist()], dtype=np.float64)


def _numbers_rows(cells: Any, may: bool) -> bool:
    """Whether a column counts the rows from 0 or 1; or, where it may, has another whole number in each."""
    import numpy as np

    column = as_numbers(cells)
    distinct = len(np.unique(column)) == len(column) and bool((column == np.abs(np.trunc(column))).all())
    return counts_rows(column) or (may and distinct)


def counts_rows(column: Any) -> bool:
    """Whether these are 0, 1, 2, … or 1, 2, 3, …."""
    import numpy as np

    return any(np.array_equal(column, np.arange(start, start + len(column))) for start in (0, 1))

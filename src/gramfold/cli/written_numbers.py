"""Columns of text that are numbers, if another decimal or thousands separator is meant."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import GramfoldWarning

if TYPE_CHECKING:
    from gramfold.io import Table
    from gramfold.io.numerals import Numerals


def warn_of_written_numbers(source: Path, table: "Table") -> None:
    """Warn where text is to be compared as text, though 1,5 and the like may be meant as numbers."""
    from gramfold.io.selection import quoted
    from gramfold.runtime.warning import warn

    if table.values.dtype != object:
        return
    found: dict[str, tuple[str, Numerals]] = {}
    for name, column in zip(table.names, table.values.T, strict=True):
        numerals = _numerals_of(column)
        if numerals is not None:
            found[name] = next(cell for cell in column if isinstance(cell, str)), numerals
    if found:
        cell, numerals = next(iter(found.values()))
        warn(
            f"In '{source}' {quoted(list(found))} {'holds' if len(found) == 1 else 'hold'} text that may be numbers "
            f"('{cell}'): if it is, use {numerals.options}.",
            GramfoldWarning,
        )


def _numerals_of(column: Any) -> "Numerals | None":
    """The commonest number format that fits all cells of a column of text; None if there is none."""
    from gramfold.io.numerals import OTHER_NUMERALS

    cells = [cell for cell in column if cell is not None]
    if not cells or not all(isinstance(cell, str) for cell in cells):
        return None
    return next((one for one in OTHER_NUMERALS if all(one.number(cell) is not None for cell in cells)), None)

"""Columns of text that are numbers, if another decimal or thousands separator is meant, or a sign is left out."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import GramfoldWarning

if TYPE_CHECKING:
    from gramfold.io import Table
    from gramfold.io.numerals import Numerals

_SIGNS = "%‰€$£°"  # that may stand before or after a number


def warn_of_written_numbers(source: Path, table: "Table") -> None:
    """Warn where text is to be compared as text, though 1,5 and the like may be meant as numbers."""
    if table.values.dtype == object:
        warn_of_number_like(source, dict(zip(table.names, table.values.T, strict=True)))


def warn_of_number_like(source: Path, columns: Mapping[str, Any]) -> None:
    """Warn of columns whose text may be numbers."""
    from gramfold.io.selection import quoted
    from gramfold.runtime.warning import warn

    found: dict[str, tuple[str, Numerals]] = {}
    for name, column in columns.items():
        cells = [cell for cell in column if cell is not None]
        if not cells or not all(isinstance(cell, str) for cell in cells):
            continue
        numerals = _numerals_of(cells)
        if numerals is not None:
            found[name] = cells[0], numerals
        elif _numerals_of([cell.strip(_SIGNS) for cell in cells]) is not None:
            warn(
                f"In '{source}' column '{name}' holds text that may be numbers with a sign ('{cells[0]}'): if it does, "
                "write them without it.",
                GramfoldWarning,
            )
    if found:
        cell, numerals = next(iter(found.values()))
        warn(
            f"In '{source}' {quoted(list(found))} {'holds' if len(found) == 1 else 'hold'} text that may be numbers "
            f"('{cell}'): if it is, use {numerals.options}.",
            GramfoldWarning,
        )


def _numerals_of(cells: list[str]) -> "Numerals | None":
    """The commonest number format that fits all cells; None if there is none."""
    from gramfold.io.numerals import OTHER_NUMERALS

    return next((one for one in OTHER_NUMERALS if all(one.number(cell) is not None for cell in cells)), None)

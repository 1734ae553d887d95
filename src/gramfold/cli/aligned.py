"""`--align-to`: a map in the orientation, scale and position of one that was written earlier."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Table


@dataclass(frozen=True)
class OldMap:
    """What a new map is aligned with."""

    source: Path
    places: Any  # (n_old, p)
    rows: Any  # (m, 2) rows in common, of the new map and of the old one

    def align(self, model: Any) -> Any:
        """The fitted model in the frame of this map."""
        from gramfold.alignment import align

        return align(model, self.places, rows=self.rows)


def check_aligned(align_to: Path | None, align_rows: Path | None) -> list[Path]:
    """The files to read; a table of rows without a map of them is refused."""
    if align_rows is not None and align_to is None:
        raise InputError("--align-rows is the table of an old map and there is none: name the map with --align-to.")
    return [path for path in (align_to, align_rows) if path is not None]


def read_old_map(
    table: "Table", align_to: Path | None, align_rows: Path | None, written: dict[str, Any], gaps: bool
) -> OldMap | None:
    """The old map and its rows that are in the table too; None where there is none.

    `written` says how text files are to be read, `gaps` whether values may be missing.
    """
    if align_to is None:
        return None
    from gramfold.io import read_table

    places = read_table(align_to, gaps=True).values
    if align_rows is None:
        return OldMap(align_to, places, _by_number(table, align_to, len(places)))
    return OldMap(align_to, places, _by_value(table, align_to, len(places), align_rows, written, gaps))


def aligned_account(old: OldMap | None, aligned: Any) -> list[str]:
    """How well the two maps agree, in words."""
    if old is None:
        return []
    found = aligned.alignment_
    mirrored = ", mirrored" if found.mirrored else ""
    return [f"aligned   with '{old.source}' by {len(found.rows):,} rows in common, misfit {found.misfit:.2g}{mirrored}"]


def _by_number(table: "Table", align_to: Path, n_old: int) -> Any:
    import numpy as np

    n_new = len(table.values)
    if n_old != n_new:
        raise InputError(
            f"'{align_to}' has {n_old:,} rows and '{table.source}' has {n_new:,}, so rows cannot be matched by number: "
            "name the table that the old map was made of with --align-rows."
        )
    return np.column_stack([np.arange(n_new)] * 2)


def _by_value(table: "Table", align_to: Path, n_old: int, align_rows: Path, written: dict[str, Any], gaps: bool) -> Any:
    from gramfold.io import is_text, read_table
    from gramfold.neighbors.common_rows import common_rows

    before = read_table(align_rows, columns=table.names, gaps=gaps, **(written if is_text(align_rows) else {}))
    if len(before.values) != n_old:
        raise InputError(
            f"'{align_rows}' has {len(before.values):,} rows and '{align_to}' has {n_old:,}: pass the table that the "
            "old map was made of."
        )
    rows = common_rows(table.values, before.values)
    if not len(rows):
        raise InputError(
            f"no row of '{table.source}' has the values of a row of '{align_rows}', so there is nothing to align by: "
            "check that the columns have the same units in both."
        )
    return rows

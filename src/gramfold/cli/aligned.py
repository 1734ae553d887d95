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
    coordinates: Any  # (n_old, p)
    rows: Any  # (m, 2) rows in common, of the new map and of the old one

    def align(self, model: Any) -> Any:
        """The fitted model in the frame of this map."""
        from gramfold.alignment import align

        return align(model, self.coordinates, rows=self.rows)


def check_aligned(align_to: Path | None, align_rows: Path | None) -> list[Path]:
    """The files to read; raise an error for a table without its map."""
    if align_rows is not None and align_to is None:
        raise InputError("--align-rows was given without --align-to: name the earlier map with --align-to.")
    return [path for path in (align_to, align_rows) if path is not None]


def read_old_map(
    table: "Table", align_to: Path | None, align_rows: Path | None, written: dict[str, Any], missing: bool
) -> OldMap | None:
    """The earlier map and its rows that are in the table too; None if there is none.

    `written` is how text files are read, `missing` whether values may be missing.
    """
    if align_to is None:
        return None
    from gramfold.io import read_table

    coordinates = read_table(align_to, missing=True).values
    if align_rows is None:
        return OldMap(align_to, coordinates, _by_number(table, align_to, len(coordinates)))
    return OldMap(align_to, coordinates, _by_value(table, align_to, len(coordinates), align_rows, written, missing))


def aligned_account(old: OldMap | None, aligned: Any) -> list[str]:
    """Summary line: how well the two maps agree."""
    if old is None:
        return []
    found = aligned.alignment_
    mirrored = ", mirrored" if found.mirrored else ""
    return [f"aligned   with '{old.source}' by {len(found.rows):,} rows in common, misfit {found.misfit:.2g}{mirrored}"]


def _by_number(table: "Table", align_to: Path, n_old: int) -> Any:
    import numpy as np

    n_new = table.values.shape[0]
    if n_old != n_new:
        raise InputError(
            f"'{align_to}' has {n_old:,} rows, but '{table.source}' has {n_new:,}, so rows cannot be matched by "
            "position: pass the data table of the earlier map with --align-rows."
        )
    return np.column_stack([np.arange(n_new)] * 2)


def _by_value(
    table: "Table", align_to: Path, n_old: int, align_rows: Path, written: dict[str, Any], missing: bool
) -> Any:
    from gramfold.io import is_text, read_sparse, read_table
    from gramfold.neighbors.common_rows import common_rows

    if table.values.dtype == object:
        raise InputError(
            "--align-rows matches rows of numbers, but with --metric gower rows may hold text and gaps: leave it out "
            "to match rows by position."
        )
    before: Any = read_sparse(align_rows)
    if before is None:
        text = written if is_text(align_rows) else {}
        before = read_table(align_rows, columns=table.names or None, missing=missing, **text).values
    if before.shape[0] != n_old:
        raise InputError(
            f"'{align_rows}' has {before.shape[0]:,} rows, but '{align_to}' has {n_old:,}: pass the data table "
            "of the earlier map."
        )
    if before.shape[1] != table.values.shape[1]:
        raise InputError(
            f"'{align_rows}' has {before.shape[1]:,} columns, but '{table.source}' has {table.values.shape[1]:,}: pass "
            "tables with the same columns."
        )
    rows = common_rows(table.values, before)
    if not len(rows):
        raise InputError(
            f"'{table.source}' and '{align_rows}' have no equal rows, so the maps cannot be aligned: check that the "
            "columns have the same units in both."
        )
    return rows

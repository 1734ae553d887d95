"""`--align-to`: a map in the orientation, scale and position of one that was written earlier."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.cli.mapped import Ready
    from gramfold.cli.wishes import Wishes
    from gramfold.io import Table


@dataclass(frozen=True)
class OldMap:
    """What a new map is aligned with."""

    source: Path
    coordinates: Any  # (n_old, p)
    rows: Any  # (m, 2) rows in common, of the new map and of the old one
    how: str  # these were matched, for a line of the summary

    def align(self, model: Any) -> Any:
        """The fitted model in the frame of this map."""
        from gramfold.alignment import align

        return align(model, self.coordinates, rows=self.rows)


def check_aligned(align_to: Path | None, align_rows: Path | None) -> list[Path]:
    """The files to read; raise an error for a table without its map."""
    if align_rows is not None and align_to is None:
        raise InputError("--align-rows was given without --align-to: name the earlier map with --align-to.")
    return [path for path in (align_to, align_rows) if path is not None]


def read_old_map(wishes: "Wishes", ready: "Ready", missing: bool) -> OldMap | None:
    """The earlier map and its rows that are mapped again; None if there is none. `missing`: whether values may be."""
    import numpy as np

    from gramfold.cli.map_file import after_a_method, known_names, read_map_file

    align_to = wishes.align_to
    if align_to is None:
        return None
    table, written = ready.table, wishes.written
    names = known_names(align_to, written)
    by = wishes.ids if wishes.ids in names else None
    found = read_map_file(
        align_to, set(known_names(wishes.source, written)), by, after_a_method(names) or None, written
    )
    old = found.places
    n_new = table.values.shape[0] if ready.known is None else len(ready.known)
    if wishes.align_rows is not None:
        return OldMap(align_to, old, _by_value(table, align_to, len(old), wishes.align_rows, written, missing), "")
    rows = _by_number(table, align_to, len(old), n_new) if by is None else _by_id(wishes.source, align_to, by, written)
    if ready.known is not None:  # rows of the file as rows of the map, which has some of them
        rows = np.column_stack([np.cumsum(ready.known)[rows[:, 0]] - 1, rows[:, 1]])[ready.known[rows[:, 0]]]
    return OldMap(align_to, old, rows, "" if by is None else f", matched by '{by}'")


def aligned_account(old: OldMap | None, aligned: Any) -> list[str]:
    """Summary line: how well the two maps agree."""
    if old is None:
        return []
    found = aligned.alignment_
    mirrored = ", mirrored" if found.mirrored else ""
    rows = f"{len(found.rows):,} rows in common{old.how}"
    return [f"aligned   with '{old.source}' by {rows}, misfit {found.misfit:.2g}{mirrored}"]


def _by_id(source: Path, align_to: Path, by: str, written: dict[str, Any]) -> Any:
    import numpy as np

    from gramfold.cli.matching import ids_of_rows, in_common

    common = in_common(source, align_to, ids_of_rows(source, by, written), ids_of_rows(align_to, by, written))
    return np.column_stack([common.mine, common.theirs])


def _by_number(table: "Table", align_to: Path, n_old: int, n_new: int) -> Any:
    import numpy as np

    if n_old != n_new:
        raise InputError(
            f"'{align_to}' has {n_old:,} rows, but '{table.source}' has {n_new:,}, so rows cannot be matched by "
            "position: name a column that both have with --id, or pass the data table of the earlier map with "
            "--align-rows."
        )
    return np.column_stack([np.arange(n_new)] * 2)


def _by_value(
    table: "Table", align_to: Path, n_old: int, align_rows: Path, written: dict[str, Any], missing: bool
) -> Any:
    from gramfold.cli.map_file import how_read
    from gramfold.io import read_sparse, read_table
    from gramfold.neighbors.common_rows import common_rows

    if table.values.dtype == object:
        raise InputError(
            "--align-rows matches rows of numbers, but with --metric gower rows may hold text and gaps: leave it out "
            "to match rows by position."
        )
    before: Any = read_sparse(align_rows)
    if before is None:
        how = how_read(align_rows, written)
        before = read_table(align_rows, columns=table.names or None, missing=missing, **how).values
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

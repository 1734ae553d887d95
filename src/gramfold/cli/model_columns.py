"""Columns of a table by those of a model: by name, or by position where one of them has no names."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError
from gramfold.runtime.close_names import close_names, question
from gramfold.runtime.counting import counted

if TYPE_CHECKING:
    from gramfold.cli.fitted_steps import FittedSteps
    from gramfold.io import Columns

_NUMBERS = ("number", "flag", "nothing")


@dataclass(frozen=True, eq=False)
class Match:
    """Which columns of a table a model reads."""

    positions: list[int]  # in the order of the model
    by: str  # "name", or how they were matched, in words
    unused: list[str]  # names of columns of the table that it does not read

    def account(self) -> list[str]:
        """Summary lines."""
        from gramfold.io.selection import listed

        lines = [] if self.by == "name" else [f"columns   {self.by}"]
        return lines + ([f"not used  {listed(self.unused)}"] if self.unused else [])


def matched_columns(
    table: "Columns",
    model: "FittedSteps",
    columns: Sequence[str] | None,
    skip: Sequence[str] | None,
    aside: Sequence[str],
) -> Match:
    """Columns of the table for a model; `aside` name rows or are kept, and are data only by name."""
    from gramfold.io.selection import Selection, numbered

    offered = Selection(columns=columns, skip=skip).positions(table.names, f"'{table.source}'", table.aside)
    own = [table.names[j] for j in offered]
    named = table.reading.header is not False and table.names != numbered(len(table.names))
    both = named and list(model.every) != numbered(model.width)  # x0, x1, … are what columns without a name are called
    if model.names is not None and (both or set(model.names) <= set(own)):
        return _by_name(table, model, own, aside)
    data = [j for j in offered if table.names[j] not in aside]
    return _by_position(table, model, data, named)


def _by_name(table: "Columns", model: "FittedSteps", own: list[str], aside: Sequence[str]) -> Match:
    assert model.names is not None
    absent = [name for name in model.names if name not in own]
    if absent:
        raise InputError(_absent(table, model, absent, own))
    unused = [name for name in own if name not in model.names and name not in aside]
    return Match([table.place(name) for name in model.names], "name", unused)


def _absent(table: "Columns", model: "FittedSteps", absent: list[str], own: list[str]) -> str:
    from gramfold.io.selection import listed, quoted, shortened

    assert model.names is not None
    free = [name for name in own if name not in model.names]
    close = list(dict.fromkeys(other for name in absent for other in close_names(name, free)))
    header = "" if len(absent) < len(model.names) or table.lines is None else " If that is no header, use --no-header."
    has = f"it has {listed([shortened(name) for name in own])}.{header}"
    instead = f"{question(close[:3])} Rename what is meant." if close else has
    which = "which the model reads" if len(absent) == 1 else f"of the {len(model.names)} that the model reads"
    return f"'{table.source}' has no {quoted(absent)}, {which}: {instead}"


def _by_position(table: "Columns", model: "FittedSteps", data: list[int], named: bool) -> Match:
    """As many columns as the model reads, or as the table had that it was fitted on; of others, the numbers alone."""
    needed = len(model.kept)
    numbers = [j for j in data if table.kind(j) in _NUMBERS]
    names = "the table has" if not named else "the model has"
    how = f"{counted(needed, 'column')} matched by position, since {names} no column names"
    if len(data) == needed:
        return Match(data, how, [])
    if len(data) == model.width:
        chosen = [data[j] for j in model.kept]
        return Match(chosen, how, [table.names[j] for j in data if j not in chosen])
    if len(numbers) == needed and named:
        unused = [table.names[j] for j in data if j not in numbers]
        return Match(numbers, how, unused)
    choose = "choose them with --columns" if named else "pass a table with these columns, or with a line of their names"
    raise InputError(
        f"'{table.source}' has {counted(len(data), 'column')}, and the model reads {needed:,} by position, since "
        f"{names} no column names: {choose}."
    )


def values_of(table: "Columns", match: Match, *, text: bool) -> Any:
    """The values, (n, d): numbers, NaN where one is missing; objects if the model reads text and there is some."""
    import numpy as np

    from gramfold.io.selection import require_finite

    if not table.n_rows:
        raise InputError(f"'{table.source}' has columns but no rows: a table needs at least one row.")
    odd = [j for j in match.positions if table.kind(j) not in _NUMBERS]
    if odd and text:
        return table.mixed(match.positions)
    if odd:
        raise InputError(_no_numbers(table, odd[0]))
    full = [k for k, j in enumerate(match.positions) if table.kind(j) != "nothing"]
    found = table.table_of([match.positions[k] for k in full]) if full else np.empty((table.n_rows, 0))
    values = found
    if len(full) < len(match.positions):
        values = np.full((table.n_rows, len(match.positions)), np.nan)
        values[:, full] = found
    lines = table.lines
    where = None if lines is None else lambda row, k: lines.where(row, match.positions[k])
    names = [table.names[j] for j in match.positions]
    require_finite(values, names, f"'{table.source}'", missing=True, where=where)
    return values


def _no_numbers(table: "Columns", j: int) -> str:
    return (
        f"'{table.source}' has {_odd_cell(table, j)}, where the model was fitted on numbers: correct such cells, or "
        "empty those that are not known."
    )


def _odd_cell(table: "Columns", j: int) -> str:
    """The first cell that is no number, and where it stands."""
    from gramfold.io.selection import shortened

    if table.lines is not None:
        row, _ = table.lines.odd(j, table.arrays[j])
        return table.lines.where(row, j)
    words = table.words_at(j)
    row = next((row for row, word in enumerate(words) if word), 0)
    return f"'{shortened(words[row])}' in column '{shortened(table.names[j])}', row {row} counted from 0"


def first_gap(table: "Columns", match: Match, rows: Any) -> str:
    """What stands where the first of these rows has a gap, and where that is."""
    import numpy as np

    row = int(rows[0])
    j = next(
        (j for j in match.positions if table.kind(j) == "nothing" or np.isnan(table.table_of([j])[row, 0])),
        match.positions[0],
    )
    if table.lines is not None:
        return table.lines.where(row, j)
    return f"no value in column '{table.names[j]}', row {row} counted from 0"


def require_free(path: Path, names: Sequence[str], taken: Sequence[str]) -> None:
    """Raise an error for columns beside the others that have the name of one of them, or that a file cannot hold."""
    from gramfold.io import check_ids

    double = next((name for name in names if name in taken), None)
    if double is not None:
        raise InputError(
            f"column '{double}' is also written by gramfold: leave it out of --id and --keep, or rename it."
        )
    for name in names:
        check_ids(path, taken, name)

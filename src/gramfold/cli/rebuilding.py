"""`gramfold inverse`: rows of the table for coordinates of the map of a model file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.early import default_name, require_files, require_places
from gramfold.cli.interrupted import kept
from gramfold.cli.options import check_files, names_option, read_options, reading_options
from gramfold.cli.partition_options import OutPath, refuse_folder
from gramfold.cli.sentences import in_sentences
from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.cli.fitted_steps import FittedSteps, Rebuilt
    from gramfold.io import Columns

_USAGE = "gramfold inverse MODEL MAP"


@click.command()
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("source", metavar="MAP", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=OutPath(path_type=Path),
    metavar="FILE",
    help="File to write: csv, parquet, npy, …  [default: MAP.rows.csv, beside MAP]",
)
@names_option("--map-columns", "The coordinates in MAP.  [default: the columns that the model names so]")
@click.option("--id", "by", metavar="COLUMN", help="Column that names the rows; it is written first, as it is.")
@names_option("--keep", "Other columns of MAP that are written too, or all.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print only warnings and errors.")
@reading_options
@in_sentences
def inverse(
    model: Path,
    source: Path,
    out: Path | None,
    map_columns: list[str] | None,
    by: str | None,
    keep: list[str] | None,
    as_json: bool,
    quiet: bool,
    columns: list[str] | None,
    skip: list[str] | None,
    no_overwrite: bool,
    **options: Any,
) -> None:
    """Compute rows of the table for coordinates on the map of a model file.

    MODEL is a file that `gramfold embed --model`, or gramfold.save in Python, has written. MAP has coordinates: those
    that `embed` and `transform` wrote, or others in columns of the same names (isomap0, isomap1).

    The file that --out names gets a row for each row of MAP, in the same order, in the columns and units of the table
    that MODEL was fitted on. Columns that were left out of the map are not among them. The error of such rows, for
    rows that the model did not see, is printed.

    \b
    gramfold inverse cells.gramfold cells.map.csv
    gramfold inverse cells.gramfold cells.map.csv --id barcode --out rows.csv
    gramfold inverse cells.gramfold corners.csv --map-columns across,up --out rows.parquet
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    require_files(model, source)
    refuse_folder(out, "inverse")
    out = default_name(source, "rows") if out is None else out
    require_places(out)
    check_files([model, source], out, None, no_overwrite)
    from gramfold.cli.fitted_steps import FittedSteps
    from gramfold.cli.model_columns import require_free
    from gramfold.cli.table_columns import ids_of, kept_beside
    from gramfold.io import read_columns, write_table

    if columns is not None or skip is not None:
        raise InputError("The coordinates of a map are named with --map-columns: leave out --columns and --skip.")
    fitted = FittedSteps.load(model, _USAGE, quiet=quiet or as_json)
    if not fitted.maps:
        raise InputError(f"'{model}' holds {fitted.method}, which has clusters and no map: use a model of a map.")
    table = read_columns(source, **read_options(options))
    found = _coordinates(table, fitted, map_columns)
    places = _places(table, found.names)
    known = ~_gaps(places)
    ids = ids_of(table, by)
    beside = {name: column for name, column in kept_beside(table, keep, by).items() if name not in found.names}
    rebuilt = _rebuilt(fitted, places, known)
    rows, names = rebuilt.rows, rebuilt.names
    require_free(out, [*([] if ids is None else [ids.name]), *beside], names)
    if rows.dtype == object:  # categories
        write_table(out, rows[:, :0].astype(float), [], ids=ids, beside={**_typed(rows, names), **beside})
    else:
        write_table(out, rows, names, ids=ids, beside=beside)
    kept(out)
    error = fitted.last.inverse_error()
    if as_json:
        facts = {
            "model": str(model),
            "method": fitted.method,
            "map": str(source),
            "rows": len(known),
            "rebuilt": int(known.sum()),
            "coordinates": found.names,
            "columns": names,
            "inverse_error": error,
            "inverse_error_is_of": _loud(fitted, names) or names,
            "out": str(out.absolute()),
        }
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    elif not quiet:
        for line in _account(fitted, found, known, rebuilt, error, out):
            click.echo(line)


@dataclass(frozen=True)
class _Coordinates:
    """Columns of a map."""

    names: list[str]
    by_name: bool  # those of the model, or those that the user named; else as many as it has


def _coordinates(table: "Columns", fitted: "FittedSteps", chosen: Sequence[str] | None) -> _Coordinates:
    from gramfold.runtime.close_names import did_you_mean
    from gramfold.runtime.counting import counted

    wanted = fitted.coordinates
    if chosen is not None:
        for name in chosen:
            table.place(name)  # an error for one that is not there
        if len(chosen) != len(wanted):
            raise InputError(
                f"--map-columns names {counted(len(chosen), 'column')}, and the map of the model has "
                f"{counted(len(wanted), 'dimension')}: name as many."
            )
        return _Coordinates(list(chosen), by_name=True)
    if set(wanted) <= set(table.names):
        return _Coordinates(wanted, by_name=True)
    numbers = [name for j, name in enumerate(table.names) if table.kind(j) == "number"]
    nameless = table.reading.header is False or table.names == [f"x{j}" for j in range(len(table.names))]
    if nameless and len(numbers) == len(wanted):
        return _Coordinates(numbers, by_name=False)
    absent = next(name for name in wanted if name not in table.names)
    free = [name for name in table.names if name not in wanted]
    instead = did_you_mean(absent, free)
    raise InputError(
        f"'{table.source}' has no column '{absent}', a coordinate of {fitted.method}: "
        f"{f'{instead} N' if instead else 'n'}ame the coordinates with --map-columns."
    )


def _places(table: "Columns", names: Sequence[str]) -> Any:
    from gramfold.io.selection import require_finite

    if not table.n_rows:
        raise InputError(f"'{table.source}' has columns but no rows: a map needs at least one row.")
    for name in names:
        if table.kind(table.place(name)) != "number":
            raise InputError(
                f"'{table.source}' has other values than numbers in column '{name}', so it is no coordinate: name "
                "columns of numbers with --map-columns."
            )
    places = table.numbers(names)
    require_finite(places, list(names), f"'{table.source}'", missing=True)
    return places


def _gaps(places: Any) -> Any:
    import numpy as np

    return np.isnan(places).any(axis=1)


def _rebuilt(fitted: "FittedSteps", places: Any, known: Any) -> "Rebuilt":
    """Rows for all places, NaN or None where these have gaps."""
    import numpy as np

    from gramfold.cli.fitted_steps import Rebuilt

    if not known.any():
        raise InputError("No row of the map has coordinates: pass a map with at least one.")
    found = fitted.rebuild(places[known])
    rows = np.asarray(found.rows)
    whole = np.full((len(known), rows.shape[1]), None if rows.dtype == object else np.nan, dtype=rows.dtype)
    whole[known] = rows
    outside = None if found.outside is None else np.full(len(known), np.nan)
    if outside is not None:
        outside[known] = found.outside
    return Rebuilt(whole, found.names, outside)


def _typed(rows: Any, names: Sequence[str]) -> dict[str, Any]:
    """Columns of numbers or of text."""
    import numpy as np

    found: dict[str, Any] = {}
    for j, name in enumerate(names):
        cells = rows[:, j]
        numbers = all(cell is None or isinstance(cell, int | float | np.number) for cell in cells)
        found[name] = np.array([np.nan if cell is None else cell for cell in cells], dtype=float) if numbers else cells
    return found


def _loud(fitted: "FittedSteps", names: Sequence[str]) -> list[str]:
    """Columns that hold nearly all of the spread of the rows that the method saw."""
    import numpy as np

    from gramfold.neighbors.scales import LoudColumns

    rows = fitted.last.model_.rows
    found = LoudColumns.of(rows) if isinstance(rows, np.ndarray) and rows.shape[1] == len(names) else None
    return [] if found is None else [names[j] for j in found.columns]


def _account(
    fitted: "FittedSteps", found: _Coordinates, known: Any, rebuilt: "Rebuilt", error: float | None, out: Path
) -> list[str]:
    from gramfold.cli.far_outside import outside_line
    from gramfold.io.selection import listed, quoted
    from gramfold.runtime.counting import counted

    rows, names = counted(int(known.sum()), "row"), rebuilt.names
    lines = [f"{fitted.method} computed {rows} of {counted(len(names), 'column')} for coordinates"]
    if not found.by_name:
        lines.append("  map       columns matched by position, since the map has no column names")
    absent = int((~known).sum())
    if absent:
        lines.append(f"  left out  {counted(absent, 'row')} without coordinates (nan)")
    without = [name for name in fitted.every if name not in names]
    if without:
        lines.append(f"  absent    {listed(without)}, which the map was not made of")
    if rebuilt.outside is not None:
        told = outside_line(rebuilt.outside, "the places of training rows", "so that they are extrapolated")
        lines.append(f"  {told}")
    if error is not None:
        lines.append(
            f"  error     {error:.1%} of the spread of the rows, over all columns together as the map was made of "
            "them, of rows that were left out (cross-validated)"
        )
        loud = _loud(fitted, names)
        if loud:
            have = "has" if len(loud) == 1 else "have"
            lines.append(
                f"  caution   {quoted(loud)} {have} nearly all of that spread, so the error does not say how well the "
                "other columns are computed: embed with --scale standard"
            )
    return [*lines, f"  rows      {out.absolute()}"]

"""`gramfold transform`: place new rows on the map of a model file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.early import default_name, require_files, require_places
from gramfold.cli.interrupted import kept
from gramfold.cli.options import check_files, names_option, read_options, reading_options
from gramfold.cli.partition_options import InParts, OutPath, partition_options
from gramfold.cli.sentences import in_sentences
from gramfold.errors import GramfoldWarning, InputError

if TYPE_CHECKING:
    from gramfold.cli.fitted_steps import FittedSteps, Placed
    from gramfold.cli.model_columns import Match
    from gramfold.io import Columns

_USAGE = "gramfold transform MODEL TABLE"
_OUTSIDE = "extrapolation"


@click.command()
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("source", metavar="TABLE", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=OutPath(path_type=Path),
    metavar="FILE",
    help="File to write: csv, parquet, npy, …; or a folder, for rows in partitions.  [default: TABLE.placed.csv, "
    "beside TABLE]",
)
@click.option("--id", "by", metavar="COLUMN", help="Column that names the rows; it is written first, as it is.")
@names_option("--keep", "Columns of TABLE that are written behind the coordinates, or all.")
@click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="Rows with gaps that the model does not fill in: an error, or no place for them (nan).",
)
@click.option(
    "--extrapolation",
    is_flag=True,
    help="Also write how far outside of the training rows each row lies: below 1 among them, above 3 far outside.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print only warnings and errors.")
@partition_options
@reading_options
@in_sentences
def transform(
    model: Path,
    source: Path,
    out: Path | None,
    by: str | None,
    keep: list[str] | None,
    missing: str,
    extrapolation: bool,
    as_json: bool,
    quiet: bool,
    columns: list[str] | None,
    skip: list[str] | None,
    no_overwrite: bool,
    **options: Any,
) -> None:
    """Place new rows on the map of a model file.

    MODEL is a file that `gramfold embed --model`, or gramfold.save in Python, has written. TABLE has new rows. Its
    columns are found by name, in any order; others are not used. Scaling and what else came before the map are part of
    MODEL.

    The file that --out names gets a row for each row of TABLE, in the same order: its coordinates, or for a model of
    SpectralClustering its cluster. Rows far outside of those that MODEL was fitted on are counted.

    Parquet files that are larger than memory are read a batch at a time where --out is a folder, and a file is written
    for each. Stopped, the same command goes on where it was.

    \b
    gramfold transform cells.gramfold new_cells.csv
    gramfold transform cells.gramfold new_cells.csv --id barcode --keep stage --out placed.csv
    gramfold transform cells.gramfold new_cells.csv --missing drop --extrapolation --out placed.parquet
    gramfold transform cells.gramfold "new/*.parquet" --id barcode --out placed/
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    require_files(model, source)
    how = InParts.of(options)
    if how.wanted(source, out):
        from gramfold.cli.partition_transforming import Placement, transform_partitions

        assert out is not None  # a folder
        codes = read_options(options).get("na", ())
        asked = Placement(
            model, source, out, by, keep, missing, extrapolation, as_json, quiet, columns, skip, tuple(codes)
        )
        transform_partitions(asked, how)
        return
    out = default_name(source, "placed") if out is None else out
    require_places(out)
    check_files([model, source], out, None, no_overwrite)
    from gramfold.cli.fitted_steps import FittedSteps
    from gramfold.cli.model_columns import require_free
    from gramfold.cli.table_columns import ids_of, kept_beside
    from gramfold.io import write_table

    fitted = FittedSteps.load(model, _USAGE, quiet=quiet or as_json)
    if extrapolation and not fitted.maps:
        raise InputError(f"'{model}' holds {fitted.method}, which has no extrapolation: leave out --extrapolation.")
    written = [*fitted.coordinates, *([_OUTSIDE] if extrapolation else [])]
    rows = _Rows.read(fitted, source, read_options(options), columns, skip, by, keep)
    ids = None if rows.table is None else ids_of(rows.table, by)
    beside = {} if rows.table is None else kept_beside(rows.table, keep, by)
    require_free(out, [*([] if ids is None else [ids.name]), *beside], written)
    placed = fitted.place(rows.values, ask=extrapolation)
    if missing == "error" and not placed.known.all():
        raise InputError(rows.gap_sentence(placed))
    if not placed.known.any():
        raise InputError(rows.none_sentence(placed))
    filled = rows.filled(fitted, placed)
    write_table(out, _columns_of(placed, extrapolation), written, ids=ids, beside=beside)
    kept(out)
    if as_json:
        click.echo(json.dumps(_facts(fitted, rows, placed, filled, out), indent=2, ensure_ascii=False))
    elif not quiet:
        click.echo(_headline(fitted, placed))
        for line in [*rows.account(), *filled.account(), *_account(placed), f"placed    {out.absolute()}"]:
            click.echo(f"  {line}")


class _Rows:
    """Rows of a table, or of a sparse matrix, as the first step of a model reads them."""

    def __init__(self, values: Any, table: "Columns | None", match: "Match | None", source: Path) -> None:
        self.values, self.table, self.match, self.source = values, table, match, source

    @classmethod
    def read(
        cls,
        fitted: "FittedSteps",
        source: Path,
        written: dict[str, Any],
        columns: list[str] | None,
        skip: list[str] | None,
        by: str | None,
        keep: list[str] | None,
    ) -> "_Rows":
        from gramfold.cli.model_columns import matched_columns, values_of
        from gramfold.io import read_columns, read_sparse

        matrix: Any = read_sparse(source)
        if matrix is not None:
            named = {"--id": by, "--keep": keep, "--columns": columns, "--skip": skip}
            given = [option for option, value in named.items() if value is not None]
            if given:
                raise InputError(f"'{source}' is a sparse matrix, which has no column names: leave out {given[0]}.")
            if matrix.shape[1] != fitted.width:
                raise InputError(
                    f"'{source}' has {matrix.shape[1]:,} columns, and the model was fitted on {fitted.width:,}: pass "
                    "rows of the same columns."
                )
            return cls(matrix, None, None, source)
        table = read_columns(source, **written)
        aside = [*([] if by is None else [by]), *([] if keep is None or keep == ["all"] else keep)]
        match = matched_columns(table, fitted, columns, skip, aside)
        return cls(fitted.named(values_of(table, match, text=fitted.reads_text)), table, match, source)

    def account(self) -> list[str]:
        """Summary lines: how the table was read, and which of its columns."""
        if self.table is None or self.match is None:
            return []
        read = [f"read      {self.table.reading}"] if self.table.reading.unusual else []
        return [*read, *self.match.account()]

    def filled(self, fitted: "FittedSteps", placed: "Placed") -> "_Filled":
        """Gaps in rows that have a place all the same; a column without a value gives a warning."""
        import numpy as np

        from gramfold.cli.undoing import fills_gaps
        from gramfold.runtime.warning import warn

        if self.table is None or self.match is None:
            return _Filled(0, [], "")
        values = np.asarray(self.values)
        gaps = np.equal(values, np.array(None)) if values.dtype == object else np.isnan(values)
        gaps = gaps[placed.known]
        names = [self.table.names[j] for j in self.match.positions]
        filled = any(fills_gaps(step) for step in fitted.steps[:-1])
        for name, empty in zip(names, gaps.all(axis=0), strict=True):
            if empty:
                made = "all its values were filled in, so it says nothing of these rows" if filled else "it is all gaps"
                warn(
                    f"'{self.source}' has no value in column '{name}', which the model reads: {made}.", GramfoldWarning
                )
        holed = [name for name, some in zip(names, gaps.any(axis=0), strict=True) if some]
        return _Filled(int(gaps.any(axis=1).sum()), holed, "filled in" if filled else "gaps")

    def none_sentence(self, placed: "Placed") -> str:
        """Error where no row can be placed."""
        return (
            f"'{self.source}' has gaps in all of its {len(placed.known):,} rows that the model does not fill in, so no "
            "row has a place: fill in the values, or embed with --missing auto."
        )

    def gap_sentence(self, placed: "Placed") -> str:
        """Error for rows that cannot be placed."""
        import numpy as np

        from gramfold.cli.model_columns import first_gap

        absent = np.flatnonzero(~placed.known)
        assert self.table is not None  # a sparse matrix has no gaps
        assert self.match is not None
        found = first_gap(self.table, self.match, absent)
        return (
            f"'{self.source}' has {found} ({len(absent):,} of {len(placed.known):,} rows have gaps that the model "
            "does not fill in): fill in the values, or use --missing drop, which leaves these rows without a place."
        )


@dataclass(frozen=True)
class _Filled:
    """Gaps of rows that have a place."""

    rows: int
    columns: list[str]
    word: str  # what was done with them

    def account(self) -> list[str]:
        """Summary line."""
        from gramfold.io.selection import quoted
        from gramfold.runtime.counting import counted

        return [f"{self.word:<9} {counted(self.rows, 'row')}, in {quoted(self.columns)}"] if self.rows else []


def _columns_of(placed: "Placed", extrapolation: bool) -> Any:
    import numpy as np

    places = placed.places if placed.places.ndim == 2 else placed.places[:, None]
    return np.column_stack([places, placed.outside]) if extrapolation else places


def _headline(fitted: "FittedSteps", placed: "Placed") -> str:
    from gramfold.runtime.counting import counted

    rows = counted(len(placed.known), "new row")
    if not fitted.maps:
        return f"{fitted.method} assigned {rows} to {counted(fitted.last.n_clusters_, 'cluster')}"
    return f"{fitted.method} placed {rows} on a map of {counted(len(fitted.coordinates), 'dimension')}"


def _account(placed: "Placed") -> list[str]:
    import numpy as np

    from gramfold.cli.far_outside import outside_line
    from gramfold.runtime.counting import counted

    lines = []
    absent = int((~placed.known).sum())
    if absent:
        lines.append(f"left out  {counted(absent, 'row')} with gaps; no place (nan)")
    if placed.places.ndim == 1:
        sizes = np.bincount(placed.places[placed.known])
        return [*lines, f"sizes     {', '.join(f'{size:,}' for size in sizes)}"]
    return [*lines, outside_line(placed.outside, "the training rows", "so that their places are extrapolated")]


def _facts(fitted: "FittedSteps", rows: _Rows, placed: "Placed", filled: _Filled, out: Path) -> dict[str, Any]:
    """The summary for programs."""
    from gramfold.cli.far_outside import far_rows

    return {
        "model": str(fitted.path),
        "method": fitted.method,
        "table": str(rows.source),
        "rows": len(placed.known),
        "placed": int(placed.known.sum()),
        "rows_with_gaps": filled.rows,
        "columns_with_gaps": filled.columns,
        "coordinates": fitted.coordinates,
        "columns_matched_by": "position" if rows.match is None or rows.match.by != "name" else "name",
        "columns_not_used": [] if rows.match is None else rows.match.unused,
        "far_outside": [int(row) for row in far_rows(placed.outside)],
        "out": str(out.absolute()),
    }

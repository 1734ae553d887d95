"""`gramfold compare`: several methods on one table, and finished maps beside them."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.completing import METHOD
from gramfold.cli.early import require_files, require_places
from gramfold.cli.interrupted import kept
from gramfold.cli.matching import matched, read_data
from gramfold.cli.options import check_report, names_option, preparing_options, reading_options
from gramfold.cli.partition_judging import are_drawn, drawn_maps
from gramfold.cli.prepared import Preparing
from gramfold.cli.sentences import in_sentences
from gramfold.cli.trust import scale_lines
from gramfold.errors import InputError
from gramfold.methods.names import full_name

if TYPE_CHECKING:
    from gramfold.cli.prepared import Measured
    from gramfold.comparison import Comparison

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


@click.command()
@click.argument("source", metavar="TABLE", type=click.Path(path_type=Path))
@names_option(
    "--methods", "Methods, as listed by `gramfold methods`.  [default: five that differ; none beside --map]", METHOD
)
@click.option(
    "--map",
    "maps",
    metavar="NAME=FILE",
    multiple=True,
    help="A finished map of the rows, made by any program, and its name; repeatable.",
)
@click.option(
    "--id", "by", metavar="COLUMN", help="Column of all files by which rows are matched.  [default: by order]"
)
@names_option("--map-columns", "The coordinates in FILE.  [default: columns of numbers that TABLE does not have]")
@click.option("--labels", metavar="COLUMN", help="Column of TABLE with the class of each row; methods do not see it.")
@click.option("-d", "--dim", "--n-components", "dim", type=int, default=2, show_default=True, help="Dimensions.")
@click.option(
    "-k",
    "--neighbors",
    "--n-neighbors",
    "neighbors",
    type=int,
    help="Number of neighbours of each row, for the methods.  [default: that of each method]",
)
@click.option(
    "--judged-neighbors",
    type=int,
    help="Number of neighbours that are compared.  [default: 10, or a third of the rows]",
)
@click.option(
    "--metric",
    default="euclidean",
    show_default=True,
    help="Distance between rows of TABLE: euclidean, cosine, …, gower, or precomputed (TABLE holds distances).",
)
@click.option("--sample", type=int, help="Number of rows looked at.  [default: all up to 3,000, else 1,000]")
@click.option("--stability", type=int, default=0, help="Refits of each method.  [default: 0, not measured]")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="File for the table of numbers: csv or tsv.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE", help="Also draw all maps: png, pdf, svg, …")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write a page with all maps side by side: html.",
)
@preparing_options
@reading_options
@in_sentences
def compare(
    source: Path,
    methods: list[str] | None,
    maps: tuple[str, ...],
    by: str | None,
    map_columns: list[str] | None,
    labels: str | None,
    dim: int,
    neighbors: int | None,
    judged_neighbors: int | None,
    metric: str,
    sample: int | None,
    stability: int,
    out: Path | None,
    picture: Path | None,
    report: Path | None,
    no_overwrite: bool,
    **options: Any,
) -> None:
    """Compare several methods on a table, and maps that were made elsewhere.

    Each map gets the same numbers, and its faults by name. For each purpose (neighbours, all distances, lengths,
    labels) the best map is named, and whether its margin is larger than noise. A method that fails is told with the
    reason.

    Parquet files that are many, or larger than memory, are compared by 10,000 rows that are drawn, the same of all.

    \b
    gramfold compare cells.csv
    gramfold compare cells.csv --methods isomap,laplacian,lle,sde --out table.csv --picture maps.png
    gramfold compare cells.csv --map "my umap=umap.csv" --id barcode --labels type
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    named = _named(maps)
    for method in methods or []:
        full_name(method)  # before a table is read
    require_files(source, *named.values())
    require_places(out, picture)
    _check(source, list(named.values()), out, picture, no_overwrite)
    check_report(report, [source, *named.values()], [out, picture], no_overwrite)
    from gramfold.comparison import compare as compared

    how = Preparing.of(options)
    if are_drawn([source, *named.values()], metric=metric, wholly=report is not None):
        table, read = drawn_maps(source, list(named.values()), by, labels, metric, map_columns, how)
        places = {name: one.places[table.rows] for name, one in zip(named, read, strict=True)}
    else:
        table = read_data(source, by, labels, metric, how)
        places = {
            name: _places(table, source, path, by, metric, map_columns, how.written) for name, path in named.items()
        }
    wanted = methods or ([] if places else None)
    found = compared(
        table.values,
        None if wanted is None else {**_by_name(wanted, places), **places},
        labels=table.labels,
        n_components=dim,
        n_neighbors=neighbors,
        metric=metric,
        judged_neighbors=judged_neighbors,
        sample=sample,
        random_state=how.seed,
        stability=stability,
        keep_models=False,
    )
    if out is not None:  # first, since nobody may read what is printed
        _write(out, found)
        kept(out)
    if picture is not None:
        _draw(found, source.name, picture, labels)
        kept(picture)
    if report is not None:
        from gramfold.cli.reported import report_compared

        report_compared(report, found, table, source, by, labels, how.written)
        kept(report)
    for line in table.decided():
        click.echo(line)
    click.echo(str(found))
    for line in scale_lines(table.values, table.names, metric):
        click.echo(line)
    for word, path in (("table", out), ("picture", picture), ("report", report)):
        if path is not None:
            click.echo(f"{word:<9} {path.absolute()}")


def _named(maps: Sequence[str]) -> dict[str, Path]:
    """Files of finished maps by their names."""
    found: dict[str, Path] = {}
    for given in maps:
        name, equals, path = given.partition("=")
        if not equals or not name.strip() or not path.strip():
            raise InputError(f"--map {given} has no name or no file: write --map NAME=FILE.")
        if name.strip() in found:
            raise InputError(f"--map gives the name '{name.strip()}' twice: give each map a name of its own.")
        found[name.strip()] = Path(path.strip())
    return found


def _by_name(methods: Sequence[str], places: dict[str, Any]) -> dict[str, str]:
    from gramfold.methods.names import find_method, in_small_letters

    found = {in_small_letters(find_method(method).__name__): method for method in methods}
    both = [name for name in found if name in places]
    if both:
        raise InputError(f"--map gives the name '{both[0]}', which is that of a method: choose another.")
    return found


def _places(
    table: "Measured",
    source: Path,
    placed: Path,
    by: str | None,
    metric: str,
    map_columns: list[str] | None,
    written: dict[str, Any],
) -> Any:
    """Coordinates for each row that is measured, NaN where the map has none."""
    import numpy as np

    pair = matched(table, source, placed, by, metric, map_columns, written)
    found = np.full((pair.n_rows, pair.places.shape[1]), np.nan)
    found[pair.rows] = pair.places
    return found[table.rows]


def _check(source: Path, placed: Sequence[Path], out: Path | None, picture: Path | None, no_overwrite: bool) -> None:
    """Refuse files that cannot be written before any fit."""
    from gramfold.cli.options import check_files

    if out is not None and out.suffix.lower() not in _SEPARATORS:
        raise InputError(f"'{out}' ends in neither .csv nor .tsv, which the table is written as: choose such a name.")
    if out is not None:
        check_files([source, *placed], out, picture, no_overwrite)
    elif picture is not None:
        from gramfold.plotting import check_picture_destination

        check_picture_destination(picture)
        if no_overwrite and picture.exists():
            raise InputError(f"'{picture}' already exists: choose another name, or leave out --no-overwrite.")


def _write(out: Path, found: "Comparison") -> None:
    from gramfold.io import replacing

    records = found.records()
    with replacing(out) as draft, draft.open("w", encoding="utf8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), delimiter=_SEPARATORS[out.suffix.lower()])
        writer.writeheader()
        writer.writerows(records)


def _draw(found: "Comparison", name: str, picture: Path, labels: str | None) -> None:
    from gramfold.plotting import blank_figure, plot_comparison, save_picture
    from gramfold.plotting.compared import figure_size

    figure = blank_figure(*figure_size(len(found.maps)))
    save_picture(plot_comparison(found, title=name, color_label=labels, figure=figure), picture)

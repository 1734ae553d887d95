"""`gramfold judge`: a map that anybody made, compared with the data it was made of."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.early import require_files, require_places
from gramfold.cli.interrupted import kept
from gramfold.cli.matching import MappedTable, read_map
from gramfold.cli.options import check_files, check_report, names_option, preparing_options, reading_options
from gramfold.cli.partition_judging import are_drawn, drawn_map
from gramfold.cli.partition_options import refuse, sample_option
from gramfold.cli.prepared import Preparing
from gramfold.cli.sentences import in_sentences
from gramfold.cli.trust import not_judged, scale_lines, summary, usual_neighbors, value_in_words
from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.diagnostics import Faults, Judged, Measure

_FAULTS = ("glued", "torn", "strained", "collapsed")
_WORDS = {
    "trustworthiness": "rows near on the map are near in the data",
    "continuity": "rows near in the data are near on the map",
    "r_nx_area": "neighbours kept at all scales, 0 by chance",
    "distance_correlation": "of the ranks of all distances",
    "stress": "of all distances, 0 is best",
    "triplet_accuracy": "of two rows the same one is nearer, 0.5 by chance",
    "density_preservation": "dense regions are dense on the map",
    "neighborhood_purity": "neighbours on the map that have the same label",
    "neighborhood_purity_in_data": "the same in the data",
    "silhouette": "of the labels on the map",
}


@click.command()
@click.argument("source", metavar="TABLE", type=click.Path(path_type=Path))
@click.argument("placed", metavar="MAP", type=click.Path(path_type=Path))
@click.option(
    "-k",
    "--neighbors",
    "--n-neighbors",
    "neighbors",
    type=int,
    help="Number of neighbours that are compared.  [default: 10, or a third of the rows]",
)
@click.option(
    "--metric",
    help="Distance between rows of TABLE: euclidean, cosine, …, gower, or precomputed (TABLE holds distances).  "
    "[default: euclidean, or that of --model]",
)
@click.option(
    "--model",
    "model_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Prepare TABLE by the steps of this model file.",
)
@click.option(
    "--id", "by", metavar="COLUMN", help="Column of both files by which rows are matched.  [default: by order]"
)
@names_option("--map-columns", "The coordinates of MAP.  [default: columns of numbers that TABLE does not have]")
@click.option("--labels", metavar="COLUMN", help="Column of TABLE with the class of each row.")
@click.option("--sample", type=int, help="Number of rows looked at.  [default: all up to 3,000, else 1,000]")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="File for the faults of each row of TABLE, in its order: csv, parquet, …; the first column is that of --id.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write a page that shows the map and all of this: html.",
)
@click.option("--json", "json_out", is_flag=True, help="Print the summary as one JSON object.")
@preparing_options
@sample_option
@reading_options
@in_sentences
def judge(
    source: Path,
    placed: Path,
    neighbors: int | None,
    metric: str | None,
    by: str | None,
    map_columns: list[str] | None,
    labels: str | None,
    sample: int | None,
    out: Path | None,
    report: Path | None,
    no_overwrite: bool,
    json_out: bool,
    **options: Any,
) -> None:
    """Say how far a map can be believed.

    TABLE holds the data, MAP the coordinates of its rows, made by gramfold or by any other program. Columns of MAP that
    TABLE has too, or that number the rows, are not coordinates. Rows are in the same order, or have the same value in
    the column --id.

    Four faults are named where they are above limits made of what chance and PCA give: glued (strangers are neighbours
    on the map), torn (neighbours are strangers on the map), strained (distances between neighbours changed), collapsed
    (rows share places, or lie in a crowd).

    Parquet files that are many, or larger than memory, are judged by 10,000 rows that are drawn, the same of both.

    \b
    gramfold judge cells.csv umap.csv
    gramfold judge cells.csv umap.csv --id barcode --labels type --out faults.csv
    gramfold judge cells.csv umap.csv --id barcode --labels type --report umap.html
    gramfold judge docs.npz tsne.npy --metric cosine -k 15
    gramfold judge big/ parts/ --id barcode --memory-limit 2GB
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    require_files(source, placed, options["model_file"])
    require_places(out)
    from gramfold.cli.in_words import verdict_lines
    from gramfold.diagnostics import Judged, faults, measures
    from gramfold.diagnostics.plain_words import FEWEST
    from gramfold.io import check_ids
    from gramfold.runtime.counting import counted

    check_report(report, [source, placed], [out], no_overwrite)
    if out is not None:
        check_files([source, placed], out, None, no_overwrite)
        check_ids(out, _FAULTS, by)
    limit = options.pop("memory_limit")
    how = Preparing.of(options)
    if are_drawn((source, placed), limit, metric=metric, wholly=out is not None or report is not None):
        refuse({"--out": out, "--report": report}, "is of all rows, and these files are judged by rows that are drawn")
        pair = drawn_map(source, placed, by, labels, metric, map_columns, how)
    else:
        pair = read_map(source, placed, by, labels, metric, map_columns, how)
    k = usual_neighbors(pair.n_placed) if neighbors is None else neighbors
    measure = pair.table.metric
    judged = Judged(pair.values, pair.places, n_neighbors=k, sample=sample, random_state=how.seed, **measure)
    if judged.n < FEWEST and out is not None:
        raise InputError(
            f"'{placed}' has coordinates for {judged.n} rows, and the faults of fewer than {FEWEST} cannot be told "
            "from chance: leave out --out."
        )
    found = None if judged.n < FEWEST else faults(judged)
    numbers = measures(judged, labels=pair.labels)
    if out is not None and found is not None:  # first, since nobody may read what is printed
        _write(out, found, pair)
        kept(out)
    if report is not None:
        from gramfold.cli.reported import report_judged

        report_judged(report, pair, judged, source, placed, labels, how)
        kept(report)
    if json_out:
        click.echo(_as_json(source, placed, pair, judged, found, numbers, {"out": out, "report": report}))
        return
    dimensions, by_so_many = counted(pair.places.shape[1], "dimension"), counted(k, "neighbour")
    click.echo(f"Map of {judged.n:,} rows in {dimensions}, judged by {by_so_many}")
    scales = scale_lines(pair.values, pair.columns, measure["metric"])
    told = [not_judged()] if found is None else summary(found, judged.n)
    said = verdict_lines(judged, found, names=pair.columns or None)
    for line in [*pair.table.decided(), *said, *pair.account(), *told, *_numbers(numbers, judged), *scales]:
        click.echo(f"  {line}")
    for word, path in (("rows", out), ("report", report)):
        if path is not None:
            click.echo(f"  {word:<9} {path.absolute()}")


def _numbers(numbers: "dict[str, Measure]", judged: "Judged") -> list[str]:
    lines = [
        f"{name.replace('_', ' '):<28}{value_in_words(numbers[name]):<26}{words}"
        for name, words in _WORDS.items()
        if name in numbers
    ]
    if not judged.exact:
        lines.append(f"intervals hold the value of all rows with 95% confidence ({len(judged.rows):,} rows were drawn)")
    return lines


def _as_json(
    source: Path,
    placed: Path,
    pair: MappedTable,
    judged: "Judged",
    found: "Faults | None",
    numbers: "dict[str, Measure]",
    files: dict[str, Path | None],
) -> str:
    """The summary for a program, one object."""
    from gramfold.cli.map_summary import as_json
    from gramfold.cli.trust import faults_as_numbers, measure_as_numbers
    from gramfold.diagnostics.plain_words import verdict_of

    said = verdict_of(judged, None, found, pair.columns or None)
    return as_json(
        {
            "table": str(source),
            "map": str(placed),
            "rows": judged.n,
            "rows_judged": len(judged.rows),
            "dimensions": int(pair.places.shape[1]),
            "coordinates": pair.read.coordinates,
            "columns": pair.columns,
            "neighbors": judged.n_neighbors,
            "decisions": list(pair.table.sentences),
            "verdict": [one.text for one in said.sentences],
            **({} if found is None else faults_as_numbers(found)),
            "measures": {name: measure_as_numbers(one) for name, one in numbers.items()},
            **{word: str(path.absolute()) for word, path in files.items() if path is not None},
        }
    )


def _write(out: Path, found: "Faults", pair: MappedTable) -> None:
    import numpy as np

    from gramfold.io import write_table

    values = np.full((pair.n_rows, len(_FAULTS)), np.nan)
    values[pair.rows] = np.column_stack([fault.per_point for fault in found])
    write_table(out, values, [fault.name for fault in found], ids=pair.ids)

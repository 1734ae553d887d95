"""`gramfold dimension`: read a table, print estimates of its intrinsic dimension."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.interrupted import kept
from gramfold.cli.options import check_json, preparing_options, reading_options
from gramfold.cli.partition_judging import are_drawn, drawn_table
from gramfold.cli.partition_options import sample_option
from gramfold.cli.prepared import Preparing
from gramfold.cli.sentences import in_sentences

if TYPE_CHECKING:
    from gramfold.cli.prepared import Measured
    from gramfold.diagnostics import Dimensions, Estimate


@click.command()
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", "--output", "out", type=click.Path(path_type=Path), metavar="FILE", help="Also write them as JSON."
)
@click.option(
    "-k",
    "--neighbors",
    "--n-neighbors",
    "neighbors",
    type=int,
    default=20,
    show_default=True,
    help="Number of neighbours of each row.",
)
@click.option(
    "--metric",
    default="euclidean",
    show_default=True,
    help="Distance between rows: euclidean, cosine, …, gower (INPUT may hold text and gaps), or precomputed (INPUT "
    "holds distances).",
)
@click.option("--level", type=float, default=0.9, show_default=True, help="Confidence of the intervals.")
@click.option(
    "--sample", type=int, default=20_000, show_default=True, help="Rows whose neighbours are searched, among all rows."
)
@preparing_options
@sample_option
@reading_options
@in_sentences
def dimension(
    source: Path,
    out: Path | None,
    neighbors: int,
    metric: str,
    level: float,
    sample: int,
    no_overwrite: bool,
    **options: Any,
) -> None:
    """Estimate the intrinsic dimension of the rows of a table.

    INPUT is a table: csv, tsv, txt, npy, npz, parquet or feather, or a sparse matrix saved with scipy.sparse.save_npz.

    One line for each estimator: its value, an interval, and the value corrected for the edges of the data; then a
    sentence on where they disagree, and why.

    Parquet files that are many, or larger than memory, are looked at by 10,000 rows that are drawn.

    \b
    gramfold dimension cells.csv --skip name
    gramfold dimension texts.npz --metric cosine -k 30 --out dimension.json
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    check_json(source, out, no_overwrite, "estimates are")
    from gramfold.diagnostics import dimension as estimate_dimension
    from gramfold.io import replacing

    limit = options.pop("memory_limit")
    how = Preparing.of(options)
    drawn = are_drawn([source], limit, metric=metric)
    table = drawn_table(source, metric, how) if drawn else _rows(source, metric, how)
    started = time.perf_counter()
    found = estimate_dimension(
        table.values, n_neighbors=neighbors, metric=metric, sample=sample, level=level, random_state=how.seed
    )
    seconds = time.perf_counter() - started
    found = replace(found, columns=tuple(table.names) or None)
    if out is not None:
        with replacing(out) as draft:
            draft.write_text(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf8")
        kept(out)
    click.echo(f"Intrinsic dimension of {found.n_rows:,} rows in {seconds:.2f} s")
    for line in [*table.decided(), *_lines(found)]:
        click.echo(f"  {line}")
    click.echo(found.sentence)
    if out is not None:
        click.echo(f"  written   {out.absolute()}")


def _rows(source: Path, metric: str, how: Preparing) -> "Measured":
    from gramfold.cli.prepared import measured
    from gramfold.io import read_sparse

    matrix: Any = read_sparse(source)
    if matrix is not None:
        how.refuse_columns(source)
    return measured(source, metric, None, [], how, matrix=matrix)


def _lines(found: "Dimensions") -> list[str]:
    """One line for each estimator, and one for the scales."""
    width = max(len(name) for name in found.estimates)
    lines = [f"{name:<{width}}  {_account(one)}" for name, one in found.estimates.items()]
    scales = ", ".join(f"{one} (k={k})" for k, one in found.scales.shown.items())
    return [*lines, f"{'by scale':<{width}}  {scales}"]


def _account(one: "Estimate") -> str:
    from gramfold.diagnostics.intrinsic.estimate import BEYOND

    said = f"{one.value:.3g}"
    if one.interval is not None:
        said += f"  ({one.level:.0%} interval {one.interval[0]:.3g} to {one.interval[1]:.3g})"
    if one.beyond_correction:
        return f"{said}, {BEYOND}"
    return said if one.corrected is None else f"{said}, corrected {one.corrected:.3g}"

"""`gramfold cluster`: read a table or a graph, write the cluster of each row."""

import time
from pathlib import Path
from typing import Any

import click

from gramfold.cli.interrupted import kept
from gramfold.cli.options import check_files, chosen_parameters, read_options, table_options
from gramfold.cli.row_weights import account_of_weights, read_weighed
from gramfold.cli.sentences import in_sentences
from gramfold.cli.trust import loud_lines, scales_told_by_name
from gramfold.errors import InputError

_SHOWN = 10  # cluster sizes at most in the summary


def _number(value: str | None) -> int | str | None:
    if value is None or value == "auto":
        return value
    if not value.isdigit():
        raise InputError(f"--clusters must be a positive integer or auto, but '{value}' is neither.")
    return int(value)


@click.command()
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="File to write: csv, parquet, npy, …")
@click.option(
    "-c",
    "--clusters",
    "--n-clusters",
    "clusters",
    help="Number of clusters, or auto: by the largest eigengap.  [default: auto]",
)
@table_options
@in_sentences
def cluster(
    source: Path,
    out: Path,
    settings: tuple[str, ...],
    columns: list[str] | None,
    skip: list[str] | None,
    weight: str | None,
    seed: int,
    no_overwrite: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Cluster the rows of a table, or a graph.

    Spectral clustering: the normalised cut of a neighbour graph. INPUT is a table: csv, tsv, txt, npy, npz, parquet or
    feather. It may also be a graph: a sparse matrix saved with scipy.sparse.save_npz, or a square table.

    The file that --out names gets one column `cluster`, with a row for each row of INPUT, in the same order. Clusters
    are numbered 0, 1, … as they first occur; -1 marks rows that were left out.

    \b
    gramfold cluster cells.csv --out clusters.csv
    gramfold cluster cells.parquet -c 5 -k 12 --skip name --set assign=qr --out clusters.parquet
    gramfold cluster friends.npz -c 2 --set weights=precomputed --out groups.csv
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    options["clusters"] = _number(options["clusters"])
    check_files([source], out, None, no_overwrite)
    import numpy as np

    from gramfold import SpectralClustering
    from gramfold.io import write_table

    written = read_options(options)
    parameters = chosen_parameters(SpectralClustering, options, settings, seed, quiet)
    model = SpectralClustering(**parameters)
    skip = _skipped(source, model, columns, skip, weight, written)
    table, weights = read_weighed(source, model, written, columns, skip, None, weight)
    started = time.perf_counter()
    with scales_told_by_name():
        model.fit(table.values, sample_weight=weights)
    seconds = time.perf_counter() - started
    write_table(out, model.labels_[:, None], ["cluster"])
    kept(out)
    scales = loud_lines(model, table.values, table.names, quiet)
    if quiet:
        return
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    more = f" … and {len(sizes) - _SHOWN} more" if len(sizes) > _SHOWN else ""
    found = f"{model.n_clusters_} cluster{'s' * (model.n_clusters_ != 1)}"
    click.echo(f"SpectralClustering found {found} among {len(model.labels_):,} rows in {seconds:.2f} s")
    for line in [*account_of_weights(weights, weight), *scales]:
        click.echo(f"  {line}")
    click.echo(f"  sizes     {', '.join(f'{size:,}' for size in sizes[:_SHOWN])}{more}")
    click.echo(f"  cut       {model.cut_:.3g}, normalised (0: no edges between clusters)")
    if model.n_clusters_ == np.count_nonzero(model.eigenvalues_ == 0):
        click.echo(
            "  eigengap  none: the clusters are the connected components of the graph, and the eigenvalues show no "
            "further division"
        )
    elif model.gap_ is not None:
        click.echo(f"  eigengap  {model.gap_:.1%}, relative to the next eigenvalue")
    click.echo(f"  clusters  {out.absolute()}")


def _skipped(
    source: Path, model: Any, columns: list[str] | None, skip: list[str] | None, weight: str | None, written: Any
) -> list[str] | None:
    """Columns to leave out of a table; of a graph none but those that were named."""
    from gramfold.cli.table_columns import skipped
    from gramfold.io import read_sparse

    if read_sparse(source) is not None or model.weights == "precomputed":
        return skip
    return skipped(source, columns, skip, [weight], model.metric, written) or None

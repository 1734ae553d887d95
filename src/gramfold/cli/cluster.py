"""`gramfold cluster`: a table in, the cluster of each row out."""

import time
from pathlib import Path
from typing import Any

import click

from gramfold.cli.options import check_files, chosen_parameters, read_options, table_options
from gramfold.cli.sentences import in_sentences
from gramfold.errors import InputError

_SHOWN = 10  # sizes told at most


def _number(value: str | None) -> int | str | None:
    if value is None or value == "auto":
        return value
    if not value.isdigit():
        raise InputError(f"--clusters {value} is no number of clusters: write a whole number, or auto.")
    return int(value)


@click.command()
@table_options
@click.option("-c", "--clusters", help="How many, or auto: told by the spectrum.  [default: auto]")
@in_sentences
def cluster(
    source: Path,
    out: Path,
    settings: tuple[str, ...],
    columns: list[str] | None,
    skip: list[str] | None,
    seed: int,
    no_overwrite: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Cluster the rows of the table INPUT by the normalised cut of their neighbour graph.

    A column `cluster` is written, with a row for each row of the table, in the same order: 0, 1, … as they first occur,
    and -1 for rows left out.

    \b
    gramfold cluster cells.csv --out clusters.csv
    gramfold cluster cells.parquet -c 5 -k 12 --skip name --set assign=qr --out clusters.parquet
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    import numpy as np

    from gramfold import SpectralClustering
    from gramfold.io import read_table, write_table

    check_files([source], out, None, no_overwrite)
    written = read_options(options)
    options["clusters"] = _number(options["clusters"])
    parameters = chosen_parameters(SpectralClustering, options, settings, seed, quiet)
    table = read_table(source, columns=columns, skip=skip, **written)
    started = time.perf_counter()
    model = SpectralClustering(**parameters).fit(table.values)
    seconds = time.perf_counter() - started
    write_table(out, model.labels_[:, None], ["cluster"])
    if quiet:
        return
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    more = f" … and {len(sizes) - _SHOWN} more" if len(sizes) > _SHOWN else ""
    found = f"{model.n_clusters_} cluster{'s' * (model.n_clusters_ != 1)}"
    click.echo(f"SpectralClustering found {found} among {len(model.labels_):,} rows in {seconds:.2f} s")
    click.echo(f"  sizes     {', '.join(f'{size:,}' for size in sizes[:_SHOWN])}{more}")
    click.echo(f"  cut       {model.cut_:.3g} (0: no edge between clusters)")
    if model.n_clusters_ == np.count_nonzero(model.eigenvalues_ == 0):
        click.echo(
            "  gap       none: the clusters are the connected components of the neighbour graph, and no step "
            "of the eigenvalues says that these fall apart further"
        )
    elif model.gap_ is not None:
        click.echo(f"  gap       {model.gap_:.1%} of the next eigenvalue")
    click.echo(f"  clusters  {out.absolute()}")

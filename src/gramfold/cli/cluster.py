"""`gramfold cluster`: read a table or a graph, write the cluster of each row."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.early import require_files
from gramfold.cli.interrupted import kept
from gramfold.cli.options import beside_options, check_files, preparing_options, read_options, table_options
from gramfold.cli.partition_options import OutPath, refuse_folder
from gramfold.cli.prepared import decided
from gramfold.cli.row_weights import account_of_weights
from gramfold.cli.sentences import in_sentences
from gramfold.cli.wishes import OF_A_METHOD, Wishes
from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.cli.mapped import Ready

_SHOWN = 10  # cluster sizes at most in the summary


def _number(value: str | None) -> int | str | None:
    if value is None or value == "auto":
        return value
    if not value.isdigit():
        raise InputError(f"--clusters must be a positive integer or auto, but '{value}' is neither.")
    return int(value)


@click.command()
@click.option("-o", "--out", type=OutPath(path_type=Path), required=True, help="File to write: csv, parquet, npy, …")
@click.option(
    "-c",
    "--clusters",
    "--n-clusters",
    "clusters",
    help="Number of clusters, or auto: by the largest eigengap.  [default: auto]",
)
@click.option("--model", "model_file", type=click.Path(path_type=Path), metavar="FILE", help="Also save all steps.")
@click.option("--json", "json_out", is_flag=True, help="Print the summary as one JSON object.")
@beside_options
@preparing_options
@table_options
@in_sentences
def cluster(source: Path, clusters: str | None, **options: Any) -> None:
    """Cluster the rows of a table, or a graph.

    Spectral clustering: the normalised cut of a neighbour graph. INPUT is a table: csv, tsv, txt, npy, npz, parquet or
    feather. It may also be a graph: a sparse matrix saved with scipy.sparse.save_npz, or a square table.

    Columns are left out, scaled and filled in as by `gramfold embed`. The file that --out names gets a column
    `cluster`, with a row for each row of INPUT, in the same order. Clusters are numbered 0, 1, … as they first occur;
    -1 marks rows that were left out.

    \b
    gramfold cluster cells.csv --id barcode --keep all --out clusters.csv
    gramfold cluster cells.parquet -c 5 -k 12 --skip name --set assign=qr --out clusters.parquet
    gramfold cluster friends.npz -c 2 --set weights=precomputed --out groups.csv
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    parameters = {"clusters": _number(clusters), **{name: options.pop(name) for name in OF_A_METHOD}}
    wishes = Wishes(source, parameters, read_options(options), **options)
    out = wishes.out
    assert out is not None  # a required option
    require_files(source)
    refuse_folder(out, "cluster")
    check_files([source], out, None, wishes.no_overwrite, wishes.model_file)
    import numpy as np

    from gramfold import SpectralClustering
    from gramfold.cli.mapped import make_ready
    from gramfold.cli.table_columns import ids_of, kept_beside
    from gramfold.cli.trust import loud_lines, scales_told_by_name
    from gramfold.io import check_ids, read_columns, read_sparse, write_table

    for column in (wishes.ids, *(wishes.keep or ())):
        check_ids(out, ("cluster",), column)
    found = None
    if read_sparse(source) is not None:
        wishes.refuse_columns()
    else:
        found = read_columns(source, **wishes.written)
    ids = None if found is None else ids_of(found, wishes.ids)
    beside = {} if found is None else kept_beside(found, wishes.keep, wishes.ids)
    ready = make_ready(wishes, SpectralClustering, found)
    model = ready.pipeline[-1]
    started = time.perf_counter()
    with scales_told_by_name():
        model.fit(ready.rows, sample_weight=ready.weights)
    seconds = time.perf_counter() - started
    labels = model.labels_
    if ready.known is not None:
        labels = np.full(len(ready.known), -1)
        labels[ready.known] = model.labels_
    write_table(out, labels[:, None], ["cluster"], ids=ids, beside=beside)
    kept(out)
    if wishes.model_file is not None:
        from gramfold.io.model_file import save

        save(ready.pipeline, wishes.model_file)
        kept(wishes.model_file)
    scales = loud_lines(model, ready.rows, ready.table.names, wishes.silent)
    reading = ready.table.reading if found is None else found.reading
    if wishes.json_out:
        facts = _facts(wishes, ready, labels, seconds)
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2, default=str))
    elif not wishes.quiet:
        clusters_found = f"{model.n_clusters_} cluster{'s' * (model.n_clusters_ != 1)}"
        click.echo(f"SpectralClustering found {clusters_found} among {len(labels):,} rows in {seconds:.2f} s")
        weights = account_of_weights(ready.weights, wishes.weight)
        written = [("clusters", out), ("model", wishes.model_file)]
        files = [f"{what:<9} {path.absolute()}" for what, path in written if path is not None]
        for line in [*decided(reading, ready.sentences), *weights, *scales, *_account(model, labels), *files]:
            click.echo(f"  {line}")


def _account(model: Any, labels: Any) -> list[str]:
    """Summary lines: sizes, cut, eigengap."""
    import numpy as np

    sizes = np.bincount(labels[labels >= 0])
    more = f" … and {len(sizes) - _SHOWN} more" if len(sizes) > _SHOWN else ""
    lines = [
        f"sizes     {', '.join(f'{size:,}' for size in sizes[:_SHOWN])}{more}",
        f"cut       {model.cut_:.3g}, normalised (0: no edges between clusters)",
    ]
    absent = int((labels < 0).sum())
    if absent:
        lines.append(f"left out  {absent:,} rows; their cluster is -1")
    if model.n_clusters_ == np.count_nonzero(model.eigenvalues_ == 0):
        lines.append(
            "eigengap  none: the clusters are the connected components of the graph, and the eigenvalues show no "
            "further division"
        )
    elif model.gap_ is not None:
        lines.append(f"eigengap  {model.gap_:.1%}, relative to the next eigenvalue")
    return lines


def _facts(wishes: Wishes, ready: "Ready", labels: Any, seconds: float) -> dict[str, Any]:
    """The summary for programs."""
    import numpy as np

    model, files = ready.pipeline[-1], {"clusters": wishes.out, "model": wishes.model_file}
    return {
        "input": str(wishes.source),
        "method": type(model).__name__,
        "parameters": model.get_params(),
        "rows": len(labels),
        "rows_without_cluster": int((labels < 0).sum()),
        "columns": ready.table.names,
        "sizes": np.bincount(labels[labels >= 0]).tolist(),
        "cut": float(model.cut_),
        "eigengap": None if model.gap_ is None else float(model.gap_),
        "seconds": seconds,
        "decisions": list(ready.sentences),
        **{what: str(path.absolute()) for what, path in files.items() if path is not None},
    }

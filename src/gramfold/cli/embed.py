"""`gramfold embed`: read a table or a graph, write the coordinates of each row."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gramfold.cli.completing import METHOD_OR_AUTO
from gramfold.cli.drawn import Shown, check_colored
from gramfold.cli.early import require_files
from gramfold.cli.grouped import grouped
from gramfold.cli.interrupted import kept
from gramfold.cli.map_place import map_beside
from gramfold.cli.options import beside_options, check_files, preparing_options, read_options, table_options
from gramfold.cli.partition_options import PARTITION_OPTIONS, InParts, OutPath, partition_options
from gramfold.cli.sentences import in_sentences
from gramfold.cli.wishes import OF_A_METHOD, Wishes

_GROUPS = {
    "Files": ("out", "picture", "report", "color", "label", "model_file", "json_out", "no_overwrite"),
    "Columns": ("columns", "skip", "ids", "keep", "scale", "missing", "na"),
    "Rows in partitions": PARTITION_OPTIONS,
    "Method": ("method", "dim", *OF_A_METHOD, "settings", "seed"),
    "What some methods use": ("labels", "weight", "distorted", "pair_weights", "affinity"),
    "How a text file is written": ("header", "encoding", "separator", "decimal", "thousands"),
}


def _file(*names: str, metavar: str, words: str, **more: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(*names, type=click.Path(path_type=Path), metavar=metavar, help=words, **more)


@click.command(cls=grouped(_GROUPS))
@click.option(
    "-o",
    "--out",
    type=OutPath(path_type=Path),
    metavar="FILE",
    help="Map to write: csv, parquet, npy, …; or a folder, for rows in partitions.  [default: TABLE.map.csv beside "
    "INPUT]",
)
@_file("--picture", metavar="FILE", words="Also draw the map: png, pdf, svg, …")
@_file("--report", metavar="FILE", words="Also write a page that shows the map and whether to believe it: html.")
@click.option("--color", metavar="COLUMN", help="Column that colours the picture; it is no data.  [default: --labels]")
@click.option("--label", metavar="COLUMN", help="Column whose values are written on the picture; it is no data.")
@_file("--model", "model_file", metavar="FILE", words="Also save all steps, for `gramfold transform`.")
@click.option("--json", "json_out", is_flag=True, help="Print the summary as one JSON object.")
@click.option(
    "-m",
    "--method",
    metavar="NAME",
    type=METHOD_OR_AUTO,
    help="Method, as listed by `gramfold methods`, or auto: what `gramfold advise` says.  [default: auto; isomap if an "
    "option for a method, such as -k, is given]",
)
@click.option(
    "-d",
    "--dim",
    "--n-components",
    "dim",
    metavar="NUMBER",
    help="Number of dimensions; for pca also 0.95 (share of the variance), mle or none (all).  [default: 2, or as "
    "advised]",
)
@beside_options
@preparing_options
@partition_options
@table_options
@click.option("--labels", metavar="COLUMN", help="Class of each row, for methods that use classes; it is no data.")
@_file(
    "--distorted",
    metavar="FILE",
    words="Table with a distorted version of every row, for oriented_pca; repeatable.",
    multiple=True,
)
@_file("--pair-weights", metavar="FILE", words="Square matrix of weights of pairs, for ordinal_mds; 0: unknown.")
@_file("--affinity", metavar="FILE", words="Square matrix of edge weights, for lpp and kernel_eigenmaps.")
@_file("--align-to", metavar="MAP", words="Rotate, mirror, scale and shift the map onto this earlier one.")
@_file(
    "--align-rows",
    metavar="TABLE",
    words="Data table of the earlier map, to match rows by equal values.  [default: match by position]",
)
@click.option("--explain", is_flag=True, help="Also say in words which columns the axes of the map stand for.")
@in_sentences
def embed(source: Path, **options: Any) -> None:
    """Embed the rows of a table, or a graph.

    INPUT is a table: csv (also .gz), tsv, xlsx, parquet, feather, npy, npz, h5ad, or a folder of pictures; or a sparse
    matrix saved with scipy.sparse.save_npz: rows, or if precomputed a graph.

    Columns of text and dates and those that name rows are left out, units are made alike, gaps are filled in. What was
    done is printed, with a verdict on the map.

    Parquet files that are larger than memory are read a batch at a time where --out is a folder, and a file is written
    for each. Stopped, the same command goes on where it was.

    \b
    gramfold embed cells.csv
    gramfold embed cells.csv --picture map.png --color stage --id barcode --out map.csv
    gramfold embed cells.csv --report cells.html --color stage --id barcode
    gramfold embed cells.csv -m isomap -k 10 --model cells.gramfold -o map.parquet
    gramfold embed "big/*.parquet" --id barcode --memory-limit 2GB --out mapped/
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    how = InParts.of(options)
    written = read_options(options)
    parameters = {name: options.pop(name) for name in OF_A_METHOD}
    wishes = Wishes(source, parameters, written, **options)
    name = wishes.method_name()
    require_files(source)
    if how.wanted(source, wishes.out):
        from gramfold.cli.partition_embedding import embed_partitions

        embed_partitions(wishes, name, how)
        return
    out = wishes.out or map_beside(source)
    replaced = wishes.out is None and out.exists()
    sources = [source, *wishes.other_files]
    check_files(sources, out, wishes.picture, wishes.no_overwrite, wishes.model_file, wishes.report)
    check_colored(wishes.picture, wishes.color, wishes.label, wishes.report)
    from gramfold.cli.map_summary import tell
    from gramfold.cli.mapped import fit, make_ready
    from gramfold.cli.table_columns import ids_of, kept_beside
    from gramfold.io import check_ids, read_columns, read_sparse, write_table

    for column in (wishes.ids, *(wishes.keep or ())):
        check_ids(out, (), column)
    found = None
    if read_sparse(source) is not None:
        wishes.refuse_columns()
    else:
        found = read_columns(source, **written)
    ids = None if found is None else ids_of(found, wishes.ids)
    beside = {} if found is None else kept_beside(found, wishes.keep, wishes.ids)
    shown = Shown.of(found, wishes.color, wishes.label)
    mapped = fit(wishes, make_ready(wishes, name, found))
    files = {"map": out}
    names = [str(one) for one in mapped.model.get_feature_names_out()]
    write_table(out, mapped.places, names, ids=ids, beside=beside)
    kept(out)
    if wishes.picture is not None:
        files["picture"] = wishes.picture
        title = f"{type(mapped.model).__name__}: {source.name}"
        shown.or_classes(mapped, wishes.labels).draw(mapped.places, title, wishes.picture)
        kept(wishes.picture)
    if wishes.model_file is not None:
        from gramfold.io.model_file import save

        files["model"] = wishes.model_file
        save(mapped.ready.pipeline, wishes.model_file)
        kept(wishes.model_file)
    judged = None
    if wishes.report is not None:
        from gramfold.cli.reported import report_embedded

        files["report"] = wishes.report
        judged = report_embedded(wishes, mapped, found)
        kept(wishes.report)
    reading = mapped.ready.table.reading if found is None else found.reading
    tell(wishes, mapped, reading, files, replaced, judged)

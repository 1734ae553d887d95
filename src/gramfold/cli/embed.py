"""`gramfold embed`: read a table or a graph, write the coordinates of each row."""

import time
from pathlib import Path
from typing import Any

import click

from gramfold.cli.aligned import aligned_account, check_aligned, read_old_map
from gramfold.cli.beside import account_of, check_use, read_beside
from gramfold.cli.colored import check_colored, read_color, without_color
from gramfold.cli.completing import METHOD
from gramfold.cli.explained import check_explained, explained_lines
from gramfold.cli.interrupted import kept
from gramfold.cli.options import check_files, chosen_parameters, read_options, table_options
from gramfold.cli.row_weights import account_of_weights, check_weighed, read_weighed
from gramfold.cli.sentences import in_sentences
from gramfold.cli.trust import loud_lines, scales_told_by_name, trust_lines
from gramfold.methods.names import find_method, full_name

SHOWN_SHARE = 5e-4  # a smaller one would read 0.0%
# what the values of INPUT are where this parameter is "precomputed"
PRECOMPUTED = {"metric": "distance", "kernel": "kernel value", "weights": "edge weight"}


@click.command()
@click.option(
    "-m",
    "--method",
    metavar="NAME",
    type=METHOD,
    default="isomap",
    show_default=True,
    help="Method, as listed by `gramfold methods`.",
)
@click.option(
    "-d",
    "--dim",
    "--n-components",
    "dim",
    metavar="NUMBER",
    help="Number of dimensions; for pca also 0.95 (share of the variance), mle or none (all).  [default: 2]",
)
@table_options
@click.option(
    "--labels",
    metavar="COLUMN",
    help="Column with the class of each row, for methods that use classes; it is excluded from the data.",
)
@click.option(
    "--distorted",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Table with a distorted version of every row, for oriented_pca; repeatable.",
)
@click.option(
    "--pair-weights",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Square matrix with the weight of each pair of rows, for ordinal_mds; 0 if the pair is not known.",
)
@click.option(
    "--affinity",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Square matrix with the edge weights of a graph of the rows, for lpp and kernel_eigenmaps.",
)
@click.option(
    "--align-to",
    type=click.Path(path_type=Path),
    metavar="MAP",
    help="Rotate, mirror, scale and shift the map onto this earlier one.",
)
@click.option(
    "--align-rows",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="Data table of the earlier map, to match rows by equal values.  [default: match by position]",
)
@click.option("--explain", is_flag=True, help="Also say in words which columns the axes of the map stand for.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE", help="Also draw the map: png, pdf, svg, …")
@click.option(
    "--color",
    metavar="COLUMN",
    help="Column that colours the picture; excluded from the data unless --columns has it.  [default: --labels]",
)
@in_sentences
def embed(
    source: Path,
    method: str,
    out: Path,
    settings: tuple[str, ...],
    columns: list[str] | None,
    skip: list[str] | None,
    weight: str | None,
    labels: str | None,
    distorted: tuple[Path, ...],
    pair_weights: Path | None,
    affinity: Path | None,
    align_to: Path | None,
    align_rows: Path | None,
    explain: bool,
    picture: Path | None,
    color: str | None,
    seed: int,
    no_overwrite: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Embed the rows of a table, or a graph.

    INPUT is a table: csv, tsv, txt, npy, npz, parquet or feather. It may also be a sparse matrix saved with
    scipy.sparse.save_npz: rows (texts, counts) or, if precomputed, a graph.

    The file that --out names (the map) gets the coordinates: a row for each row of INPUT, in the same order.

    \b
    gramfold embed cells.csv --method isomap --out map.csv --picture map.png
    gramfold embed cells.csv -o map.csv --picture map.png --color stage
    gramfold embed cells.parquet -m laplacian -k 12 --skip name --out map.parquet
    gramfold embed cells.csv -m lle --set reg=1e-4 --set on_disconnected=largest -o map.csv
    gramfold embed cells.csv -m isomap -k 10 --drop-short-circuits -o map.csv
    gramfold embed cells.csv -m isomap --explain -o map.csv
    gramfold embed cells.csv -m lpp --set graph=classes --labels kind -o map.csv
    gramfold embed survey.csv -m pca --sample-weight households -o map.csv
    gramfold embed clean.csv -m oriented_pca --distorted noisy.csv -o map.csv
    gramfold embed ratings.csv -m ordinal_mds --metric precomputed --pair-weights weights.csv -o map.csv
    gramfold embed people.csv -m isomap --metric gower -o map.csv
    gramfold embed papers.csv -m lpp --affinity citations.npz -o map.csv
    gramfold embed friends.npz -m laplacian --set weights=precomputed -o map.csv
    gramfold embed april.csv --align-to march_map.csv --align-rows march.csv -o april_map.csv
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    squares = {
        name: path for name, path in (("pair_weights", pair_weights), ("affinity", affinity)) if path is not None
    }
    others = [*distorted, *squares.values(), *check_aligned(align_to, align_rows)]
    full_name(method)  # a wrong one is refused before anything is imported
    check_files([source, *others], out, picture, no_overwrite)
    check_colored(picture, color)
    estimator = find_method(method)
    written = read_options(options)
    parameters = chosen_parameters(estimator, options, settings, seed, quiet)
    model = estimator(**parameters)
    check_use(model, labels, distorted, squares)
    check_weighed(model, weight)
    check_explained(model, explain)
    shades = read_color(source, color, written)
    skip = without_color(source, color, columns, skip, (labels, weight))
    table, weights = read_weighed(source, model, written, columns, skip, labels, weight)
    beside = read_beside(table, distorted, written, squares)
    old = read_old_map(table, align_to, align_rows, written, model.__sklearn_tags__().input_tags.allow_nan)
    from gramfold.io import write_table

    started = time.perf_counter()
    with scales_told_by_name():
        given = {} if weights is None else {"sample_weight": weights}
        coordinates = model.fit_transform(table.values, **beside, **given)
    seconds = time.perf_counter() - started
    aligned = model if old is None else old.align(model)
    write_table(out, aligned.embedding_, [str(name) for name in model.get_feature_names_out()])
    kept(out)
    if picture is not None:
        told_by, shown_by = (labels, table.labels) if color is None else (color, shades)
        _draw(aligned.embedding_, f"{type(model).__name__}: {source.name}", picture, shown_by, told_by)
        kept(picture)
    scales = loud_lines(model, table.values, table.names, quiet, given_graph=affinity is not None)
    if not quiet:
        click.echo(_headline(model, table.values, seconds))
        used = [*account_of(table, labels, distorted, beside), *account_of_weights(weights, weight)]
        told = [*_account(model, coordinates), *trust_lines(model, table.values, coordinates, table.names), *scales]
        for line in [*used, *told, *aligned_account(old, aligned)]:
            click.echo(f"  {line}")
    if explain:
        for line in explained_lines(aligned, table):
            click.echo(f"  {line}")
    if not quiet:
        click.echo(f"  map       {out.absolute()}")
        if picture is not None:
            click.echo(f"  picture   {picture.absolute()}")


def _draw(coordinates: Any, title: str, picture: Path, color: Any, color_label: str | None) -> None:
    from gramfold.plotting import blank_figure, plot_map, save_picture
    from gramfold.plotting.map import leading_columns

    shown, title = leading_columns(coordinates, title)
    figure = blank_figure()
    ax = figure.add_subplot(projection="3d" if shown.shape[1] == 3 else None)
    plot_map(shown, color=color, color_label=color_label, title=title, ax=ax)
    save_picture(figure, picture)


def _headline(model: Any, X: Any, seconds: float) -> str:
    rows, width = X.shape
    dimensions, parameters = model.embedding_.shape[1], model.get_params()
    values = next((word for name, word in PRECOMPUTED.items() if parameters.get(name) == "precomputed"), "column")
    count, found = width, "of"
    if values != "column" and hasattr(X, "nnz"):
        count, found = X.nnz, "with"  # as many as a sparse matrix stores
    return (
        f"{type(model).__name__} mapped {rows:,} rows {found} {count:,} {values}{'s' * (count != 1)} "
        f"to {dimensions} dimension{'s' * (dimensions != 1)} in {seconds:.2f} s"
    )


def _account(model: Any, coordinates: Any) -> list[str]:
    """Summary lines: solver, residuals, variance, certificate, timings."""
    import numpy as np

    from gramfold.extension.project import positive_directions
    from gramfold.notebook.facts import certified
    from gramfold.runtime.counting import counted

    lines = []
    spectrum = getattr(model, "spectrum_", None)
    shown = np.nan_to_num(coordinates).any(axis=0)
    if spectrum is not None:
        # an eigenpair of rounding errors has no direction: its column is zero, and its residual has no meaning
        directions = shown[: len(spectrum)] & (positive_directions(spectrum) | (spectrum.eigenvalues < 0))
        residual = f", largest residual {spectrum.residuals[directions].max():.0e}" if directions.any() else ""
        lines.append(f"solver    {spectrum.solver}{residual}")
    if not shown.all():
        lines.append(
            f"rank      {shown.sum()}, less than the {len(shown)} columns of the map; the other columns are zero"
        )
    if spectrum is not None and spectrum.total is not None and spectrum.total > 0:
        lines.append(_variance(model))
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        lines.append(f"certified {certified(certificate)}")
    dropped = len(getattr(model, "dropped_edges_", ()))
    if dropped:
        lines.append(f"dropped   {counted(dropped, 'edge')} of the neighbour graph")
    timings = getattr(model, "timings_", {})
    if timings:
        lines.append("stages    " + ", ".join(f"{stage} {spent:.2f} s" for stage, spent in timings.items()))
    absent = int(np.isnan(coordinates).any(axis=1).sum())
    if absent:
        lines.append(f"left out  {absent:,} rows; their coordinates are nan")
    return lines


def _variance(model: Any) -> str:
    """Share of the kernel's variance in the embedding."""
    negative = model.negative_part()
    share = float(model.spectrum_.eigenvalues.clip(min=0).sum()) / negative.positive_total
    whole = "total variance of the kernel"
    if negative.mass >= SHOWN_SHARE:
        found = f"{negative.mass:.1%}"
        if not negative.exact:
            found = f"about {found} ({negative.interval[0]:.1%} to {negative.interval[1]:.1%})"
        whole = f"positive part of the kernel; {found} of its spectrum is negative"
    return f"variance  {share:.1%} of the {whole}"

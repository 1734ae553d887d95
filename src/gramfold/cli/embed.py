"""`gramfold embed`: a table in, its map out."""

import time
from pathlib import Path
from typing import Any

import click

from gramfold.cli.aligned import aligned_account, check_aligned, read_old_map
from gramfold.cli.beside import account_of, check_use, read_beside
from gramfold.cli.methods import find_method
from gramfold.cli.options import check_files, chosen_parameters, read_options, table_options
from gramfold.cli.sentences import in_sentences

WORTH_TELLING = 5e-4  # a smaller share would read 0.0%
PRECOMPUTED = {"metric": "distance", "kernel": "kernel value"}  # what a column is where this parameter says so


@click.command()
@table_options
@click.option("-m", "--method", default="isomap", show_default=True, help="See `gramfold methods`.")
@click.option(
    "-d",
    "--dim",
    "--n-components",
    "dim",
    help="Columns of the map; for pca also 0.95, mle or none (all).  [default: 2]",
)
@click.option("--labels", metavar="COLUMN", help="The column with the class of each row; it is not mapped.")
@click.option(
    "--distorted",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A table with every row again, distorted; repeatable.",
)
@click.option(
    "--pair-weights",
    type=click.Path(path_type=Path),
    help="A square table with the weight of each pair of rows, 0 where it is not known.",
)
@click.option(
    "--affinity",
    type=click.Path(path_type=Path),
    help="A square table, or a file of scipy.sparse.save_npz, with the weight of each edge of a given graph.",
)
@click.option(
    "--align-to",
    type=click.Path(path_type=Path),
    metavar="MAP",
    help="Turn, mirror, scale and shift the map onto this one, written earlier.",
)
@click.option(
    "--align-rows",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="The table of that map: rows of equal values are in common.  [default: row i is row i]",
)
@click.option("--picture", type=click.Path(path_type=Path), help="Also draw the map: png, pdf, svg.")
@in_sentences
def embed(
    source: Path,
    method: str,
    out: Path,
    settings: tuple[str, ...],
    columns: list[str] | None,
    skip: list[str] | None,
    labels: str | None,
    distorted: tuple[Path, ...],
    pair_weights: Path | None,
    affinity: Path | None,
    align_to: Path | None,
    align_rows: Path | None,
    picture: Path | None,
    seed: int,
    no_overwrite: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Map the rows of the table INPUT (csv, tsv, txt, npy, npz, parquet or feather).

    The map has a row for each row of the table, in the same order.

    \b
    gramfold embed cells.csv --method isomap --out map.csv --picture map.png
    gramfold embed cells.parquet -m laplacian -k 12 --skip name --out map.parquet
    gramfold embed cells.csv -m lle --set reg=1e-4 --set on_disconnected=largest -o map.csv
    gramfold embed cells.csv -m lpp --set graph=classes --labels kind -o map.csv
    gramfold embed clean.csv -m oriented_pca --distorted noisy.csv -o map.csv
    gramfold embed ratings.csv -m ordinal_mds --metric precomputed --pair-weights weights.csv -o map.csv
    gramfold embed papers.csv -m lpp --affinity citations.npz -o map.csv
    gramfold embed april.csv --align-to march_map.csv --align-rows march.csv -o april_map.csv
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    from gramfold.io import read_table, write_table

    squares = {
        name: path for name, path in (("pair_weights", pair_weights), ("affinity", affinity)) if path is not None
    }
    others = [*distorted, *squares.values(), *check_aligned(align_to, align_rows)]
    check_files([source, *others], out, picture, no_overwrite)
    estimator = find_method(method)
    written = read_options(options)
    parameters = chosen_parameters(estimator, options, settings, seed, quiet)
    model = estimator(**parameters)
    check_use(model, labels, distorted, squares)
    fills_gaps = model.__sklearn_tags__().input_tags.allow_nan
    table = read_table(source, columns=columns, skip=skip, gaps=fills_gaps, labels=labels, **written)
    beside = read_beside(table, distorted, written, squares)
    old = read_old_map(table, align_to, align_rows, written, fills_gaps)
    started = time.perf_counter()
    places = model.fit_transform(table.values, **beside)
    seconds = time.perf_counter() - started
    aligned = model if old is None else old.align(model)
    write_table(out, aligned.embedding_, [str(name) for name in model.get_feature_names_out()])
    if picture is not None:
        _draw(aligned.embedding_, f"{type(model).__name__}: {source.name}", picture)
    if not quiet:
        click.echo(_headline(model, table.values.shape, seconds))
        used = account_of(table, labels, distorted, beside)
        told = [*used, *_account(model, places), *aligned_account(old, aligned)]
        for line in told:
            click.echo(f"  {line}")
        click.echo(f"  map       {out.absolute()}")
        if picture is not None:
            click.echo(f"  picture   {picture.absolute()}")


def _draw(places: Any, title: str, picture: Path) -> None:
    from gramfold.plotting import blank_figure, plot_map, save_picture

    width = places.shape[1]
    shown = places if width <= 3 else places[:, :2]
    if width > 3:
        title = f"{title} (the first 2 of {width} columns)"
    figure = blank_figure()
    plot_map(shown, title=title, ax=figure.add_subplot(projection="3d" if shown.shape[1] == 3 else None))
    save_picture(figure, picture)


def _headline(model: Any, shape: tuple[int, ...], seconds: float) -> str:
    rows, width = shape
    dimensions, parameters = model.embedding_.shape[1], model.get_params()
    values = next((word for name, word in PRECOMPUTED.items() if parameters.get(name) == "precomputed"), "column")
    return (
        f"{type(model).__name__} mapped {rows:,} rows of {width:,} {values}{'s' * (width != 1)} "
        f"to {dimensions} dimension{'s' * (dimensions != 1)} in {seconds:.2f} s"
    )


def _account(model: Any, places: Any) -> list[str]:
    """How the map was made and how far to trust it, from what the model tells of itself."""
    import numpy as np

    from gramfold.extension.project import positive_directions

    lines = []
    spectrum = getattr(model, "spectrum_", None)
    shown = np.nan_to_num(places).any(axis=0)
    if spectrum is not None:
        # an eigenpair that rounding made has no direction: its column is zero, and its residual says nothing
        directions = shown[: len(spectrum)] & (positive_directions(spectrum) | (spectrum.eigenvalues < 0))
        residual = f", largest residual {spectrum.residuals[directions].max():.0e}" if directions.any() else ""
        lines.append(f"solver    {spectrum.solver}{residual}")
    if not shown.all():
        lines.append(f"rank      {shown.sum()} of {len(shown)} columns; the others are zero")
    if spectrum is not None:
        lines += _variance(spectrum)
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        lines.append(f"proof     within {certificate.gap:.1e} of the largest variance that any kernel can have")
    timings = getattr(model, "timings_", {})
    if timings:
        lines.append("stages    " + ", ".join(f"{stage} {spent:.2f} s" for stage, spent in timings.items()))
    absent = int(np.isnan(places).any(axis=1).sum())
    if absent:
        lines.append(f"no place  {absent:,} rows, written as nan")
    return lines


def _variance(spectrum: Any) -> list[str]:
    """The share of the kernel that the map holds, where the whole trace is known."""
    if not spectrum.total or spectrum.total <= 0:
        return []
    kept = float(spectrum.eigenvalues.clip(min=0).sum())
    negative = spectrum.negative_mass
    if negative is None:
        # an indefinite kernel's trace is less than its positive part: a share of it would flatter the map
        if spectrum.most_negative is not None and spectrum.most_negative < 0:
            return []
        return [f"variance  {kept / spectrum.total:.1%} of the kernel's"]
    # trace = P − N and N / (P + N) = negative, so P = trace (1 − negative) / (1 − 2 negative)
    positive = spectrum.total * (1 - negative) / (1 - 2 * negative)
    tail = f"; {negative:.1%} of the kernel is negative" if negative >= WORTH_TELLING else ""
    return [f"variance  {kept / positive:.1%} of the kernel's{tail}"]

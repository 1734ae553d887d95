"""`gramfold embed`: a table in, its map out."""

import ast
import csv
import sys
import time
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from gramfold.cli.methods import find_method, parameters_of
from gramfold.cli.sentences import in_sentences
from gramfold.errors import InputError

DEFAULT_SEED = 0  # the same command gives the same map
WORTH_TELLING = 5e-4  # a smaller share would read 0.0%
# options that stand for a constructor's parameter
PARAMETER_OF = {"dim": "n_components", "neighbors": "n_neighbors", "radius": "radius", "metric": "metric"}


def _split(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:  # noqa: ARG001
    """Column names separated by commas; a name with a comma in it stands in double quotes."""
    if value is None:
        return None
    return [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]


@click.command()
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("-m", "--method", default="isomap", show_default=True, help="See `gramfold methods`.")
@click.option("-d", "--dim", type=int, help="Columns of the map.  [default: 2]")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="The map: csv, parquet, npy, …")
@click.option("-k", "--neighbors", type=int, help="Neighbours of each row.")
@click.option("--radius", type=float, help="Neighbours are the rows within this distance.")
@click.option("--metric", help="euclidean, cosine, … or precomputed (INPUT holds distances).")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="Any other parameter of the method; repeatable.",
)
@click.option("--columns", callback=_split, metavar="A,B", help="Use only these columns.")
@click.option("--skip", callback=_split, metavar="A,B", help="Leave these columns out.")
@click.option("--picture", type=click.Path(path_type=Path), help="Also draw the map: png, pdf, svg.")
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="For methods that use chance.")
@click.option("--no-overwrite", is_flag=True, help="Refuse when the file to write is already there.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but warnings and errors.")
@in_sentences
def embed(
    source: Path,
    method: str,
    out: Path,
    settings: tuple[str, ...],
    columns: list[str] | None,
    skip: list[str] | None,
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
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    from gramfold.io import read_table, write_table

    _check_files(source, out, picture, no_overwrite)
    estimator = find_method(method)
    parameters = _parameters(estimator, options, settings, seed, quiet)
    table = read_table(source, columns=columns, skip=skip)
    started = time.perf_counter()
    model = estimator(**parameters)
    places = model.fit_transform(table.values)
    seconds = time.perf_counter() - started
    write_table(out, places, [str(name) for name in model.get_feature_names_out()])
    if picture is not None:
        _draw(places, f"{type(model).__name__}: {source.name}", picture)
    if not quiet:
        click.echo(_headline(model, table.values.shape, seconds))
        for line in _account(model, places):
            click.echo(f"  {line}")
        click.echo(f"  map       {out.resolve()}")
        if picture is not None:
            click.echo(f"  picture   {picture.resolve()}")


def _check_files(source: Path, out: Path, picture: Path | None, no_overwrite: bool) -> None:
    """Refuse what could not be written before the work, not after it."""
    from gramfold.io import check_destination

    check_destination(out)
    if picture is not None:
        from gramfold.plotting import check_picture_destination

        check_picture_destination(picture)
    for path in (out, picture):
        if path is None or not path.exists():
            continue
        if source.exists() and path.samefile(source):
            raise InputError(f"'{path}' is the input itself, and would be lost: write to another file.")
        if no_overwrite:
            raise InputError(f"'{path}' is already there: choose another name, or leave out --no-overwrite.")


def _parameters(
    estimator: type, options: dict[str, Any], settings: Sequence[str], seed: int, quiet: bool
) -> dict[str, Any]:
    """Constructor parameters from the options, from --set, and what the command line itself adds."""
    known = parameters_of(estimator)
    chosen: dict[str, Any] = {}
    for option, value in options.items():
        if value is None:
            continue
        name = PARAMETER_OF[option]
        if name not in known:
            raise InputError(f"{estimator.__name__} has no {name}, so --{option} means nothing to it: leave it out.")
        chosen[name] = value
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise InputError(f"--set {setting} has no value: write --set {setting}=VALUE.")
        if name not in known:
            close = get_close_matches(name, known, n=1)
            instead = f"did you mean '{close[0]}'?" if close else f"it takes {', '.join(known)}."
            raise InputError(f"{estimator.__name__} has no parameter '{name}': {instead}")
        if name in chosen:
            raise InputError(f"{name} is given twice, once with --set: give it once.")
        chosen[name] = _value(text)
    # a method without chance gives the same map for every seed, so --seed is never wrong
    if "random_state" in known:
        chosen.setdefault("random_state", seed)
    if "verbose" in known and not quiet and sys.stderr.isatty():
        chosen.setdefault("verbose", 1)
    return chosen


def _value(text: str) -> Any:
    """A number, None, True, False, list … as Python writes it; anything else is a word."""
    named = {"none": None, "true": True, "false": False}
    if text.strip().lower() in named:
        return named[text.strip().lower()]
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()


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
    rows, columns = shape
    dimensions = model.embedding_.shape[1]
    return (
        f"{type(model).__name__} mapped {rows:,} rows of {columns:,} column{'s' * (columns != 1)} "
        f"to {dimensions} dimension{'s' * (dimensions != 1)} in {seconds:.2f} s"
    )


def _account(model: Any, places: Any) -> list[str]:
    """How the map was made and how far to trust it, from what the model tells of itself."""
    import numpy as np

    lines = []
    spectrum = getattr(model, "spectrum_", None)
    if spectrum is not None:
        residual = float(np.max(spectrum.residuals, initial=0.0))
        lines.append(f"solver    {spectrum.solver}, largest residual {residual:.0e}")
        lines += _variance(spectrum)
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

"""Options that every command on a table has, and what becomes of them."""

import ast
import csv
import io
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from gramfold.cli.methods import parameters_of
from gramfold.errors import InputError

DEFAULT_SEED = 0  # the same command gives the same result
# options that stand for a constructor's parameter
PARAMETER_OF = {
    "dim": "n_components",
    "clusters": "n_clusters",
    "neighbors": "n_neighbors",
    "radius": "radius",
    "metric": "metric",
}


def _split(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[str] | None:  # noqa: ARG001
    """Column names separated by commas, or each by itself; a name with a comma in it stands in double quotes."""
    if not values:
        return None
    try:
        rows = [row for value in values for row in csv.reader(io.StringIO(value, newline=""), skipinitialspace=True)]
    except csv.Error as error:
        raise click.BadParameter(f"{error}; write names separated by commas.") from error
    return [name.strip() for row in rows for name in row]


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """INPUT, --out, and how its rows are read and become neighbours."""
    for decorate in reversed(_TABLE_OPTIONS):
        command = decorate(command)
    return command


_TABLE_OPTIONS = [
    click.argument("source", metavar="INPUT", type=click.Path(path_type=Path)),
    click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="csv, parquet, npy, …"),
    click.option("-k", "--neighbors", type=int, help="Neighbours of each row."),
    click.option("--radius", type=float, help="Neighbours are the rows within this distance."),
    click.option("--metric", help="euclidean, cosine, … or precomputed (INPUT holds distances)."),
    click.option(
        "--set",
        "settings",
        metavar="NAME=VALUE",
        multiple=True,
        help="Any other parameter of the method; repeatable.",
    ),
    click.option(
        "--columns", callback=_split, metavar="A,B", multiple=True, help="Use only these columns; repeatable."
    ),
    click.option("--skip", callback=_split, metavar="A,B", multiple=True, help="Leave these columns out; repeatable."),
    click.option("--header/--no-header", default=None, help="Whether the first line holds names.  [default: look]"),
    click.option("--decimal", metavar="MARK", help="Mark before the fraction, as in 1,5.  [default: .]"),
    click.option("--thousands", metavar="MARK", help="Mark between thousands, as in 1,234.  [default: none]"),
    click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="For methods that use chance."),
    click.option("--no-overwrite", is_flag=True, help="Refuse when the file to write is already there."),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing but warnings and errors."),
]


def check_files(sources: Sequence[Path], out: Path, picture: Path | None, no_overwrite: bool) -> None:
    """Refuse what could not be written before the work, not after it."""
    from gramfold.io import check_destination

    check_destination(out)
    if picture is not None:
        from gramfold.plotting import check_picture_destination

        check_picture_destination(picture)
        if picture.resolve() == out.resolve():
            raise InputError(f"'{picture}' and '{out}' are one file: write the map and its picture to two.")
    for path in (out, picture):
        if path is None or not path.exists():
            continue
        if any(_same(path, source) for source in sources):
            raise InputError(f"'{path}' is the input itself, and would be lost: write to another file.")
        if no_overwrite:
            raise InputError(f"'{path}' is already there: choose another name, or leave out --no-overwrite.")


def _same(path: Path, source: Path) -> bool:
    try:
        return path.samefile(source)
    except (OSError, ValueError):  # there is no such source, which its reader tells
        return False


def read_options(options: dict[str, Any]) -> dict[str, Any]:
    """How text files are read, taken out of the options; nothing where all is as usual."""
    given = {name: options.pop(name) for name in ("header", "decimal", "thousands")}
    return {name: value for name, value in given.items() if value is not None}


def chosen_parameters(
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
        chosen[name] = _value(value) if option == "dim" else value  # which may be a share or a word
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
    if "verbose" in known and not quiet and sys.stderr is not None and sys.stderr.isatty():
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

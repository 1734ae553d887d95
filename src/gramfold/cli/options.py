"""Options that every command on a table has, and what becomes of them."""

import ast
import csv
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


def _split(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:  # noqa: ARG001
    """Column names separated by commas; a name with a comma in it stands in double quotes."""
    if value is None:
        return None
    return [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]


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
    click.option("--columns", callback=_split, metavar="A,B", help="Use only these columns."),
    click.option("--skip", callback=_split, metavar="A,B", help="Leave these columns out."),
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
    for path in (out, picture):
        if path is None or not path.exists():
            continue
        if any(source.exists() and path.samefile(source) for source in sources):
            raise InputError(f"'{path}' is the input itself, and would be lost: write to another file.")
        if no_overwrite:
            raise InputError(f"'{path}' is already there: choose another name, or leave out --no-overwrite.")


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

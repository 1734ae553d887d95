"""`gramfold datasets`: the data sets that gramfold generates, and one of them in a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.completing import DATASET
from gramfold.cli.early import require_places
from gramfold.cli.interrupted import kept
from gramfold.cli.options import DEFAULT_SEED, check_files
from gramfold.cli.sentences import in_sentences
from gramfold.errors import InputError
from gramfold.runtime.close_names import did_you_mean

if TYPE_CHECKING:
    from gramfold.datasets import Sample


@dataclass(frozen=True)
class Generated:
    """A data set in a line, and what its true coordinates are called."""

    line: str
    truth: tuple[str, ...]


DATASETS = {
    "swiss_roll": Generated("a sheet rolled up, 3 columns", ("arc_length", "height")),
    "s_curve": Generated("a sheet bent into an S, 3 columns", ("arc_length", "height")),
    "twin_peaks": Generated("two hills and two hollows, 3 columns", ("u", "v")),
    "punctured_sphere": Generated("a sphere without a cap, 3 columns", ("u", "v")),
    "severed_sphere": Generated("a sphere without its poles and a slice, 3 columns", ("longitude", "latitude")),
    "torus": Generated("the surface of a ring, 3 columns", ("around_axis", "around_tube")),
    "helix": Generated("a closed wire around a ring, 3 columns", ("angle",)),
    "gaussian_clusters": Generated("three round groups, 2 columns", ("group",)),
    "teapots": Generated("pictures of a turning teapot, 7676 pixels each", ("angle",)),
}


@click.command()
@click.argument("name", required=False, type=DATASET)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="FILE", help="File to write: csv, parquet, npy, …"
)
@click.option("-n", "--rows", type=click.IntRange(min=1), help="Number of rows.  [default: 1000; teapots: 400]")
@click.option("--noise", type=click.FloatRange(min=0), help="Standard deviation of noise in all columns.  [default: 0]")
@click.option("--truth", is_flag=True, help="Also write the true coordinates, as last columns named true_….")
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="Seed of the random numbers.")
@click.option("--no-overwrite", is_flag=True, help="Raise an error if the file to write exists.")
@in_sentences
def datasets(
    name: str | None,
    out: Path | None,
    rows: int | None,
    noise: float | None,
    truth: bool,
    seed: int,
    no_overwrite: bool,
) -> None:
    """List the data sets that gramfold generates, or write one.

    Their true coordinates are known, so that a map can be compared with them: --truth writes them too.

    \b
    gramfold datasets
    gramfold datasets swiss_roll --rows 1000 --out roll.csv
    gramfold datasets torus -n 500 --noise 0.05 --truth --out torus.parquet
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    if name is None:
        if out is not None:
            raise InputError("--out was given without the name of a data set: `gramfold datasets` lists them.")
        click.echo(_listed())
        return
    chosen = _found(name)
    if out is None:
        raise InputError(f"There is no file to write '{chosen}' to: name it, as in --out {chosen}.csv.")
    require_places(out)
    check_files([], out, None, no_overwrite)
    sample = _generated(chosen, rows, noise, seed)
    values, names = _columns(sample, DATASETS[chosen].truth if truth else ())
    from gramfold.io import write_table

    write_table(out, values, names)
    kept(out)
    click.echo(f"{chosen}: {values.shape[0]:,} rows of {values.shape[1]:,} columns\n  written   {out.absolute()}")


def _listed() -> str:
    width = max(map(len, DATASETS))
    lines = [f"  {name:<{width}}  {one.line}" for name, one in DATASETS.items()]
    return "\n".join([*lines, "", "gramfold datasets swiss_roll --rows 1000 --out roll.csv   writes one"])


def _found(name: str) -> str:
    wanted = name.strip().lower().replace("-", "_").removeprefix("make_")
    begun = [one for one in DATASETS if one.startswith(wanted)] if wanted else []
    if wanted in DATASETS or len(begun) == 1:
        return wanted if wanted in DATASETS else begun[0]
    if begun:
        raise InputError(f"'{name}' is ambiguous ({', '.join(begun)}): write more of the name.")
    instead = did_you_mean(wanted, DATASETS) or f"use one of {', '.join(DATASETS)}."
    raise InputError(f"There is no data set '{name}': {instead}")


def _generated(name: str, rows: int | None, noise: float | None, seed: int) -> "Sample":
    from inspect import signature

    import gramfold.datasets

    make: Any = getattr(gramfold.datasets, f"make_{name}")
    takes = signature(make).parameters
    given: dict[str, Any] = {} if rows is None else {"n_samples": rows}
    if noise is not None:
        if "noise" not in takes:
            raise InputError(f"{name} has no noise: leave out --noise.")
        given["noise"] = noise
    if "random_state" in takes:  # nothing is random in the teapots
        given["random_state"] = seed
    sample: Sample = make(**given)
    return sample


def _columns(sample: "Sample", truth: tuple[str, ...]) -> tuple[Any, list[str]]:
    import numpy as np

    width = sample.points.shape[1]
    names = list("xyz")[:width] if width <= len("xyz") else [f"x{column}" for column in range(width)]
    if not truth:
        return sample.points, names
    return np.column_stack([sample.points, sample.truth]), [*names, *(f"true_{one}" for one in truth)]

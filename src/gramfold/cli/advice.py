"""`gramfold advise`: read a table, print what to do with it."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.interrupted import kept
from gramfold.cli.options import check_json, read_options, reading_options, require_own_names
from gramfold.cli.sentences import in_sentences
from gramfold.cli.written_numbers import warn_of_written_numbers
from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.advice import Advice
    from gramfold.io import Table

_SCALES = {"none": "none", "standardise": "standard", "robust": "robust"}


@click.command()
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", "--output", "out", type=click.Path(path_type=Path), metavar="FILE", help="Also write it as JSON."
)
@click.option("--labels", metavar="COLUMN", help="Column with the class of each row; it is excluded from the data.")
@click.option("--code", is_flag=True, help="Print the Python code of the plan, for a table X, and nothing else.")
@reading_options
@in_sentences
def advise(
    source: Path,
    out: Path | None,
    labels: str | None,
    code: bool,
    columns: list[str] | None,
    skip: list[str] | None,
    seed: int,
    no_overwrite: bool,
    **options: Any,
) -> None:
    """Say how to map a table, before a fit.

    INPUT is a table: csv, tsv, txt, npy, npz, parquet or feather, which may hold text, categories, dates and gaps, or a
    sparse matrix saved with scipy.sparse.save_npz.

    Printed are the columns to leave out, what to do about gaps and units, the metric, the method and its parameters,
    each with a reason; then the command that makes the map, where one command can.

    \b
    gramfold advise cells.csv
    gramfold advise cells.csv --labels kind --out advice.json
    gramfold advise cells.csv --code > fit.py
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    check_json(source, out, no_overwrite, "advice is")
    from gramfold.advice.advising import advice_for
    from gramfold.io import replacing

    written = read_options(options)
    table = require_own_names(_read(source, {"columns": columns, "skip": skip, "labels": labels}, written))
    found = advice_for(table.values, table.labels, seed, table.names or None)
    if out is not None:
        with replacing(out) as draft:
            draft.write_text(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf8")
        kept(out)
    if code:
        click.echo(found.code, nl=False)
        return
    click.echo(str(found))
    command = _command(found, source, columns, skip, labels, written)
    click.echo(f"  command     {command}" if command else "  command     none makes this plan: see --code")
    if out is not None:
        click.echo(f"  written     {out.absolute()}")


def _read(source: Path, named: dict[str, Any], written: dict[str, Any]) -> "Table":
    """INPUT with numbers if it holds nothing else, which is much faster than with text."""
    from gramfold.cli.table_columns import classes_of, frame_of
    from gramfold.io import Table, read_columns, read_sparse, read_table

    matrix: Any = read_sparse(source)
    if matrix is not None:
        given = [f"--{name}" for name, value in {**named, **written}.items() if value is not None]
        if given:
            raise InputError(f"'{source}' is a sparse matrix, which has no column names or text: leave out {given[0]}.")
        return Table(matrix, [], source)
    try:
        return read_table(source, missing=True, **named, **written)
    except InputError:  # text, dates, or what the other readers refuse too
        found = read_columns(source, **written)
        if found.lines is None and "date" in found.kinds.values():  # of a file with types: the advice leaves them out
            labels = named["labels"]
            not_data = [] if labels is None else [labels]
            frame = frame_of(found, named["columns"], named["skip"], not_data, mixed=None)
            return Table(frame.table, [], source, labels=classes_of(found, labels))
        table = read_table(source, missing=True, text=True, **named, **written)
        warn_of_written_numbers(source, table)
        return table


def _command(
    found: "Advice",
    source: Path,
    columns: list[str] | None,
    skip: list[str] | None,
    labels: str | None,
    written: dict[str, Any],
) -> str | None:
    """The command that does all of the plan; None where none does."""
    from gramfold.methods.names import in_small_letters

    metric = found.metric.value
    if found.scaling.value not in _SCALES and metric == "euclidean":
        return None
    out = [*(skip or []), *(str(one) for one in found.left_out.value)]
    words = ["gramfold", "embed", str(source), "--method", in_small_letters(found.method.value)]
    words += ["-d", str(found.n_components.value)]
    words += [] if found.n_neighbors.value is None else ["-k", str(found.n_neighbors.value)]
    words += [] if metric == "euclidean" else ["--metric", metric]
    words += ["--scale", _SCALES[found.scaling.value]] if metric == "euclidean" else []
    words += [] if columns is None else ["--columns", _listed(columns)]
    words += ["--skip", _listed(out)] if out else []
    words += [] if found.landmarks.value is None else ["--set", f"landmarks={found.landmarks.value}"]
    if labels is not None:
        words += ["--labels", labels, "--set", "graph=classes"] if found.supervised else ["--skip", labels]
    for option, value in written.items():
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{option}")
        elif option == "na":
            words += [word for code in value for word in ("--na", code)]
        else:
            words += [f"--{option}", value]
    return shlex.join([*words, "--out", "map.csv"])


def _listed(names: list[str]) -> str:
    return ",".join(f'"{name}"' if "," in name else name for name in names)

"""`gramfold info`: what is in a model file."""

import json
import shlex
from pathlib import Path

import click

from gramfold.cli.early import require_files
from gramfold.cli.sentences import in_sentences


@click.command()
@click.argument("source", metavar="MODEL", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@in_sentences
def info(source: Path, as_json: bool) -> None:
    """Say what is in a model file, and whether it holds training rows.

    MODEL is a file that `gramfold embed --model`, or gramfold.save in Python, has written. Its bytes are compared with
    their digests, and nothing in it is run. A file that holds training rows should be guarded as the table itself.

    \b
    gramfold info cells.gramfold
    gramfold info cells.gramfold --json
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    require_files(source)
    from gramfold.cli.fitted_steps import told_of_tables
    from gramfold.io.model_file import model_info

    with told_of_tables(source, f"`gramfold advise {shlex.quote(str(source))}` says what is in a table"):
        found = model_info(source)
    click.echo(json.dumps(vars(found), indent=2, ensure_ascii=False, default=str) if as_json else str(found))

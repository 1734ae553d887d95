"""`gramfold methods`: the methods, and the parameters of one."""

import inspect
import re
from typing import Any

import click

from gramfold.cli.completing import METHOD_OR_CLUSTERER
from gramfold.cli.sentences import in_sentences

# parameters that have an option of their own, which is shorter than --set
_FLAGS = {"n_components": "-d", "n_neighbors": "-k", "n_clusters": "-c", "random_state": "--seed"}
_SAME_NAME = ("radius", "metric", "search")


def parameters_of(method: type) -> dict[str, inspect.Parameter]:
    """The parameters of its constructor."""
    return dict(inspect.signature(method).parameters)


@click.command()
@click.argument("name", required=False, type=METHOD_OR_CLUSTERER)
@in_sentences
def methods(name: str | None) -> None:
    """List the methods, or the parameters of one.

    Without NAME, the methods for `gramfold embed --method`. With NAME, the parameters of this method, and how each is
    set. The parameters of `gramfold cluster` are those of spectral_clustering.

    \b
    gramfold methods
    gramfold methods lle
    gramfold methods spectral_clustering
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    if name is None:
        from gramfold.cli.listing import listed

        click.echo(listed())
        return
    from gramfold.methods.names import find_estimator

    click.echo(_account_of(find_estimator(name)))


def _account_of(method: type) -> str:
    doc: Any = inspect.getdoc(method) or ""
    # numpydoc: the summary and the parameters come before the fitted attributes
    told = str(re.split(r"\n(?:Attributes|Notes|See Also|References|Examples)\n-+\n", doc)[0]).rstrip()
    lines = [_with_option(line, method) for line in told.splitlines()]
    return "\n".join(lines)


def _with_option(line: str, method: type) -> str:
    """The line that names a parameter, with the option that sets it."""
    name, colon, words = line.partition(" : ")
    if not colon or name not in parameters_of(method):
        return line
    option = f"--{name}" if name in _SAME_NAME else _FLAGS.get(name, f"--set {name}=")
    return f"{option}  ({name}) : {words}" if not option.endswith("=") else f"{option} : {words}"

"""`gramfold methods`: the methods, and the parameters of one."""

import inspect
import re
from textwrap import fill
from typing import Any

import click

from gramfold.cli.completing import METHOD_OR_CLUSTERER
from gramfold.cli.listing import WIDTH, listed
from gramfold.cli.sentences import in_sentences

# parameters that have an option of their own; --set sets the others
_OPTIONS = {
    "n_components": "-d, --dim",
    "n_neighbors": "-k, --neighbors",
    "n_clusters": "-c, --clusters",
    "radius": "--radius",
    "metric": "--metric",
    "search": "--search",
    "random_state": "--seed",
}


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
        click.echo(listed())
        return
    from gramfold.methods.names import find_estimator

    click.echo(_account_of(find_estimator(name)))


def _account_of(method: type) -> str:
    """The summary and the parameters of its docstring, in lines of a terminal, with the option that sets each."""
    doc: Any = inspect.getdoc(method) or ""
    # numpydoc: the summary and the parameters come before the fitted attributes
    told = str(re.split(r"\n(?:Attributes|Notes|See Also|References|Examples)\n-+\n", doc)[0]).rstrip()
    about, _, parameters = told.partition("\nParameters\n----------\n")
    about = about.replace("``", "").strip()
    lines = [fill(" ".join(part.split()), WIDTH) + "\n" for part in about.split("\n\n")]
    for name, kind, words in re.findall(r"^(\w+) : (.*)\n((?: +.*\n?|\n)*)", parameters, re.MULTILINE):
        lines.append(fill(f"{_option(name)}  {kind}", WIDTH, subsequent_indent="        "))
        plain = " ".join(words.replace("``", "").split())
        lines.append(fill(plain, WIDTH, initial_indent="    ", subsequent_indent="    "))
    return "\n".join(lines)


def _option(name: str) -> str:
    """The option that sets a parameter."""
    return _OPTIONS.get(name, f"--set {name}=")

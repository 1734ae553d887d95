"""`gramfold methods`: the methods, and the parameters of one."""

import inspect
import re
from typing import Any

import click

from gramfold.cli.sentences import in_sentences
from gramfold.methods.names import estimators, find_method, found, known_methods

__all__ = ["find_method", "known_methods", "methods", "parameters_of"]


def parameters_of(method: type) -> dict[str, inspect.Parameter]:
    """The parameters of its constructor."""
    return dict(inspect.signature(method).parameters)


@click.command()
@click.argument("name", required=False)
@in_sentences
def methods(name: str | None) -> None:
    """List the methods, or the parameters of one.

    Without NAME, the methods for `gramfold embed --method`. With NAME, the parameters of this method, for `--set`. The
    parameters of `gramfold cluster` are those of spectral_clustering.

    \b
    gramfold methods
    gramfold methods lle
    gramfold methods spectral_clustering
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    if name is not None:
        click.echo(_account_of(found(name, estimators())))
        return
    known = known_methods()
    width = max(map(len, known))
    for key, method in known.items():
        click.echo(f"{key:<{width}}  {_summary(method)}")


def _summary(method: type) -> str:
    return (inspect.getdoc(method) or "").partition("\n")[0]


def _account_of(method: type) -> str:
    doc: Any = inspect.getdoc(method) or ""
    # numpydoc: the summary and the parameters come before the fitted attributes
    return str(re.split(r"\n(?:Attributes|Notes|See Also|References|Examples)\n-+\n", doc)[0]).rstrip()

"""`gramfold methods`, and methods by their names, as gramfold exports them."""

import inspect
import re
from typing import Any

import click

from gramfold.cli.sentences import in_sentences
from gramfold.errors import InputError

# KernelPCA -> kernel_pca: a word starts after a lower-case letter, and before the last of several capitals
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def known_methods() -> dict[str, type]:
    """Every exported estimator with an embedding, by its lower-case name, without aliases."""
    return {name: method for name, method in _mappers().items() if name == in_small_letters(method.__name__)}


def find_method(name: str) -> type:
    """The class with this name, alias or unambiguous beginning of one; hyphens count as underscores."""
    return _found(name, _mappers())


def _mappers() -> dict[str, type]:
    return {name: thing for name, thing in _estimators().items() if hasattr(thing, "fit_transform")}


def _estimators() -> dict[str, type]:
    """Every exported estimator by each of its names."""
    from sklearn.base import BaseEstimator

    import gramfold

    exported = {in_small_letters(name): getattr(gramfold, name) for name in gramfold.__all__}
    return {
        name: thing
        for name, thing in sorted(exported.items())
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
    }


def in_small_letters(name: str) -> str:
    """The name of a class as the command line has it."""
    return _WORD_STARTS.sub("_", name).lower()


def _found(name: str, named: dict[str, type]) -> type:
    wanted = name.strip().lower().replace("-", "_")
    if wanted in named:
        return named[wanted]
    begun = [known for known in named if known.startswith(wanted)] if wanted else []
    if len(begun) == 1:
        return named[begun[0]]
    if begun:
        raise InputError(f"'{name}' is ambiguous ({', '.join(begun)}): write more of the name.")
    raise InputError(f"There is no method '{name}': use one of {', '.join(known_methods())}.")


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
        click.echo(_account_of(_found(name, _estimators())))
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

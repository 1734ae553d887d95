"""Words that a shell completes beside options and files: methods and data sets."""

from collections.abc import Callable, Iterable
from typing import Any

import click


class _Named(click.ParamType):  # type: ignore[type-arg, unused-ignore]  # generic in some versions
    """A name of a list, completed by a shell; whether it is one is asked later, with a sentence of its own."""

    name = "text"

    def __init__(self, known: Callable[[], Iterable[str]]) -> None:
        self.known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Names that begin so; of names separated by commas, the last."""
        from click.shell_completion import CompletionItem

        before, comma, begun = incomplete.rpartition(",")
        wanted = begun.lower().replace("-", "_")
        return [CompletionItem(f"{before}{comma}{name}") for name in self.known() if name.startswith(wanted)]


def _methods() -> list[str]:
    from gramfold.methods.names import method_names

    return method_names()


def _datasets() -> list[str]:
    from gramfold.cli.datasets import DATASETS

    return list(DATASETS)


METHOD = _Named(_methods)
METHOD_OR_AUTO = _Named(lambda: ["auto", *_methods()])
METHOD_OR_CLUSTERER = _Named(lambda: [*_methods(), "spectral_clustering"])
DATASET = _Named(_datasets)

"""The group of commands. A command is imported when it is called, so that `--help` and errors are fast."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from gramfold import __version__
from gramfold.cli.sentences import Refusal, ended_by_a_closed_pipe, ended_by_an_interrupt, usage_in_sentences
from gramfold.runtime.close_names import did_you_mean


@dataclass(frozen=True)
class _Verb:
    """Where a command is, and its line in `gramfold --help`, the first of its own help."""

    module: str
    line: str


VERBS = {
    "advise": _Verb("advice", "Say how to map a table, before a fit."),
    "embed": _Verb("embed", "Embed the rows of a table, or a graph."),
    "transform": _Verb("placing", "Place new rows on the map of a model file."),
    "inverse": _Verb("rebuilding", "Compute rows of the table for coordinates on the map of a model file."),
    "info": _Verb("model_contents", "Say what is in a model file, and whether it holds training rows."),
    "cluster": _Verb("cluster", "Cluster the rows of a table, or a graph."),
    "judge": _Verb("judge", "Say how far a map can be believed."),
    "compare": _Verb("comparing", "Compare several methods on a table, and maps that were made elsewhere."),
    "dimension": _Verb("dimension", "Estimate the intrinsic dimension of the rows of a table."),
    "methods": _Verb("methods", "List the methods, or the parameters of one."),
    "datasets": _Verb("datasets", "List the data sets that gramfold generates, or write one."),
    "demo": _Verb("demo", "Show in a minute, and in one picture, what gramfold does."),
    "completion": _Verb("completion", "Print the script that completes commands in a shell."),
}


class _Commands(click.Group):
    """All commands, and the help texts: each may be read by a program that stops early."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with ended_by_an_interrupt(), ended_by_a_closed_pipe(), usage_in_sentences():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with ended_by_an_interrupt(ctx), ended_by_a_closed_pipe(), usage_in_sentences():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = getattr(import_module(f"gramfold.cli.{VERBS[cmd_name].module}"), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        word = args[0]
        if word not in VERBS and not word.startswith("-") and not ctx.resilient_parsing:
            instead = did_you_mean(word, VERBS) or f"use one of {', '.join(VERBS)}."
            raise Refusal(f"There is no command '{word}': {instead}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.line) for name, verb in VERBS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        begun = [CompletionItem(name, help=verb.line) for name, verb in VERBS.items() if name.startswith(incomplete)]
        return [*begun, *click.Command.shell_complete(self, ctx, incomplete)]  # its options; no command is imported


@click.group("gramfold", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gramfold")
def main() -> None:
    """Embed or cluster the rows of a table, by kernel and manifold methods.

    \b
    gramfold demo                                a minute, and a picture
    gramfold embed cells.csv --out map.csv       a map of your table
    gramfold embed --help                        every command has --help
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are

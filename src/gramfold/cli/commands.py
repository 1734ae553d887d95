"""The group of commands. Nothing heavy is imported before a command runs, so that `--help` is fast."""

from typing import Any

import click

from gramfold import __version__
from gramfold.cli.advice import advise
from gramfold.cli.cluster import cluster
from gramfold.cli.comparing import compare
from gramfold.cli.demo import demo
from gramfold.cli.dimension import dimension
from gramfold.cli.embed import embed
from gramfold.cli.judge import judge
from gramfold.cli.methods import methods
from gramfold.cli.sentences import ended_by_a_closed_pipe, ended_by_an_interrupt


class _Commands(click.Group):
    """All commands, and the help texts: each may be read by a program that stops early."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with ended_by_an_interrupt(), ended_by_a_closed_pipe():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with ended_by_an_interrupt(), ended_by_a_closed_pipe():
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gramfold")
def main() -> None:
    """Embed or cluster the rows of a table, by kernel and manifold methods."""


main.add_command(advise)
main.add_command(embed)
main.add_command(cluster)
main.add_command(judge)
main.add_command(compare)
main.add_command(dimension)
main.add_command(methods)
main.add_command(demo)

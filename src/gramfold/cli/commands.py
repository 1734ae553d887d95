"""The group of commands. Nothing heavy is imported before a command runs, so that `--help` is fast."""

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


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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

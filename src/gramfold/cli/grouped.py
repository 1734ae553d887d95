"""Help of a command with many options: in groups, so that a reader finds the few that matter first."""

from collections.abc import Mapping, Sequence
from typing import Any

import click


def grouped(groups: Mapping[str, Sequence[str]]) -> type[click.Command]:
    """A command whose help lists its options under these titles, by the names of their parameters; the rest last."""

    class Grouped(click.Command):
        """A command with options in groups."""

        def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            """Write each group under its title."""
            listed: dict[str, list[tuple[str, str]]] = {title: [] for title in [*groups, "Other options"]}
            title_of = {name: title for title, names in groups.items() for name in names}
            for param in self.get_params(ctx):
                record: Any = param.get_help_record(ctx)
                if record is not None and isinstance(param, click.Option):
                    listed[title_of.get(str(param.name), "Other options")].append(record)
            for title, records in listed.items():
                with formatter.section(title):
                    formatter.write_dl(records)

    return Grouped

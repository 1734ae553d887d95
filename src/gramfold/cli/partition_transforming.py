"""`gramfold transform` of rows in partitions: a file for each file, placed by a model that was fitted before."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gramfold.cli.partition_options import InParts, marks
from gramfold.cli.partition_places import Placer
from gramfold.cli.partition_writing import Writing, resumed_line, rows_each, stages_of
from gramfold.errors import InputError


@dataclass(frozen=True)
class Placement:
    """The options of `gramfold transform`, by their names there."""

    model: Path
    source: Path
    out: Path
    by: str | None
    keep: list[str] | None
    missing: str
    extrapolation: bool
    as_json: bool
    quiet: bool
    columns: list[str] | None
    skip: list[str] | None
    codes: tuple[str, ...]

    def asked(self) -> dict[str, Any]:
        """For the ledger."""
        return marks(
            {
                "the command": "transform",
                "--id": self.by,
                "--keep": self.keep,
                "--missing": self.missing,
                "--extrapolation": self.extrapolation,
                "--columns": self.columns,
                "--skip": self.skip,
                "--na": self.codes,
            }
        )


def transform_partitions(asked: Placement, how: InParts) -> None:
    """Write a file of places for each file of TABLE."""
    from gramfold.cli.fitted_steps import FittedSteps

    silent = asked.quiet or asked.as_json
    fitted = FittedSteps.load(asked.model, "gramfold transform MODEL TABLE", quiet=True)
    if asked.extrapolation and not fitted.maps:
        raise InputError(f"'{asked.model}' holds {fitted.method}, which has no extrapolation: leave it out.")
    stages = stages_of("transform", silent)
    work = Writing.begun(asked.source, asked.out, asked.model, how, asked.asked(), stages)
    with work.on_cluster():
        work.found.require_some()
        placer = Placer.of(
            fitted,
            work.found.usual,
            columns=asked.columns,
            skip=asked.skip,
            ids=asked.by,
            keep=asked.keep,
            drop=asked.missing == "drop",
            extrapolation=asked.extrapolation,
            codes=asked.codes,
        )
        work.found.check(placer.check)
        work.found.require_some()
        work.begin(rows_each(len(placer.columns), how.limit()))
        totals, before = work.write(placer)
    if asked.as_json:
        from gramfold.cli.map_summary import as_json

        facts = {"model": str(asked.model), "method": fitted.method, "table": str(asked.source), **totals.facts()}
        click.echo(as_json({**facts, "coordinates": fitted.coordinates, "resumed": before, "out": str(work.out)}))
    elif not asked.quiet:
        _tell(fitted, placer, work, totals, before)


def _tell(fitted: Any, placer: Placer, work: Writing, totals: Any, before: int) -> None:
    from gramfold.runtime.counting import counted

    rows = f"{counted(totals.rows, 'new row')} in {counted(totals.files, 'file')}"
    where = f"placed {rows} on a map of {counted(len(fitted.coordinates), 'dimension')}"
    click.echo(f"{fitted.method} {where if fitted.maps else f'assigned {rows} to clusters'}")
    for line in [*placer.account, *totals.account(), *resumed_line(before, totals.files), f"placed    {work.out}"]:
        click.echo(f"  {line}")

"""`gramfold embed` of rows in partitions: looked at once, decided on a sample, fitted, and written file by file."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.partition_options import InParts, marks, refuse
from gramfold.cli.partition_places import Placer
from gramfold.cli.partition_writing import Totals, Writing, resumed_line, rows_each, stages_of
from gramfold.cli.wishes import AUTO, Wishes
from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.cli.fitted_steps import FittedSteps
    from gramfold.cli.prepared import Prepared
    from gramfold.distributed.files import InputFile

SAMPLE = 10_000  # rows by which columns, units and the method are decided


@dataclass
class Told:
    """What a fit has to say; nothing where it is that of an earlier run."""

    head: str = ""
    lines: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def embed_partitions(wishes: Wishes, name: str, how: InParts) -> None:
    """Write a mapped file for each file of INPUT."""
    from gramfold.cli.fitted_steps import FittedSteps

    _refuse(wishes)
    assert wishes.out is not None
    work = Writing.begun(
        wishes.source, wishes.out, None, how, _asked(wishes, name, how), stages_of("embed", wishes.silent)
    )
    with work.on_cluster():
        told = Told()
        if work.ledger is None:
            told = _Fitting(wishes, name, work).done()
        fitted = FittedSteps.load(work.model, "gramfold embed", quiet=True)
        codes = wishes.written.get("na", ())
        placer = Placer.of(fitted, work.found.usual, ids=wishes.ids, keep=wishes.keep, drop=True, codes=codes)
        totals, before = work.write(placer)
    files = {"map": work.out, "model": work.model}
    if wishes.model_file is not None:
        files["model"] = wishes.model_file
        _copied(work.model, wishes.model_file)
    _tell(wishes, fitted, told, totals, before, files)


@dataclass(eq=False)
class _Fitting:
    """From files that nobody has looked at to a model in the folder."""

    wishes: Wishes
    name: str  # of the method, or auto
    work: Writing

    def done(self) -> Told:
        """Fit, and save the model; what is to be said of it."""
        from gramfold.cli.trust import scales_told_by_name
        from gramfold.distributed.fitting import maker_of
        from gramfold.distributed.preparing import PreparedRows, by_all_rows, on_cluster
        from gramfold.distributed.untimed import untimed
        from gramfold.io.model_file import save

        wishes, work = self.wishes, self.work
        kind, parameters = self._method()
        made, n_rows = self._decided(kind, parameters)
        model = made.model
        maker_of(model)
        steps = [step for _, step in made.pipeline.steps[1:-1]]
        codes, complete = wishes.written.get("na", ()), wishes.missing == "drop"

        def rows(*steps: Any, dtype: Any) -> Any:
            files, limit = work.found.files, work.how.limit()
            found = PreparedRows(
                files, made.names, dtype, limit, codes=codes, complete=complete, steps=steps, stages=work.stages
            )
            return found if work.client is None else on_cluster(found, work.client)

        started = time.perf_counter()
        with work.stages("fit"), scales_told_by_name():
            by_all = by_all_rows(steps, rows(dtype=made.raw.dtype).read_for(work.stages, gaps=True))
            model.fit(rows(*steps, dtype=made.rows.dtype))
        seconds = time.perf_counter() - started
        told = Told() if wishes.quiet and not wishes.json_out else self._told(made, by_all, n_rows, seconds)
        # nothing in the file that another run would not write: neither seconds nor whether somebody looked on
        if "verbose" in model.get_params():
            model.set_params(verbose=0)
        model.model_ = untimed(model.model_)
        save(made.pipeline, work.model)
        work.begin(rows_each(len(work.found.files[0].schema.names), work.how.limit()))
        return told

    def _told(self, made: "Prepared", by_all: Sequence[str], n_rows: int, seconds: float) -> Told:
        """The decisions, and how far the map of the drawn rows can be believed."""
        from gramfold.cli.far_outside import outside_noted
        from gramfold.cli.map_summary import account
        from gramfold.cli.trust import loud_lines, trust_in

        sample, model = made.raw, made.model
        for _, step in made.pipeline.steps[1:-1]:
            sample = step.transform(sample)
        with outside_noted():  # rows far outside are counted as they are written
            coordinates = model.transform(sample)
        trust = trust_in(model, sample, coordinates, made.names)
        scales = loud_lines(model, sample, made.names, self.wishes.silent, option=" (--scale standard does)")
        fit = [*account(model, coordinates), *trust.lines, *scales]
        lines = [*_decisions(self.wishes, made, by_all, n_rows), *fit]
        facts = {
            "method": type(model).__name__,
            "parameters": model.get_params(),
            "columns": made.names,
            "seconds": seconds,
            "decisions": list(made.sentences),
            **trust.numbers,
        }
        return Told(f"fitted in {seconds:.2f} s", lines, facts)

    def _method(self) -> tuple[Any, dict[str, Any]]:
        """The class that was named and its parameters, or auto; one that is not fitted to partitions is an error."""
        from gramfold.cli.options import chosen_parameters
        from gramfold.distributed.fitting import maker_of
        from gramfold.methods.names import find_method

        wishes = self.wishes
        if self.name == AUTO:
            return AUTO, {}
        kind = find_method(self.name)
        given = {**wishes.parameters, "dim": wishes.dim}
        parameters = chosen_parameters(kind, given, wishes.settings, wishes.seed, wishes.silent)
        maker_of(kind(**parameters))
        return kind, parameters

    def _decided(self, kind: Any, parameters: dict[str, Any]) -> tuple["Prepared", int]:
        """Columns, units, gaps and the method, by rows that are drawn; and how many rows there are."""
        import pyarrow as pa

        from gramfold.cli.prepared import Preparing, prepare
        from gramfold.io.selection import Selection

        wishes, found = self.wishes, self.work.found
        found.require_some()
        found.check(partial(self._require_alike, found.usual))
        found.require_some()
        first = found.usual
        for name in self._beside:
            first.empty().place(name)  # raises where there is none
        skip = [*(wishes.skip or []), *wishes.not_data]
        places = Selection(wishes.columns, skip).positions(first.schema.names, f"'{wishes.source}'", first.index)
        names = [first.schema.names[j] for j in places]
        drawn = pa.concat_tables(self._drawn(names), promote_options="permissive")
        columns = replace(first.columns(drawn, wishes.written.get("na", ())), source=wishes.source)
        n_rows = sum(file.rows for file in found.files)
        how = Preparing(wishes.columns, None, wishes.scale, wishes.missing, wishes.seed, wishes.written)
        dim = wishes.dimensions() if kind == AUTO else None
        return prepare(columns, [], kind, parameters, dim, how, sample_of=n_rows), n_rows

    def _require_alike(self, first: "InputFile", file: "InputFile") -> None:
        from gramfold.distributed.files import require_alike

        require_alike(first, file, exact=self.wishes.keep == ["all"])
        require_alike(first, file, [name for name in self._beside if name in first.schema.names], exact=True)

    @property
    def _beside(self) -> list[str]:
        """Columns that are named to be written."""
        keep = self.wishes.keep or []
        return [*([] if self.wishes.ids is None else [self.wishes.ids]), *([] if keep == ["all"] else keep)]

    def _drawn(self, names: list[str]) -> list[Any]:
        """Rows that are drawn from the files; those that cannot be used are found on the way."""
        from gramfold.distributed.mapping import each_file
        from gramfold.distributed.survey import Surveying, inside_files, numbers_drawn

        wishes, work = self.wishes, self.work
        files = list(work.found.files)
        numbers = numbers_drawn(sum(file.rows for file in files), SAMPLE, wishes.seed)
        asked = Surveying(
            names,
            wishes.ids,
            rows_each(len(names), work.how.limit()),
            wishes.written.get("na", ()),
            gaps=wishes.missing != "error",
            skip=work.how.skip,
        )
        seen: dict[int, Any] = {}
        inside = inside_files(files, numbers)
        with work.stages("look"), each_file(asked, files, work.client, work.stages, inside) as found:
            seen.update(found)
        for number, one in seen.items():
            if isinstance(one, str):
                work.found.leave_out(files[number].path, one)
        work.found.require_some()
        return [seen[number] for number in sorted(seen) if not isinstance(seen[number], str)]


def _decisions(wishes: Wishes, made: "Prepared", by_all: Sequence[str], n_rows: int) -> list[str]:
    from gramfold.cli.prepared import decided

    sentences = [one for one in made.sentences if not (wishes.missing == "drop" and one.startswith("gaps: "))]
    lines = decided(None, sentences, method=wishes.method in (None, AUTO))
    if n_rows > SAMPLE:
        rest = f"; {' and '.join(by_all)} are those of all rows" if by_all else ""
        drawn = f"{SAMPLE:,} of {n_rows:,} rows, drawn at random{rest}"
        lines.append(f"sample    that was decided, and the map is judged, by {drawn}; rows are numbered among these")
    return lines


def _refuse(wishes: Wishes) -> None:
    """What needs all rows in memory."""
    given = {
        "--picture": wishes.picture,
        "--report": wishes.report,
        "--color": wishes.color,
        "--label": wishes.label,
        "--labels": wishes.labels,
        "--sample-weight": wishes.weight,
        "--distorted": wishes.distorted,
        "--pair-weights": wishes.pair_weights,
        "--affinity": wishes.affinity,
        "--align-to": wishes.align_to,
        "--align-rows": wishes.align_rows,
        "--explain": wishes.explain,
    }
    refuse(given, "is for rows in memory, and not for those in partitions")
    metric = wishes.parameters["metric"]
    if metric in ("precomputed", "gower"):
        raise InputError(
            f"--metric {metric} does not read rows in partitions, which are rows of numbers: use another metric, or "
            "embed a sample in memory."
        )


def _asked(wishes: Wishes, name: str, how: InParts) -> dict[str, Any]:
    own = {f"--{option.replace('_', '-')}": value for option, value in wishes.parameters.items()}
    return marks(
        {
            "the command": "embed",
            "--method": name,
            "--dim": wishes.dim,
            **own,
            "--set": wishes.settings,
            "--columns": wishes.columns,
            "--skip": wishes.skip,
            "--id": wishes.ids,
            "--keep": wishes.keep,
            "--scale": wishes.scale,
            "--missing": wishes.missing,
            "--na": wishes.written.get("na", ()),
            "--seed": wishes.seed,
            "--on-bad-partition": how.on_bad_partition,
        }
    )


def _copied(model: Path, path: Path) -> None:
    from gramfold.io.replacing import replacing_stream

    with replacing_stream(path) as stream:
        stream.write(model.read_bytes())


def _tell(
    wishes: Wishes, fitted: "FittedSteps", told: Told, totals: Totals, before: int, files: dict[str, Path]
) -> None:
    from gramfold.cli.map_summary import as_json
    from gramfold.runtime.counting import counted

    dimensions = counted(len(fitted.coordinates), "dimension")
    if wishes.json_out:
        facts = {
            "method": fitted.method,
            **told.facts,
            "input": str(wishes.source),
            **totals.facts(),
            "resumed": before,
        }
        click.echo(as_json({**facts, "dimensions": len(fitted.coordinates), **{k: str(v) for k, v in files.items()}}))
        return
    if wishes.quiet:
        return
    rows = f"{counted(totals.rows, 'row')} in {counted(totals.files, 'file')}"
    click.echo(f"{fitted.method} mapped {rows} to {dimensions}{f', {told.head}' if told.head else ''}")
    written = [f"{what:<9} {path}" for what, path in files.items()]
    for line in [*told.lines, *totals.account(), *resumed_line(before, totals.files), *written]:
        click.echo(f"  {line}")

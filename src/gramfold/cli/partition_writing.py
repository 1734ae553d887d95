"""Files in partitions: which can be used, what is written for each, and what is said of it at the end."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.cli.interrupted import kept
from gramfold.cli.partition_options import InParts

if TYPE_CHECKING:
    from gramfold.cli.partition_places import Placer
    from gramfold.distributed.files import InputFile
    from gramfold.distributed.ledger import Ledger
    from gramfold.runtime.progress import Stages

_MOST_ROWS = 65_536  # of a batch: from there on larger ones are no faster
_LISTED = 12  # files in a summary


@dataclass
class Found:
    """The files of INPUT that can be used, and those that cannot, with a sentence each."""

    files: list["InputFile"]
    skipped: dict[str, str]
    skip: bool

    @classmethod
    def of(cls, paths: Sequence[Path], how: InParts) -> "Found":
        """Read what each file says of itself."""
        from gramfold.distributed.files import InputFile

        found = cls([], {}, how.skip)
        for path in paths:
            if (file := found.tried(path, InputFile.of, path)) is not None:
                found.files.append(file)
        return found

    def tried(self, path: Path, work: Callable[[Any], Any], what: Any) -> Any:
        """work(what); None where the file cannot be used and is left out."""
        from gramfold.distributed.files import BadPartitionError

        try:
            return work(what)
        except BadPartitionError as error:
            if not self.skip:
                raise
            self.leave_out(path, str(error))
        return None

    def leave_out(self, path: Path, why: str) -> None:
        """Of the files that can be used, for this reason."""
        self.skipped[path.name] = why
        self.files = [file for file in self.files if file.path != path]

    def check(self, work: Callable[["InputFile"], None]) -> None:
        """Leave out the files of which this raises an error."""
        for file in list(self.files):
            self.tried(file.path, work, file)

    @property
    def usual(self) -> "InputFile":
        """The file that others are compared with."""
        from gramfold.distributed.files import usual

        return usual(self.files)

    def require_some(self) -> None:
        """Raise an error where nothing is left."""
        from gramfold.errors import InputError

        if self.files and any(file.rows for file in self.files):
            return
        why = next(iter(self.skipped.values()), "the files have columns but no rows.")
        raise InputError(f"No rows are left: {why}")


def rows_each(width: int, limit: float) -> int:
    """Rows of a batch that is written at once: a power of two, so that a little more free memory changes nothing."""
    from math import floor, log2

    from gramfold.distributed.batches import batch_bytes

    fit = floor(log2(max(1.0, batch_bytes(limit) / (8 * max(1, width)))))
    return int(min(_MOST_ROWS, 2**fit))


def stages_of(name: str, silent: bool) -> "Stages":
    """Told on a terminal."""
    from gramfold.runtime.progress import Stages

    return Stages(not silent and sys.stderr is not None and sys.stderr.isatty(), name)


@dataclass(eq=False)
class Writing:
    """A folder that is written, or gone on with."""

    out: Path
    paths: list[Path]  # of the input files
    model: Path
    how: InParts
    asked: dict[str, Any]
    ledger: "Ledger | None"  # None: nothing is written yet
    stages: "Stages"
    client: Any = None

    @classmethod
    def begun(
        cls, source: Path, out: Path, model: Path | None, how: InParts, asked: dict[str, Any], stages: "Stages"
    ) -> "Writing":
        """Look at both ends.

        Without a model the rows are fitted, so that all files count; with one, those that are written already.
        """
        from gramfold.distributed.files import input_files, output_name
        from gramfold.distributed.ledger import MODEL, Ledger, require_folder, require_free

        out, paths = out.absolute(), [path.absolute() for path in input_files(source)]
        names = [output_name(path) for path in paths]
        how.require_tables(paths)
        require_folder(out, paths)
        if how.restart:
            Ledger.erase(out)
        ledger = Ledger.read(out)
        if ledger is None:
            require_free(out / name for name in names)
        else:
            ledger.require_same(asked)
            ledger.require_model(out / MODEL if model is None else model)
            ledger.require_inputs(paths, names, only_done=model is not None)
        return cls(out, paths, out / MODEL if model is None else model, how, asked, ledger, stages)

    @contextmanager
    def on_cluster(self) -> Iterator[None]:
        """Within the block there is a client, if a scheduler was named."""
        from gramfold.distributed.cluster import connected, require_paths

        with connected(self.how.scheduler) as self.client:
            if self.client is not None:
                require_paths(self.client, [self.paths[0], self.out])
            yield

    @cached_property
    def found(self) -> Found:
        """The files, as far as they have not been left out before."""
        known = {} if self.ledger is None or self.model.parent != self.out else self.ledger.skipped
        return Found.of([path for path in self.paths if path.name not in known], self.how)

    def begin(self, rows_each: int) -> None:
        """The model is there: from here on a later run goes on, with the batches of the first."""
        from gramfold.distributed.files import output_name
        from gramfold.distributed.ledger import Ledger, digest_of
        from gramfold.distributed.unchanged import fingerprint

        before = self.ledger
        marks = {file.path: file.mark for file in self.found.files}  # of the files as they were read
        inputs = {output_name(path): marks.get(path) or list(fingerprint(path)) for path in self.paths}
        digest = digest_of(self.model)
        skipped = dict(sorted(self.found.skipped.items()))
        self.ledger = Ledger(self.out, self.asked, inputs, digest, rows_each, skipped)
        if before is not None:
            self.ledger.rows_each = before.rows_each
            self.ledger.lines = {name: line for name, line in before.lines.items() if "skipped" not in line}

    def write(self, placer: "Placer") -> tuple["Totals", int]:
        """Write what is not written yet; what the files hold together, and how many had been written before."""
        from gramfold.distributed.mapping import Job, write_files

        ledger = self.ledger
        assert ledger is not None
        files = self.found.files
        todo = [file for file in files if not ledger.done(file)]
        try:
            job = Job(self.out, ledger.rows_each, placer, ledger.model, self.how.skip)
            write_files(todo, job, ledger, self.client, self.stages)
        except BaseException:
            done = sum("skipped" not in line for line in ledger.lines.values())
            what = "what is done of" if done else "the model in"
            if done or self.model.parent == self.out:
                kept(f"{what} '{self.out}' ({done:,} of {len(files):,} files; the same command goes on)")
            raise
        return Totals.of(ledger), len(files) - len(todo)


@dataclass(frozen=True)
class Totals:
    """Of all files."""

    files: int
    rows: int
    placed: int
    far: int
    skipped: dict[str, str]

    @classmethod
    def of(cls, ledger: "Ledger") -> "Totals":
        """By its lines."""
        lines = [line for line in ledger.lines.values() if "skipped" not in line]
        rows, placed, far = (sum(line[name] for line in lines) for name in ("rows", "placed", "far"))
        later = {name: line["skipped"] for name, line in ledger.lines.items() if "skipped" in line}
        return cls(len(lines), rows, placed, far, dict(sorted({**ledger.skipped, **later}.items())))

    def account(self) -> list[str]:
        """Summary lines: rows without a place, far outside, and the files that were left out."""
        from gramfold.extension.extrapolation import LIMIT
        from gramfold.runtime.counting import counted

        lines = []
        if self.placed < self.rows:
            lines.append(f"left out  {counted(self.rows - self.placed, 'row')} with gaps; no place (nan)")
        if self.far:
            lines.append(
                f"outside   {counted(self.far, 'row')} farther than {LIMIT:g} neighbourhood radii from the training "
                "rows, so that their places are extrapolated"
            )
        shown = list(self.skipped.items())[:_LISTED]
        lines += [f"skipped   {name}: {why}" for name, why in shown]
        if len(self.skipped) > _LISTED:
            lines.append(f"skipped   {len(self.skipped) - _LISTED:,} more (--json lists all)")
        return lines

    def facts(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "files": self.files,
            "rows": self.rows,
            "rows_without_coordinates": self.rows - self.placed,
            "far_outside": self.far,
            "skipped": [{"file": name, "why": why} for name, why in self.skipped.items()],
        }


def resumed_line(before: int, files: int) -> list[str]:
    """Summary line, where an earlier run had written some."""
    return [f"resumed   {before:,} of {files:,} files had been written by an earlier run"] if before else []

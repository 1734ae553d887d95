"""What is done of a folder of mapped files: a line for each, so that a stopped run goes on where it was.

The first line says what was asked for, of which files, and the digest of the model; each further line is added when
its file is whole and on the disk, and has its digest. A line that was cut off when the process was killed is no line:
its file, which is known by the mark that it has, is written again, with the same bytes. At the end lines are put in the
order of the files, so that the ledger too does not show how often it was stopped.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any

from gramfold.distributed.files import InputFile
from gramfold.distributed.unchanged import fingerprint
from gramfold.errors import InputError
from gramfold.io.replacing import replacing_stream
from gramfold.runtime.destinations import check_folder

NAME, MODEL = "_ledger.jsonl", "_model.gramfold"  # with a low line: what reads the folder as a table leaves them out
_DRAFTS = ".gramfold-*"  # of files that were being written when the process was killed
_MARK = b"gramfold.model"  # in the metadata of the files that are written
_ANEW = "or start anew with --restart"


class DamagedError(InputError):
    """A ledger cannot be read."""


@dataclass(eq=False)
class Ledger:
    """See the module."""

    folder: Path
    asked: dict[str, Any]  # what was asked for, by the names of the options
    inputs: dict[str, list[int]]  # size and last change of each input file, by the name of its output
    model: str | None  # digest
    rows_each: int  # of a batch that is written at once
    skipped: dict[str, str]  # files that were left out before anything was written, and why
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)  # of the files that are done

    @classmethod
    def read(cls, folder: Path) -> "Ledger | None":
        """That of a folder, if it has one."""
        path = folder / NAME
        if not path.is_file():
            return None
        try:
            first, *rest = path.read_text(encoding="utf-8").split("\n")
            lines = [json.loads(line) for line in rest[:-1]]  # the last is empty, or was cut off
            return cls(folder, **json.loads(first), lines={line["file"]: line for line in lines})
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedError(f"'{path}' is damaged: remove the folder, {_ANEW}.") from error

    def begin(self) -> None:
        """Write what is known: at the start, when the run goes on, and in order at the end."""
        for draft in self.folder.glob(_DRAFTS):
            draft.unlink()
        head = {name: getattr(self, name) for name in ("asked", "inputs", "model", "rows_each", "skipped")}
        lines = [head, *(self.lines[name] for name in sorted(self.lines))]
        with replacing_stream(self.folder / NAME) as stream:
            stream.write("".join(map(_line, lines)).encode())

    def add(self, line: dict[str, Any]) -> None:
        """A file is done."""
        self.lines[line["file"]] = line
        try:
            with (self.folder / NAME).open("ab") as stream:
                stream.write(_line(line).encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise InputError(
                f"'{self.folder / NAME}' could not be written ({error.strerror}): free disk space and run the command "
                "again, which goes on where it was."
            ) from error

    def done(self, file: InputFile) -> bool:
        """Whether the output of a file is whole."""
        line = self.lines.get(file.name)
        return line is not None and ("skipped" in line or digest_of(self.folder / file.name) == line["written"])

    @classmethod
    def erase(cls, folder: Path) -> None:
        """Remove what was written to a folder, and its ledger last: stopped on the way, it can be done again."""
        if not (folder / NAME).is_file():
            return
        names: set[str] = set()
        with suppress(DamagedError):
            known = cls.read(folder)
            names = set() if known is None else set(known.lines)
        for path in folder.glob("*.parquet"):
            if path.name in names or mark_of(path) is not None:
                path.unlink()
        for name in (MODEL, NAME):
            (folder / name).unlink(missing_ok=True)

    def require_same(self, asked: Mapping[str, Any]) -> None:
        """Raise an error where something else is asked for now."""
        for name in sorted({*self.asked, *asked}):
            then, now = self.asked.get(name), asked.get(name)
            if then != now:
                raise InputError(
                    f"'{self.folder}' was begun {_said(name, then)}, and this command is {_said(name, now)}: give the "
                    f"same, write to another folder, {_ANEW}."
                )

    def require_inputs(self, files: Sequence[Path], names: Sequence[str], *, only_done: bool) -> None:
        """Raise an error where files have changed, came or went; or only for those that are done."""
        known = {name: line["input"] for name, line in self.lines.items()} if only_done else self.inputs
        now = dict(zip(names, files, strict=True))
        gone = next((name for name in known if name not in now), None)
        if gone is not None:
            raise InputError(f"'{self.folder}' was begun with a file '{gone}' that is not there: put it back, {_ANEW}.")
        new = None if only_done else next((name for name in now if name not in known), None)
        if new is not None:
            raise InputError(f"'{self.folder}' was begun without '{now[new]}': write to another folder, {_ANEW}.")
        changed = next((name for name in known if list(fingerprint(now[name])) != known[name]), None)
        if changed is not None:
            raise InputError(
                f"'{now[changed]}' has changed since '{self.folder}' was begun: put the old file back, write to "
                f"another folder, {_ANEW}."
            )

    def require_own(self, files: Sequence[InputFile]) -> None:
        """Raise an error where the place of one of these files is taken by one that this run has not written."""
        unknown = [self.folder / file.name for file in files if file.name not in self.lines]
        require_free([path for path in unknown if mark_of(path) != self.model])

    def require_model(self, path: Path) -> None:
        """Raise an error if this is not the model that made the files."""
        if digest_of(path) != self.model:
            raise InputError(
                f"'{path}' is not the model that '{self.folder}' was begun with: write to another folder, {_ANEW}."
            )


def require_folder(folder: Path, files: Sequence[Path]) -> None:
    """Raise an error for a folder that cannot take the files, before any work; it is made if it is not there."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"'{folder}' is a file, and a file for each input file is written: name a folder.")
    own = next((file.parent for file in files if _same(file.parent, folder)), None)
    if own is not None:
        raise InputError(f"'{folder}' is the folder of the input files, which would be overwritten: name another one.")
    check_folder(folder / NAME if folder.is_dir() else folder)
    if not folder.is_dir():
        folder.mkdir()


def require_free(paths: Iterable[Path]) -> None:
    """Raise an error for the first that is there: it would be overwritten."""
    foreign = next((path for path in paths if path.exists()), None)
    if foreign is not None:
        raise InputError(
            f"'{foreign}' exists, and gramfold has not written it here: name another folder, or remove it."
        )


def marked(table: Any, model: str | None) -> Any:
    """A table to write, which says by the digest of which model it was made."""
    return table.replace_schema_metadata({_MARK: model or ""})


def mark_of(path: Path) -> str | None:
    """The digest of the model that a file was made by, as it says itself; None where it is no such file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = (pq.read_schema(path).metadata or {}).get(_MARK)
    except (pa.ArrowException, OSError, ValueError):
        return None
    return None if found is None else found.decode()


def digest_of(path: Path) -> str | None:
    """Of the bytes of a file; None where there is none."""
    try:
        with path.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _line(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, sort_keys=True) + "\n"


def _said(name: str, value: Any) -> str:
    if value is None or value is False or value == []:
        return f"without {name}"
    shown = ",".join(map(str, value)) if isinstance(value, list) else value
    return f"with {name}" if value is True else f"with {name} {shown}"


def _same(one: Path, other: Path) -> bool:
    return other.exists() and one.samefile(other)

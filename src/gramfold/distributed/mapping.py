"""Write a mapped file for each input file: whole or not at all, and the same bytes each time.

A file is the unit of work, here or on a cluster: a batch of its rows is read, placed and written, then the next. How
many rows a batch has is written in the ledger, since the last bits of a place may depend on it.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from gramfold.distributed.files import BadPartitionError, InputFile
from gramfold.distributed.ledger import Ledger, digest_of, marked
from gramfold.distributed.running import on_worker
from gramfold.io.replacing import replacing_stream
from gramfold.runtime.progress import SILENT, Stages


class Placing(Protocol):
    """What is made of some rows of a file."""

    @property
    def columns(self) -> Sequence[str]:
        """That are read."""

    def place(self, file: InputFile, table: Any, start: int) -> tuple[Any, dict[str, int]]:
        """The table to write, and what is counted; `start` is the number of the first row in the file."""


@dataclass(frozen=True)
class Job:
    """What is done with every file."""

    folder: Path
    rows_each: int
    placing: Placing
    model: str | None  # its digest, which the files are marked with
    skip: bool  # a file that cannot be read as the others, in the place of an error

    def written(self, file: InputFile, *, stages: Stages = SILENT) -> dict[str, Any]:
        """Write the output of a file; its line in the ledger."""
        line: dict[str, Any] = {"file": file.name, "input": file.mark}
        try:
            return {**line, **self._counts(file, stages)}
        except BadPartitionError as error:
            if not self.skip:
                raise
            return {**line, "skipped": str(error)}

    def _counts(self, file: InputFile, stages: Stages) -> dict[str, Any]:
        import pyarrow.parquet as pq

        counts: Counter[str] = Counter()
        path = self.folder / file.name
        with replacing_stream(path) as stream, ExitStack() as opened:  # the writer is closed before its stream
            writer = None
            for table in file.told_batches(self.rows_each, self.placing.columns, stages):
                rows, found = self.placing.place(file, table, counts["rows"])
                counts.update({"rows": len(table), **found})
                rows = marked(rows, self.model)
                writer = writer or opened.enter_context(pq.ParquetWriter(stream, rows.schema))
                writer.write_table(rows)
        return {**counts, "written": digest_of(path)}


def write_files(files: Sequence[InputFile], job: Job, ledger: Ledger, client: Any, stages: Stages) -> None:
    """Write files that the ledger does not have, in this process or, with a client, on its cluster."""
    ledger.require_own(files)
    ledger.begin()
    with stages("write"), each_file(job.written, files, client, stages) as lines:
        for _, line in lines:
            ledger.add(line)
    ledger.begin()


@contextmanager
def each_file(
    work: Callable[..., Any], files: Sequence[Any], client: Any, stages: Stages, *own: Sequence[Any]
) -> Iterator[Iterator[tuple[int, Any]]]:
    """work(file, *own of the file) with the number of the file: in order here, as they are ready on a cluster.

    Where the block is left early, the rest is not done.
    """
    calls = list(zip(files, *own, strict=True))
    with closing(_here(work, calls, stages) if client is None else _there(work, calls, client, stages)) as results:
        yield results


def _here(work: Callable[..., Any], calls: Sequence[Any], stages: Stages) -> Generator[tuple[int, Any], None, None]:
    for number, call in enumerate(stages.bar(calls, len(calls), "files")):
        yield number, work(*call, stages=stages)


def _there(
    work: Callable[..., Any], calls: Sequence[Any], client: Any, stages: Stages
) -> Generator[tuple[int, Any], None, None]:
    from gramfold.distributed.running import arriving, key_of, load_dask

    delayed, token = load_dask().delayed, uuid4().hex[:16]
    sent = delayed(work, name=key_of("files-work", token, 0), pure=False, traverse=False)
    run = delayed(_called, pure=False, traverse=False)
    tasks = [run(sent, number, call, dask_key_name=key_of("files", token, number)) for number, call in enumerate(calls)]
    yield from arriving(tasks, "files", client, stages)


def _called(work: Callable[..., Any], number: int, call: Sequence[Any]) -> tuple[int, Any]:
    return number, on_worker(work, *call)

"""Options of rows in partitions, and whether a command is one on these."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import click

from gramfold.errors import InputError

_FOLDER = "gramfold.folder"  # in the notes of click's context: --out ends as a folder does
PARTITION_OPTIONS = ("memory_limit", "scheduler", "on_bad_partition", "restart")
_SIZE: dict[str, Any] = {"metavar": "SIZE"}
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:[\w.-]+|\[[\da-fA-F:.%]+\]):(\d{1,5})")


def _address(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """As it was given; an error for one that no scheduler has, before anything is connected to."""
    found = None if value is None else _ADDRESS.fullmatch(value)
    if value is None or (found is not None and 0 < int(found[1]) < 2**16):
        return value
    raise click.BadParameter(
        f"'{value}' is no address of a scheduler: give what `dask scheduler` prints, as in tcp://10.0.0.5:8786"
    )


_OPTIONS: list[Callable[..., Any]] = [
    click.option(
        "--memory-limit",
        **_SIZE,
        help="Memory that Parquet files are read within, as in 2GB, a batch of rows after the other.  [default: a "
        "quarter of what is free]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        callback=_address,
        help="Do it on the Dask cluster with this scheduler: tcp://…:8786.",
    ),
    click.option(
        "--on-bad-partition",
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="A file that cannot be read as the others: an error before anything is written, or left out and listed.",
    ),
    click.option(
        "--restart", is_flag=True, help="Remove what an earlier run has written to the folder, and start anew."
    ),
]


sample_option = click.option(
    "--memory-limit",
    **_SIZE,
    help="Parquet and .npy files that take more memory are judged by 10,000 rows drawn from them; several files, and "
    "more than 200,000 rows, always are.  [default: a quarter of what is free]",
)


class OutPath(click.Path):
    """A file to write, or a folder where it ends in a slash, which a Path would lose."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does it."""
        if ctx is not None and str(value).endswith(("/", "\\")):
            ctx.meta[_FOLDER] = True
        return super().convert(value, param, ctx)


def _names_folder(out: Path) -> bool:
    return click.get_current_context().meta.get(_FOLDER, False) or out.is_dir()


def refuse_folder(out: Path | None, verb: str) -> None:
    """Raise an error for a folder, where a command writes one file."""
    if out is not None and _names_folder(out):
        raise InputError(
            f"--out '{out}/' is a folder, but `gramfold {verb}` writes one file and no partitions, as `gramfold embed` "
            f"and `gramfold transform` do: name a file, as in --out {out}.parquet."
        )


def partition_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add how rows in partitions are read and written."""
    for decorate in reversed(_OPTIONS):
        command = decorate(command)
    return command


@dataclass(frozen=True)
class InParts:
    """What was said of partitions."""

    memory_limit: str | None
    scheduler: str | None
    on_bad_partition: str
    restart: bool

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """Taken out of the options."""
        return cls(**{name: options.pop(name) for name in PARTITION_OPTIONS})

    @property
    def skip(self) -> bool:
        """Whether files that cannot be read as the others are left out."""
        return self.on_bad_partition == "skip"

    def wanted(self, source: Path, out: Path | None) -> bool:
        """Whether the rows of INPUT are read in partitions, and written to a folder."""
        told = {
            "--memory-limit": self.memory_limit,
            "--scheduler": self.scheduler,
            "--on-bad-partition skip": self.skip,
            "--restart": self.restart,
        }
        option = next((name for name, value in told.items() if value), None)
        folder = out is not None and _names_folder(out)
        if not (folder or option):
            return False
        from gramfold.neighbors.partitioned import is_partitioned

        if not is_partitioned(source):
            if option is None:
                return False
            raise InputError(
                f"'{source}' is read whole, and {option} is for Parquet files, or one .npy file, that are read a batch "
                "at a time: leave it out."
            )
        if not folder:
            raise InputError(
                f"{option} reads '{source}' a batch at a time, and each file is written to a file of the same name: "
                "name a folder, as in --out mapped/."
            )
        return True

    def require_tables(self, files: Sequence[Path]) -> None:
        """Raise an error for an array, which tasks on a cluster would all read whole."""
        if self.scheduler is not None and files[0].suffix == ".npy":
            raise InputError(
                f"'{files[0]}' is one array, and on a cluster each task reads a file: save it as Parquet files, or "
                "leave out --scheduler."
            )

    def limit(self) -> float:
        """Bytes."""
        if self.memory_limit is None and self.scheduler is not None:
            return _ON_A_WORKER
        return limit_of(self.memory_limit)


_FREE = 0.25  # of the memory
_ON_A_WORKER = 1e9  # bytes: workers have a few gigabytes each


def limit_of(said: str | None) -> float:
    """Bytes; where none is said, a power of two that is free for sure, so that a later run takes the same."""
    from math import floor, log2

    from gramfold.distributed.opening import in_bytes
    from gramfold.runtime.memory import available_memory

    return 2.0 ** floor(log2(_FREE * available_memory())) if said is None else in_bytes(said)


def refuse(given: dict[str, Any], why: str) -> None:
    """Raise an error for an option that rows in partitions do not have."""
    option = next((name for name, value in given.items() if value), None)
    if option is not None:
        raise InputError(f"{option} {why}: leave it out, or embed a sample in memory.")


def marks(asked: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, as a ledger holds it: options and their values, as JSON has them."""
    from gramfold import __version__

    told = {name: list(value) if isinstance(value, tuple) else value for name, value in asked.items()}
    return {**told, "gramfold": __version__}

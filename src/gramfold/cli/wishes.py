"""What a call of `gramfold embed` or `cluster` asks for, and what of it cannot be together."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramfold.cli.aligned import check_aligned
from gramfold.cli.prepared import Preparing
from gramfold.errors import InputError
from gramfold.methods.names import full_name

AUTO = "auto"
# what is asked of a method, which `auto` would have to guess
OF_A_METHOD = ("neighbors", "radius", "metric", "search", "drop_short_circuits")


@dataclass(frozen=True)
class Wishes:
    """The options of `gramfold embed` and `gramfold cluster`, by their names there."""

    source: Path
    parameters: dict[str, Any]  # of the method
    written: dict[str, Any]  # how text files are
    out: Path | None
    columns: list[str] | None
    skip: list[str] | None
    scale: str
    missing: str
    settings: tuple[str, ...]
    weight: str | None
    model_file: Path | None
    ids: str | None
    keep: list[str] | None
    json_out: bool
    seed: int
    no_overwrite: bool
    quiet: bool
    # what only a map has
    picture: Path | None = None
    report: Path | None = None
    color: str | None = None
    label: str | None = None
    method: str | None = None
    dim: str | None = None
    labels: str | None = None
    distorted: tuple[Path, ...] = ()
    pair_weights: Path | None = None
    affinity: Path | None = None
    align_to: Path | None = None
    align_rows: Path | None = None
    explain: bool = False

    @property
    def silent(self) -> bool:
        """Whether no lines are printed."""
        return self.quiet or self.json_out

    @property
    def squares(self) -> dict[str, Path]:
        """Files of square matrices, by the argument of fit."""
        given = {"pair_weights": self.pair_weights, "affinity": self.affinity}
        return {name: path for name, path in given.items() if path is not None}

    @property
    def other_files(self) -> list[Path]:
        """Files that are read beside INPUT."""
        return [*self.distorted, *self.squares.values(), *check_aligned(self.align_to, self.align_rows)]

    @property
    def not_data(self) -> list[str]:
        """Columns that name, colour, label, classify or weigh the rows."""
        named = (self.color, self.label, self.ids, self.labels, self.weight)
        return [one for one in named if one is not None]

    def method_name(self) -> str:
        """The name of the method, or `auto`; a wrong one is refused before anything is imported."""
        given = [f"--{name.replace('_', '-')}" for name in OF_A_METHOD if self.parameters[name] is not None]
        beside = {
            "--set": self.settings,
            "--labels": self.labels,
            "--sample-weight": self.weight,
            "--distorted": self.distorted,
            "--pair-weights": self.pair_weights,
            "--affinity": self.affinity,
        }
        given += [option for option, value in beside.items() if value]
        name = self.method if self.method is not None else ("isomap" if given else AUTO)
        if name != AUTO:
            full_name(name)
        elif given:
            raise InputError(
                f"--method auto chooses the method and its parameters: leave out {given[0]}, or name a method, as in "
                "--method isomap."
            )
        return name

    def dimensions(self) -> int | None:
        """The number of dimensions, for a method that is not known yet."""
        if self.dim is None:
            return None if self.label is None or self.picture is None else 2  # on which labels can be written
        if not self.dim.isdigit() or int(self.dim) < 1:
            raise InputError(f"--dim {self.dim} is no number of dimensions: use 1, 2, 3, …, or name a method.")
        return int(self.dim)

    def refuse_columns(self) -> None:
        """Raise an error for options that name a column, of a sparse matrix."""
        named = {"--color": self.color, "--label": self.label, "--id": self.ids, "--keep": self.keep}
        for option, value in named.items():
            if value is not None:
                raise InputError(f"'{self.source}' is a sparse matrix, which has no column names: leave out {option}.")

    @property
    def preparing(self) -> Preparing:
        """How INPUT is read and prepared: not scaled beside distorted versions of its rows, which would not be."""
        if self.distorted and self.scale not in (AUTO, "none"):
            raise InputError("--scale would scale the rows and not their --distorted versions: use --scale none.")
        scale = "none" if self.distorted else self.scale
        return Preparing(self.columns, self.skip, scale, self.missing, self.seed, self.written)

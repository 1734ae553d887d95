"""Rows of files in partitions, placed by the steps of a model: what is written for each batch of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.cli.fitted_steps import FittedSteps, Placed
    from gramfold.distributed.files import InputFile

_OUTSIDE = "extrapolation"


@dataclass(frozen=True, eq=False)
class Placer:
    """See the module."""

    fitted: "FittedSteps"
    data: tuple[str, ...]  # columns that the model reads, in its order
    account: tuple[str, ...]  # summary lines: how they were matched
    ids: str | None
    kept: tuple[str, ...]  # columns written behind the coordinates
    drop: bool  # rows with gaps that the model does not fill in get no place
    extrapolation: bool
    codes: tuple[str, ...]  # values that stand for missing ones
    first: "InputFile"  # with whose columns those of the others are compared

    @classmethod
    def of(
        cls,
        fitted: "FittedSteps",
        first: "InputFile",
        *,
        columns: Sequence[str] | None = None,
        skip: Sequence[str] | None = None,
        ids: str | None = None,
        keep: Sequence[str] | None = None,
        drop: bool,
        extrapolation: bool = False,
        codes: Sequence[str] = (),
    ) -> "Placer":
        """For files like the first."""
        from gramfold.cli.model_columns import matched_columns

        found = first.empty()
        kept = tuple(name for name in (found.names if keep == ["all"] else keep or ()) if name != ids)
        aside = [*([] if ids is None else [ids]), *([] if keep == ["all"] else kept)]
        match = matched_columns(found, fitted, columns, skip, aside)
        for name in (*([] if ids is None else [ids]), *kept):
            found.place(name)  # raises where there is none
        data = tuple(found.names[j] for j in match.positions)
        placer = cls(fitted, data, tuple(match.account()), ids, kept, drop, extrapolation, tuple(codes), first)
        placer.require_free()
        return placer

    @property
    def columns(self) -> list[str]:
        """That are read."""
        return list(dict.fromkeys([*self._beside, *self.data]))

    @property
    def written(self) -> list[str]:
        """Columns that gramfold adds."""
        return [*self.fitted.coordinates, *([_OUTSIDE] if self.extrapolation else [])]

    @property
    def _beside(self) -> list[str]:
        return [*([] if self.ids is None else [self.ids]), *self.kept]

    def require_free(self) -> None:
        """Raise an error for columns with the names of coordinates."""
        from gramfold.cli.model_columns import require_free

        require_free(self.first.path, self._beside, self.written)

    def check(self, file: "InputFile") -> None:
        """Raise an error for a file whose columns are not those that are read, before its rows are."""
        from gramfold.distributed.files import BadPartitionError, require_alike
        from gramfold.io.columns import FLAG, NOTHING, NUMBER, kind_of

        require_alike(self.first, file, self._beside, exact=True)
        require_alike(self.first, file, self.data, exact=False)
        for name in () if self.fitted.reads_text else self.data:
            kind = file.schema.field(name).type
            if kind_of(kind) not in (NUMBER, FLAG, NOTHING):
                raise BadPartitionError(
                    f"'{file.path}' has {kind} in column '{name}', where the model was fitted on numbers: give it "
                    "numbers, or leave the file out with --on-bad-partition skip."
                )

    def place(self, file: "InputFile", table: Any, start: int) -> tuple[Any, dict[str, int]]:
        """Ids, coordinates and kept columns of some rows, and how many of them have a place and lie far outside."""
        import numpy as np
        import pyarrow as pa

        from gramfold.cli.far_outside import far_rows

        if self.ids is not None and table[self.ids].null_count:
            raise _bad(file, f"no value in column '{self.ids}', which names the rows", "fill it in")
        counts = {"placed": 0, "far": 0}
        added = [np.empty(0, np.float64 if self.fitted.maps else np.int64) for _ in self.written]
        if len(table):
            placed = self._placed(file, table, start)
            counts = {"placed": int(placed.known.sum()), "far": len(far_rows(placed.outside))}
            added = list(placed.places.T) if placed.places.ndim == 2 else [placed.places]
            added += [placed.outside] if self.extrapolation else []
        beside = {name: table[name].cast(self.first.schema.field(name).type) for name in self._beside}
        ids = [] if self.ids is None else [beside[self.ids]]
        columns = [*ids, *(pa.array(np.ascontiguousarray(one)) for one in added), *(beside[name] for name in self.kept)]
        names = [*([] if self.ids is None else [self.ids]), *self.written, *self.kept]
        return pa.table(columns, names), counts

    def _placed(self, file: "InputFile", table: Any, start: int) -> "Placed":
        import numpy as np

        from gramfold.cli.model_columns import Match, values_of
        from gramfold.distributed.files import BadPartitionError

        found = file.columns(table, self.codes)
        if start:
            found = replace(found, source=Path(f"{file.path} (rows from {start:,} on)"))
        match = Match([found.place(name) for name in self.data], "name", [])
        try:
            values = values_of(found, match, text=self.fitted.reads_text)
        except InputError as error:
            raise BadPartitionError(str(error)) from error
        if values.dtype == np.float32:  # as the steps were fitted, whatever the files hold
            values = values.astype(np.float64)
        placed = self.fitted.place(self.fitted.named(values), ask=self.extrapolation)
        if not (self.drop or placed.known.all()):
            row = int(np.argmin(placed.known))
            gap = np.equal(values[row], np.array(None)) if values.dtype == object else np.isnan(values[row])
            name = self.data[int(np.argmax(gap))]
            raise _bad(
                file,
                f"no value in column '{name}', row {start + row} counted from 0, that the model does not fill in",
                "use --missing drop, which leaves such rows without a place",
            )
        return placed


def _bad(file: "InputFile", what: str, change: str) -> InputError:
    from gramfold.distributed.files import BadPartitionError

    return BadPartitionError(f"'{file.path}' has {what}: {change}, or leave the file out with --on-bad-partition skip.")

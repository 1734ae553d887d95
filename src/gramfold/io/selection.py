"""Which columns of a table are wanted, and the sentences about those that cannot be used."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError

MOST_NAMES_SHOWN = 12
FILL_LABELS = "fill them in, or remove these rows"


@dataclass(frozen=True)
class Contents:
    """What a reader found."""

    values: NDArray[Any]  # (n, d)
    names: list[str]  # (d,)
    labels: NDArray[Any] | None = None  # (n,) words or numbers, where a column of them was asked for


@dataclass(frozen=True)
class Selection:
    """What the caller asked for: only these columns, and not those; None asks for nothing."""

    columns: Sequence[str] | None = None
    skip: Sequence[str] | None = None
    gaps: bool = False  # whether values may be missing
    labels: str | None = None  # the column that says what each row is; never among the values

    def positions(self, names: Sequence[str], source: str, index: Sequence[str] = ()) -> list[int]:
        """Where the wanted columns stand, in the order asked for; `index` names row labels, not data."""
        position = {name: j for j, name in enumerate(names)}
        repeated = {name for name, count in Counter(names).items() if count > 1}
        label = () if self.labels is None else (self.labels,)
        for name in (*(self.columns or ()), *(self.skip or ()), *label):
            if name not in position:
                raise InputError(f"{source} has no column '{name}'{_instead(name, names)}")
            if name in repeated:
                raise InputError(f"{source} has several columns named '{name}': give them different names.")
        dropped = {*(self.skip or ()), *label}
        if self.columns is None:
            kept = [j for j, name in enumerate(names) if name not in dropped and name not in index]
        else:
            kept = [position[name] for name in self.columns if name not in dropped]
        if not kept:
            raise InputError(f"{source} has no column left to use out of {_listed(names)}: keep at least one of them.")
        return kept


def leave_out(names: Sequence[str]) -> str:
    """How to leave these columns out, on the command line and in Python."""
    return f"`--skip {shlex.quote(','.join(names))}`, or skip={list(names)!r} in Python"


def quoted(names: Sequence[str]) -> str:
    """'a', 'b' and 'c'."""
    shown = [f"'{name}'" for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def require_finite(values: NDArray[Any], names: Sequence[str], source: str, *, gaps: bool = False) -> None:
    """Refuse infinite values, and missing ones unless `gaps` are wanted, naming the first."""
    finite = ~np.isinf(values) if gaps else np.isfinite(values)
    if finite.all():
        return
    row, column = np.argwhere(~finite)[0]
    bad_rows, bad_columns = (~finite).any(axis=1).sum(), (~finite).any(axis=0).sum()
    found = "a missing value" if np.isnan(values[row, column]) else "an infinite value"
    raise InputError(
        f"{source} holds {found} in column '{names[column]}', row {row} counted from 0 "
        f"({bad_rows} of {len(values)} rows and {bad_columns} columns are affected): fill the gaps or remove "
        f"these rows, or leave the column out ({leave_out([names[column]])})."
    )


def require_labels(labels: NDArray[Any], name: str, source: str) -> None:
    """Refuse labels with gaps, naming the first."""
    missing = labels == "" if labels.dtype.kind == "U" else ~np.isfinite(labels)
    if missing.any():
        raise InputError(
            f"{source} has no label in column '{name}', row {int(np.argmax(missing))} counted from 0 "
            f"({int(missing.sum())} of {len(labels)} rows have none): {FILL_LABELS}."
        )


def _instead(name: str, names: Sequence[str]) -> str:
    close = get_close_matches(name, names, n=1)
    return f", did you mean '{close[0]}'?" if close else f"; it has {_listed(names)}."


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES_SHOWN])
    more = len(names) - MOST_NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown

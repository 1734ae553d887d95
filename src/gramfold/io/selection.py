"""Column selection, and the error messages for columns that cannot be used."""

import csv
import io
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError
from gramfold.io.reading import Format
from gramfold.runtime.close_names import close_names, question

MOST_NAMES_SHOWN = 12
MOST_LETTERS_SHOWN = 500  # of names that are to be copied
MOST_LETTERS_OF_A_WORD = 60
FILL_LABELS = "fill in the labels, or remove these rows"


@dataclass(frozen=True)
class Ids:
    """A column that names the rows of a table."""

    name: str
    values: Sequence[str]  # (n,) as they are written

    def typed(self) -> NDArray[Any]:
        """Whole numbers where all are written as such, so that tables can be joined by them; else strings."""
        try:
            numbers = np.array([int(value) for value in self.values], dtype=np.int64)
        except (ValueError, OverflowError):
            return np.array(self.values, dtype=np.str_)
        plain = [str(number) for number in numbers] == list(self.values)
        return numbers if plain else np.array(self.values, dtype=np.str_)


@dataclass(frozen=True)
class Selection:
    """Columns to read and to leave out, and options of the reader."""

    columns: Sequence[str] | None = None
    skip: Sequence[str] | None = None
    labels: str | None = None  # the label column, which is never among the values
    form: Format = field(default_factory=Format)
    everything: bool = False  # whether also what a file has beside its table is read

    def positions(self, names: Sequence[str], source: str, index: Sequence[str] = ()) -> list[int]:
        """Positions of the selected columns, in the requested order; columns in `index` are not data."""
        if not names:
            raise InputError(f"{source} has no columns: a table needs at least one.")
        position = {name: j for j, name in enumerate(names)}
        repeated = {name for name, count in Counter(names).items() if count > 1}
        label = () if self.labels is None else (self.labels,)
        for name in (*(self.columns or ()), *(self.skip or ()), *label):
            if name not in position:
                raise InputError(f"{source} has no column '{shortened(name)}'{_instead(name, names)}")
            if name in repeated:
                raise InputError(f"{source} has several columns named '{shortened(name)}': give them different names.")
        twice = [name for name, count in Counter(self.columns or ()).items() if count > 1]
        if twice:
            raise InputError(f"columns lists {quoted(twice)} twice: list each column once.")
        dropped = {*(self.skip or ()), *label}
        if self.columns is None:
            kept = [j for j, name in enumerate(names) if name not in dropped and name not in index]
        else:
            kept = [position[name] for name in self.columns if name not in dropped]
        if not kept:
            raise InputError(
                f"{source} has no column left to use: its columns are {_in_short(names)}. Keep at least one."
            )
        return kept

    def needed(self, names: Sequence[str], source: str, index: Sequence[str] = ()) -> list[int]:
        """Positions of all columns that are used, the label column included."""
        if self.everything:
            return list(range(len(names)))
        kept = self.positions(names, source, index)
        return kept if self.labels is None else [*kept, list(names).index(self.labels)]


def numbered(width: int) -> list[str]:
    """Default column names, as in scikit-learn: x0, x1, …."""
    return [f"x{j}" for j in range(width)]


def leave_out(names: Sequence[str]) -> str:
    """Options that leave these columns out, on the command line and in Python."""
    if len(names) > MOST_NAMES_SHOWN or sum(map(len, names)) > MOST_LETTERS_SHOWN or not "".join(names).isprintable():
        return "list the columns to use with `--columns`, or columns=[…] in Python"
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(names)
    return f"`--skip {shlex.quote(written.getvalue())}`, or skip={list(names)!r} in Python"


def quoted(names: Sequence[str]) -> str:
    """Format names as: column 'a', or columns 'a', 'b' and 'c'."""
    shown = [f"'{shortened(name)}'" for name in names]
    if len(shown) == 1:
        return f"column {shown[0]}"
    if len(shown) > MOST_NAMES_SHOWN:
        return f"columns {listed(shown)}"
    return f"columns {', '.join(shown[:-1])} and {shown[-1]}"


def listed(shown: Sequence[str]) -> str:
    """Join texts with commas; of many show the first ones and the number of the others."""
    more = len(shown) - MOST_NAMES_SHOWN
    return ", ".join(shown[:MOST_NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def shortened(text: str) -> str:
    """Truncate a long text and replace characters that are not printable."""
    text = "".join(letter if letter.isprintable() else "·" for letter in text[: MOST_LETTERS_OF_A_WORD + 1])
    return text if len(text) <= MOST_LETTERS_OF_A_WORD else text[: MOST_LETTERS_OF_A_WORD - 1] + "…"


@dataclass(frozen=True)
class Gaps:
    """Missing and infinite values of a table, by column."""

    counts: dict[str, int]  # column name -> number of rows
    rows: int  # with such a value in any column
    n_rows: int
    first: str  # the first one: what and where

    def sentence(self, source: str, n_columns: int) -> str:
        """Error message with the counts and the remedy."""
        one = len(self.counts) == 1
        shown = [f"'{shortened(name)}' {count:,}" for name, count in self.counts.items()]
        per_column = "" if one else f"; by column: {listed(shown)}"
        them = "the column" if one else "these columns"
        leave = "" if len(self.counts) == n_columns else f", or leave {them} out ({leave_out(list(self.counts))})"
        return (
            f"{source} has {self.first} ({self.rows:,} of {self.n_rows:,} rows have missing or infinite "
            f"values{per_column}). Fill in the values or remove these rows{leave}."
        )


def require_finite(
    values: NDArray[Any],
    names: Sequence[str],
    source: str,
    *,
    missing: bool = False,
    where: Callable[[int, int], str] | None = None,
) -> None:
    """Raise an error for infinite values, and for missing ones unless `missing`, with the columns that have them.

    `where` says of a row and a column what stands there, and where that is.
    """
    if np.isfinite(values).all():
        return
    bad = np.isinf(values) if missing else ~np.isfinite(values)
    if not bad.any():
        return
    row, column = map(int, np.argwhere(bad)[0])
    per_column = bad.sum(axis=0)
    counts = {name: int(count) for name, count in zip(names, per_column, strict=True) if count}
    found = "a missing value" if np.isnan(values[row, column]) else "an infinite value"
    first = f"{found} in column '{shortened(names[column])}', row {row} counted from 0"
    if where is not None:
        first = where(row, column)
    found_gaps = Gaps(counts, int(bad.any(axis=1).sum()), len(values), first)
    raise InputError(found_gaps.sentence(source, len(names)))


def require_labels(labels: NDArray[Any], name: str, source: str) -> None:
    """Raise an error for missing labels, with the position of the first."""
    missing = labels == "" if labels.dtype.kind == "U" else ~np.isfinite(labels)
    if missing.any():
        raise InputError(
            f"{source} has no label in column '{name}', row {int(np.argmax(missing))} counted from 0 "
            f"({int(missing.sum())} of {len(labels)} rows have no label): {FILL_LABELS}."
        )


def _instead(name: str, names: Sequence[str]) -> str:
    close = [shortened(one) for one in close_names(name, names)]
    return f": {question(close)}" if close else f"; it has {_in_short(names)}."


def _in_short(names: Sequence[str]) -> str:
    return listed([shortened(name) for name in names])

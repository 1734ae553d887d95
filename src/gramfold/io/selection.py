"""Which columns of a table are wanted, and the sentences about those that cannot be used."""

import csv
import io
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError
from gramfold.io.numerals import PLAIN, Numerals

MOST_NAMES_SHOWN = 12
MOST_LETTERS_SHOWN = 500  # of names that are to be copied
MOST_LETTERS_OF_A_WORD = 60
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
    header: bool | None = None  # of text: whether the first line holds names; None: told by looking
    numerals: Numerals = PLAIN  # of text

    def positions(self, names: Sequence[str], source: str, index: Sequence[str] = ()) -> list[int]:
        """Where the wanted columns stand, in the order asked for; `index` names row labels, not data."""
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
            raise InputError(f"columns has {quoted(twice)} twice, which would count double: name each once.")
        dropped = {*(self.skip or ()), *label}
        if self.columns is None:
            kept = [j for j, name in enumerate(names) if name not in dropped and name not in index]
        else:
            kept = [position[name] for name in self.columns if name not in dropped]
        if not kept:
            raise InputError(
                f"{source} has no column left to use out of {_in_short(names)}: keep at least one of them."
            )
        return kept


def leave_out(names: Sequence[str]) -> str:
    """How to leave these columns out, on the command line and in Python."""
    if len(names) > MOST_NAMES_SHOWN or sum(map(len, names)) > MOST_LETTERS_SHOWN or not "".join(names).isprintable():
        return "name those to use with `--columns`, or columns=[…] in Python"
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(names)
    return f"`--skip {shlex.quote(written.getvalue())}`, or skip={list(names)!r} in Python"


def quoted(names: Sequence[str]) -> str:
    """The words: column 'a', or columns 'a', 'b' and 'c'."""
    shown = [f"'{shortened(name)}'" for name in names]
    if len(shown) == 1:
        return f"column {shown[0]}"
    if len(shown) > MOST_NAMES_SHOWN:
        return f"columns {listed(shown)}"
    return f"columns {', '.join(shown[:-1])} and {shown[-1]}"


def listed(shown: Sequence[str]) -> str:
    """The words: a, b, c; of many the first, and how many more."""
    more = len(shown) - MOST_NAMES_SHOWN
    return ", ".join(shown[:MOST_NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def shortened(text: str) -> str:
    """The beginning of a long text, on one line."""
    text = "".join(letter if letter.isprintable() else "·" for letter in text[: MOST_LETTERS_OF_A_WORD + 1])
    return text if len(text) <= MOST_LETTERS_OF_A_WORD else text[: MOST_LETTERS_OF_A_WORD - 1] + "…"


@dataclass(frozen=True)
class Gaps:
    """Values that are missing or infinite, by column."""

    counts: dict[str, int]  # name -> rows
    rows: int  # with such a value in any column
    n_rows: int
    first: str  # what and where

    def sentence(self, source: str, n_columns: int) -> str:
        """What was found, and what to do about it."""
        one = len(self.counts) == 1
        shown = [f"'{shortened(name)}' {count:,}" for name, count in self.counts.items()]
        per_column = "" if one else f"; by column: {listed(shown)}"
        them = "the column" if one else "these columns"
        leave = "" if len(self.counts) == n_columns else f", or leave {them} out ({leave_out(list(self.counts))})"
        return (
            f"{source} has {self.first} ({self.rows:,} of {self.n_rows:,} rows lack a finite value{per_column}): fill "
            f"them in or remove these rows{leave}."
        )


def require_finite(values: NDArray[Any], names: Sequence[str], source: str, *, gaps: bool = False) -> None:
    """Refuse infinite values, and missing ones unless `gaps` are wanted, naming every column that has some."""
    bad = np.isinf(values) if gaps else ~np.isfinite(values)
    if not bad.any():
        return
    row, column = map(int, np.argwhere(bad)[0])
    per_column = bad.sum(axis=0)
    counts = {name: int(count) for name, count in zip(names, per_column, strict=True) if count}
    found = "a missing value" if np.isnan(values[row, column]) else "an infinite value"
    first = f"{found} in column '{shortened(names[column])}', row {row} counted from 0"
    found_gaps = Gaps(counts, int(bad.any(axis=1).sum()), len(values), first)
    raise InputError(found_gaps.sentence(source, len(names)))


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
    return f", did you mean '{shortened(close[0])}'?" if close else f"; it has {_in_short(names)}."


def _in_short(names: Sequence[str]) -> str:
    return listed([shortened(name) for name in names])

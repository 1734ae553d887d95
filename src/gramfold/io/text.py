"""Delimited text. numpy's compiled parser does the reading; when it fails, a slow pass finds out why."""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError
from gramfold.io.arrays import numbered
from gramfold.io.selection import FILL_LABELS, Contents, Selection, leave_out, quoted

# A tab or a semicolon that splits every line alike is a separator; a comma may also be a decimal comma.
SEPARATORS = ("\t", ";", "|", ",")
LINES_LOOKED_AT = 20
GAPS = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "?", "."))
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True)
class Layout:
    """How the file is laid out; a separator of None stands for blanks."""

    separator: str | None
    names: list[str]
    lines_before: int  # comments and header
    unnamed_first: bool  # the header leaves the first column without a name, as row labels are written


def read(path: Path, selection: Selection) -> Contents:
    """The wanted columns as float64, the labels beside them."""
    labels = None
    try:
        layout = _layout(path)
        kept = selection.positions(layout.names, f"'{path}'")
        values = _parse(path, layout, kept, selection.gaps)
        if selection.labels is not None:
            labels = _labels(path, layout, selection.labels)
    except UnicodeDecodeError as error:
        raise InputError(
            f"'{path}' is not UTF-8 text (byte {error.object[error.start]:#04x}): save it as UTF-8."
        ) from error
    except csv.Error as error:
        raise InputError(f"'{path}' is not a table ({error}): look for a quote that is not closed.") from error
    if layout.unnamed_first and selection.columns is None and 0 in kept and len(values) > 1:
        _refuse_row_numbers(values[:, kept.index(0)], layout, path)
    return Contents(values, [layout.names[j] for j in kept], labels)


def write(path: Path, values: NDArray[Any], names: Sequence[str]) -> None:
    """A header and the shortest digits that read back as the same number."""
    separator = "," if path.suffix.lower() == ".csv" else "\t"
    # float32 through its own digits: as Python floats 0.1 would read 0.10000000149011612
    rows = (values if values.dtype == np.float64 else values.astype(np.str_)).tolist()
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, delimiter=separator, lineterminator="\n")
        table.writerow(names)
        table.writerows(rows)


def _layout(path: Path) -> Layout:
    with _open(path) as stream:
        head = list(islice(stream, LINES_LOOKED_AT))
    # lines that start with # are comments, as numpy.savetxt writes them; the last may hold the names
    comments = 0
    while comments < len(head) and (head[comments].startswith("#") or not head[comments].strip()):
        comments += 1
    if comments == len(head):
        raise InputError(f"'{path}' has no rows: a table needs at least one.")
    separator = _separator(path, head[comments:])
    rows = [cells for _, cells in _rows(iter(head[comments:]), separator)]
    if _is_header(rows):
        names, before = rows[0], comments + 1
    else:
        names, before = _names_in_comment(head[:comments], separator, len(rows[0])), comments
    names = [name.strip() for name in names]
    unnamed_first = not names[0] and any(names)
    # fewer names than cells: R's write.table leaves the row labels without a name
    if len(rows) > 1 and len(names) == len(rows[1]) - 1 and before > comments:
        names, unnamed_first = ["", *names], True
    fallback = numbered(len(names))
    named = [name or fallback[j] for j, name in enumerate(names)]
    return Layout(separator, named, before, unnamed_first)


def _separator(path: Path, lines: list[str]) -> str | None:
    if path.suffix.lower() == ".tsv":
        return "\t"
    blanks = path.suffix.lower() == ".txt"
    # a quote in a name looks like one that is never closed where the separator is not the right one
    for strict in (True, False):
        for separator in (*SEPARATORS, None) if blanks else SEPARATORS:
            widths = _widths(lines, separator, strict)
            if len(widths) == 1 and widths != {1}:
                return separator
    # None splits all lines alike: take the commonest below the header, and let the parser name the odd line.
    body = "".join(lines[1:] or lines)
    commonest = max(reversed(SEPARATORS), key=body.count)
    if body.count(commonest):
        return commonest
    several = any(len(line.split()) > 1 for line in lines[1:])
    if blanks and several:
        return None
    return "\t" if blanks else ","  # one column: the separator that `write` would quote in its name


def _widths(lines: list[str], separator: str | None, strict: bool) -> set[int]:
    """Into how many cells the lines are split; none where quotes do not allow it."""
    try:
        return {len(cells) for _, cells in _rows(iter(lines), separator, strict)}
    except csv.Error:
        return set()


def _is_header(rows: list[list[str]]) -> bool:
    first = [cell.strip() for cell in rows[0]]
    if any(_number(cell) is None and cell.lower() not in GAPS for cell in first):
        return True
    # pandas names columns that have no name 0,1,2,…, after a blank cell where it also writes row labels
    labelled = first[0] == ""
    counts = first[labelled:] == [str(j) for j in range(len(first) - labelled)]
    whole_numbers_follow = len(rows) < 2 or all(cell.strip().lstrip("-").isdigit() for cell in rows[1])
    return counts and (labelled or not whole_numbers_follow)


def _names_in_comment(comments: list[str], separator: str | None, width: int) -> list[str]:
    """Names from the last comment, as numpy.savetxt writes them; blank where it holds something else."""
    for _, cells in _rows(iter([comments[-1].lstrip("# ")] if comments else []), separator):
        if len(cells) == width:
            return cells
    return [""] * width


def _parse(path: Path, layout: Layout, kept: list[int], gaps: bool) -> NDArray[Any]:
    width = len(layout.names)
    try:
        with _open(path) as stream:
            for _ in range(layout.lines_before):
                next(stream)
            first = next(stream, None)
            if first is None:
                return np.empty((0, len(kept)))
        if kept != list(range(width)):
            # with usecols the parser no longer notices a line with more cells, whose numbers are shifted
            _refuse_ragged(path, layout)
        with _open(path) as stream:
            for _ in range(layout.lines_before):
                next(stream)
            values = np.loadtxt(
                stream,
                delimiter=layout.separator,
                quotechar='"',
                comments=None,
                usecols=None if kept == list(range(width)) else kept,
                converters=_or_gap if gaps else None,
                ndmin=2,
            )
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise _diagnosis(path, layout, kept, str(error), gaps) from error
    usable = ~np.isinf(values) if gaps else np.isfinite(values)
    if not usable.all() or values.shape[1] != len(kept):
        raise _diagnosis(path, layout, kept, "gaps or infinite values", gaps)
    return values


def _labels(path: Path, layout: Layout, name: str) -> NDArray[Any]:
    """The cells of one column: numbers where all of them are, else words."""
    place = layout.names.index(name)
    words, gaps, first_gap = [], 0, None
    with _open(path) as stream:
        for line, cells in _body(stream, layout):
            words.append(cells[place].strip())
            if words[-1].lower() in GAPS:
                gaps += 1
                first_gap = first_gap or (line, words[-1])
    if first_gap:
        line, cell = first_gap
        raise InputError(
            f"'{path}' has {_cell(cell)} in column '{name}', line {line}, which is no label ({gaps} of {len(words)} "
            f"rows have none): {FILL_LABELS}."
        )
    numbers = [_number(word) for word in words]
    return np.array(words, dtype=np.str_) if None in numbers else np.array(numbers, dtype=np.float64)


def _cell(cell: str) -> str:
    return f"'{cell}'" if cell else "no value"


def _or_gap(cell: str) -> float:
    return math.nan if cell.strip().lower() in GAPS else float(cell)


def _diagnosis(path: Path, layout: Layout, kept: list[int], reason: str, gaps: bool) -> InputError:
    """Why these columns are not numbers, in one sentence; `gaps` are no reason where they were asked for."""
    _refuse_ragged(path, layout)
    first_odd: dict[int, tuple[int, str]] = {}  # column -> line and cell
    odd_cells = dict.fromkeys(kept, 0)
    first_gap: tuple[int, int, str] | None = None
    gap_rows = n_rows = 0
    with _open(path) as stream:
        for line, cells in _body(stream, layout):
            n_rows += 1
            gap_here = False
            for j in kept:
                number = _number(cells[j])
                if (number is not None and math.isfinite(number)) or (gaps and cells[j].strip().lower() in GAPS):
                    continue
                if number is None and cells[j].strip().lower() not in GAPS:
                    odd_cells[j] += 1
                    first_odd.setdefault(j, (line, cells[j].strip()))
                else:
                    gap_here = True
                    first_gap = first_gap or (line, j, cells[j].strip())
            gap_rows += gap_here
    text = [j for j in first_odd if odd_cells[j] > n_rows / 2]
    if text:
        line, cell = first_odd[text[0]]
        names = [layout.names[j] for j in text]
        return InputError(_about_text(path, names, line, cell, layout))
    if first_odd:
        j, (line, cell) = next(iter(first_odd.items()))
        return InputError(
            f"'{path}' has '{cell}' in column '{layout.names[j]}', line {line}, which is not a number: "
            f"correct it, or leave the column out ({leave_out([layout.names[j]])})."
        )
    if first_gap:
        line, j, cell = first_gap
        return InputError(
            f"'{path}' has {_cell(cell)} in column '{layout.names[j]}', line {line} ({gap_rows} of {n_rows} rows "
            "have such gaps): fill them or remove these rows, or leave the column out "
            f"({leave_out([layout.names[j]])})."
        )
    return InputError(f"'{path}' could not be read as a table of numbers ({reason}): check how it was written.")


def _about_text(path: Path, names: list[str], line: int, cell: str, layout: Layout) -> str:
    if layout.separator != "," and DECIMAL_COMMA.fullmatch(cell):
        return f"'{path}' has decimal commas ('{cell}' in line {line}): write numbers with a point."
    column, verb, them = ("column", "holds", "it") if len(names) == 1 else ("columns", "hold", "them")
    return (
        f"In '{path}' {column} {quoted(names)} {verb} text ('{cell}' in line {line}): "
        f"leave {them} out ({leave_out(names)})."
    )


def _refuse_ragged(path: Path, layout: Layout) -> None:
    width = len(layout.names)
    with _open(path) as stream:
        for line, cells in _body(stream, layout):
            if len(cells) != width:
                known: dict[str | None, str] = {None: "blanks", "\t": "tabs"}
                separated = known.get(layout.separator, f"'{layout.separator}'")
                raise InputError(
                    f"'{path}' has {len(cells)} cells in line {line} where {width} are expected (separated "
                    f"by {separated}): correct that line, or put cells that contain the separator in quotes."
                )


def _refuse_row_numbers(column: NDArray[Any], layout: Layout, path: Path) -> None:
    for start in (0, 1):
        if np.array_equal(column, np.arange(start, start + len(column))):
            name = layout.names[0]
            raise InputError(
                f"The first column of '{path}' has no name and counts the rows from {start}, which would "
                f"distort the map: leave it out ({leave_out([name])}), or name it in the header."
            )


def _open(path: Path) -> Any:
    return path.open(encoding="utf-8-sig", newline="")


def _body(stream: Iterator[str], layout: Layout) -> Iterator[tuple[int, list[str]]]:
    for _ in range(layout.lines_before):
        next(stream)
    for line, cells in _rows(stream, layout.separator):
        yield line + layout.lines_before, cells


def _rows(lines: Iterator[str], separator: str | None, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Number (from 1) and cells of every line that is not blank."""
    if separator is None:
        for number, line in enumerate(lines, start=1):
            if line.split():
                yield number, line.split()
        return
    reader = csv.reader(lines, delimiter=separator, strict=strict)
    for cells in reader:
        if cells:
            yield reader.line_num, cells


def _number(cell: str) -> float | None:
    try:
        # float() also takes 1_000, which the compiled parser does not
        return None if "_" in cell else float(cell)
    except ValueError:
        return None

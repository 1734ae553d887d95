"""Read and write delimited text with NumPy's compiled parser; if it fails, a slower pass finds the reason."""

import csv
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError
from gramfold.io.arrays import numbered
from gramfold.io.header import is_header
from gramfold.io.mixed import mixed_column, side_by_side
from gramfold.io.numerals import OTHER_NUMERALS, Numerals
from gramfold.io.selection import FILL_LABELS, Contents, Gaps, Ids, Selection, leave_out, quoted, shortened

# A tab or a semicolon that splits every line alike is a separator; a comma may also be a decimal comma.
SEPARATORS: tuple[str, ...] = ("\t", ";", "|", ",")
NO_SEPARATOR = "\x1f"  # leaves lines whole
LINES_LOOKED_AT = 20
_NO_NAME = ("", "Unnamed: 0")  # which is what pandas calls an index that it has written and read again
_TELLING_ROWS = 5  # from this many rows on, integers that are all different are taken for an index
GAPS = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "?", "."))


@dataclass(frozen=True)
class Layout:
    """Layout of a text file; a separator of None means blanks."""

    separator: str | None
    names: list[str]
    lines_before: int  # comments and header
    unnamed_first: bool  # the first column has no name in the header, as is usual for row labels
    short_header: bool  # the header also has no cell for it
    numerals: Numerals


def read(path: Path, selection: Selection) -> Contents:
    """Read the selected columns as float64, and the labels."""
    labels = None
    with _readable(path):
        layout = _layout(path, selection)
        kept = selection.positions(layout.names, f"'{path}'")
        values = _mixed(path, layout, kept) if selection.words else _parse(path, layout, kept, selection.missing)
        if selection.labels is not None:
            labels = _labels(path, layout, selection.labels)
    if layout.unnamed_first and selection.columns is None and 0 in kept and len(values) > 1:
        first = values[:, kept.index(0)]
        if not any(isinstance(cell, str) or cell is None for cell in first):
            _refuse_row_numbers(first.astype(np.float64), layout, path)
        if layout.short_header:
            raise InputError(_about_short_header(layout, path))
    return Contents(values, [layout.names[j] for j in kept], labels)


def names_of(path: Path, selection: Selection) -> list[str]:
    """Names of all columns, without reading the rows."""
    with _readable(path):
        return _layout(path, selection).names


def first_unnamed(path: Path, selection: Selection) -> str | None:
    """What the first column is called, where the header has no name for it."""
    layout = _layout(path, selection)
    return layout.names[0] if layout.unnamed_first else None


def words_of(path: Path, selection: Selection, name: str) -> list[str]:
    """Cells of one column as they are written, of a file that was read."""
    layout = _layout(path, selection)
    (place,) = Selection(columns=[name]).positions(layout.names, f"'{path}'")
    return _words(path, layout, layout.names[place])


def write(path: Path, values: NDArray[Any], names: Sequence[str], ids: Ids | None = None) -> None:
    """Write a header, and each number with the fewest digits that read back as the same number."""
    separator = "," if path.suffix.lower() == ".csv" else "\t"
    # float32 through its own digits: as Python floats 0.1 would read 0.10000000149011612
    rows = (values if values.dtype == np.float64 else values.astype(np.str_)).tolist()
    if ids is not None:
        names, rows = [ids.name, *names], [[one, *row] for one, row in zip(ids.values, rows, strict=True)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        # a header that starts with # or contains line breaks can be read back only if it is quoted
        odd = names[0].startswith("#") or not all(name.isprintable() for name in names)
        header = csv.writer(
            stream, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL
        )
        header.writerow(names)
        csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Report what is no text, or no table."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(
            f"'{path}' is not UTF-8 text (byte {error.object[error.start]:#04x}): save it as UTF-8."
        ) from error
    except csv.Error as error:
        raise InputError(f"'{path}' is not a table ({error}): look for a quote that is not closed.") from error


def _layout(path: Path, selection: Selection) -> Layout:
    # lines that start with # are comments, as numpy.savetxt writes them; the last may hold the names
    comments, comment = 0, ""
    with _open(path) as stream:
        for line in stream:
            if line.strip() and not line.startswith("#"):
                head = [line, *islice(stream, LINES_LOOKED_AT - 1)]
                break
            comments, comment = comments + 1, line if line.startswith("#") else comment
        else:
            raise InputError(f"'{path}' has no rows: a table needs at least one.")
    separator = _separator(path, head, selection.numerals)
    (length, first), *below = _rows(iter(head), separator)
    rows = [first, *(cells for _, cells in below)]
    header = selection.header
    if header is None:
        header = is_header(path, rows, selection.numerals, GAPS)
    if header:
        names, before = first, comments + length
    else:
        names, before = _names_in_comment(comment, separator, len(first)), comments
    names = [name.strip() for name in names]
    unnamed_first = names[0] in _NO_NAME and any(names)
    # fewer names than cells: R's write.table leaves the row labels without a name
    short = header and len(rows) > 1 and len(names) == len(rows[1]) - 1
    if short:
        names, unnamed_first = ["", *names], True
    return Layout(separator, _all_named(names), before, unnamed_first, short, selection.numerals)


def _all_named(names: list[str]) -> list[str]:
    """Give each column without a name one that no other column has."""
    taken = set(names)
    named = []
    for name, number in zip(names, numbered(len(names)), strict=True):
        fallback = number
        while fallback in taken:
            fallback += "_"
        named.append(name or fallback)
    return named


def _separator(path: Path, lines: list[str], numerals: Numerals) -> str | None:
    if path.suffix.lower() == ".tsv":
        return "\t"
    blanks = path.suffix.lower() == ".txt"
    able: tuple[str, ...] = SEPARATORS
    if _is_one_column(lines, numerals):
        # where a mark within numbers might be mistaken for a separator
        marks = f"{numerals.decimal}{numerals.thousands or ''}"
        able = tuple(separator for separator in SEPARATORS if separator not in marks)
        blanks = blanks and " " not in marks
    # a quote in a name looks like one that is never closed where the separator is not the right one
    for strict in (True, False):
        for separator in (*able, None) if blanks else able:
            widths = _widths(lines, separator, strict)
            if len(widths) == 1 and widths != {1}:
                return separator
    # No separator splits all lines alike: take the commonest below the header; the parser reports the odd line.
    body = "".join(lines[1:] or lines)
    commonest = max(reversed(able), key=body.count)
    if body.count(commonest):
        return commonest
    if blanks and any(len(line.split()) > 1 for line in lines[1:]):
        return None
    # one column: the separator that `write` would quote in its name
    return "\t" if path.suffix.lower() == ".txt" else able[-1]


def _is_one_column(lines: list[str], numerals: Numerals) -> bool:
    """Whether every line below the first is a number."""
    try:
        below = [cells[0] for _, cells in _rows(iter(lines), NO_SEPARATOR)][1:]
    except csv.Error:  # a line too long for a cell
        return False
    return all(numerals.number(line) is not None or line.strip().lower() in GAPS for line in below)


def _widths(lines: list[str], separator: str | None, strict: bool) -> set[int]:
    """Numbers of cells into which the lines are split; empty where a quote is not closed."""
    try:
        return {len(cells) for _, cells in _rows(iter(lines), separator, strict)}
    except csv.Error:
        return set()


def _names_in_comment(comment: str, separator: str | None, width: int) -> list[str]:
    """Column names from the last comment, as numpy.savetxt writes them; empty if it holds something else."""
    for _, cells in _rows(iter([comment.lstrip("# ")]), separator):
        if len(cells) == width:
            return cells
    return [""] * width


def _parse(path: Path, layout: Layout, kept: list[int], missing: bool) -> NDArray[Any]:
    width = len(layout.names)
    try:
        with _open(path) as stream:
            for _ in range(layout.lines_before):
                next(stream)
            if not any(line.strip() for line in stream):
                return np.empty((0, len(kept)))
        if kept != list(range(width)):
            # with usecols the parser no longer notices a line with more cells, whose numbers are shifted
            _refuse_ragged(path, layout)
        values = _numbers(path, layout, kept, missing)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise _diagnosis(path, layout, kept, str(error), missing) from error
    usable = ~np.isinf(values) if missing else np.isfinite(values)
    if not usable.all() or values.shape[1] != len(kept):
        raise _diagnosis(path, layout, kept, "missing or infinite values", missing)
    return values


def _mixed(path: Path, layout: Layout, kept: list[int]) -> NDArray[Any]:
    """Numbers, text and gaps of these columns."""
    _refuse_ragged(path, layout)
    rows = [cells for _, cells in _all_rows(path, layout)]
    return side_by_side([mixed_column([cells[j] for cells in rows], layout.numerals, GAPS) for j in kept])


def _numbers(path: Path, layout: Layout, kept: list[int], missing: bool) -> NDArray[Any]:
    """Parse the columns with NumPy, with a converter of our own for number formats that it does not support."""
    convert = _converter(layout.numerals, missing)
    if missing or not layout.numerals.plain:
        return _loaded(path, layout, kept, convert)
    try:
        return _loaded(path, layout, kept, None)
    except ValueError:  # there may be True and False
        return _loaded(path, layout, kept, convert)


def _loaded(path: Path, layout: Layout, kept: list[int], convert: Any) -> NDArray[Any]:
    with _open(path) as stream:
        for _ in range(layout.lines_before):
            next(stream)
        return np.loadtxt(
            stream,
            delimiter=layout.separator,
            quotechar='"',
            comments=None,
            usecols=None if kept == list(range(len(layout.names))) else kept,
            converters=convert,
            ndmin=2,
        )


def _labels(path: Path, layout: Layout, name: str) -> NDArray[Any]:
    """Cells of one column: as numbers if all of them are numbers, else as strings."""
    words = _words(path, layout, name)
    numbers = [layout.numerals.number(word) for word in words]
    return np.array(words, dtype=np.str_) if None in numbers else np.array(numbers, dtype=np.float64)


def _words(path: Path, layout: Layout, name: str) -> list[str]:
    """Cells of one column, none of them a gap."""
    place = layout.names.index(name)
    words, absent, first_gap = [], 0, None
    for line, cells in _all_rows(path, layout):
        words.append(cells[place].strip())
        if words[-1].lower() in GAPS:
            absent += 1
            first_gap = first_gap or (line, words[-1])
    if first_gap:
        line, cell = first_gap
        raise InputError(
            f"'{path}' has a missing label in column '{name}', line {line} ({_cell(cell)}; {absent} of {len(words)} "
            f"rows have no label): {FILL_LABELS}."
        )
    return words


def _cell(cell: str) -> str:
    return f"'{shortened(cell)}'" if cell else "no value"


def _converter(numerals: Numerals, missing: bool) -> Any:
    """Function that converts a cell to a number."""

    def convert(cell: str) -> float:
        number = numerals.value(cell)
        if number is not None:
            return number
        if missing and cell.strip().lower() in GAPS:
            return math.nan
        raise ValueError(cell)

    return convert


def _diagnosis(path: Path, layout: Layout, kept: list[int], reason: str, missing: bool) -> InputError:
    """Error with the reason why these columns are not numbers; missing values are accepted if `missing`."""
    _refuse_ragged(path, layout)
    first_odd: dict[int, tuple[int, str]] = {}  # column -> line and cell
    odd_cells, gap_cells = dict.fromkeys(kept, 0), dict.fromkeys(kept, 0)
    first_gap = ""
    gap_rows = n_rows = 0
    for line, cells in _all_rows(path, layout):
        n_rows += 1
        gap_here = False
        for j in kept:
            cell = cells[j].strip()
            number = layout.numerals.value(cell)
            gap = cell.lower() in GAPS
            if (number is not None and math.isfinite(number)) or (missing and gap):
                continue
            if number is None and not gap:
                odd_cells[j] += 1
                first_odd.setdefault(j, (line, cell))
            else:
                gap_here = True
                gap_cells[j] += 1
                first_gap = first_gap or f"{_cell(cell)} in column '{shortened(layout.names[j])}', line {line}"
        gap_rows += gap_here
    others = _other_numerals(path, layout, list(first_odd))
    text = [j for j in first_odd if not others[j] and odd_cells[j] > n_rows / 2]
    if text:
        return InputError(_about_text(path, layout, text, len(kept), *first_odd[text[0]]))
    stray = next((j for j in first_odd if not others[j]), None)
    if stray is not None:
        line, cell = first_odd[stray]
        leave = "" if len(kept) == 1 else f", or leave the column out ({leave_out([layout.names[stray]])})"
        return InputError(
            f"'{path}' has {_cell(cell)} in column '{shortened(layout.names[stray])}', line {line}, which is not a "
            f"number: correct it{leave}."
        )
    if first_odd:
        return InputError(_about_numerals(path, layout, first_odd, others))
    if gap_rows:
        counts = {layout.names[j]: count for j, count in gap_cells.items() if count}
        return InputError(Gaps(counts, gap_rows, n_rows, first_gap).sentence(f"'{path}'", len(kept)))
    return InputError(f"'{path}' could not be read as a table of numbers ({reason}): check its format.")


def _other_numerals(path: Path, layout: Layout, columns: list[int]) -> dict[int, list[Numerals]]:
    """For each of these columns, the number formats that fit all its cells."""
    left = {j: list(OTHER_NUMERALS) for j in columns}
    for _, cells in _all_rows(path, layout):
        for j in columns:
            if left[j] and cells[j].strip().lower() not in GAPS:
                left[j] = [numerals for numerals in left[j] if numerals.value(cells[j]) is not None]
    return left


def _about_numerals(
    path: Path, layout: Layout, first_odd: dict[int, tuple[int, str]], others: dict[int, list[Numerals]]
) -> str:
    """Error message for numbers with separators, with the options that read them."""
    j, (line, cell) = next(iter(first_odd.items()))
    found = f"'{path}' has {_cell(cell)} in column '{shortened(layout.names[j])}', line {line}"
    common = [numerals for numerals in OTHER_NUMERALS if all(numerals in known for known in others.values())]
    if not common:
        return f"{found}, but other columns use another number format: write all numbers as in 1234.5."
    readings = {numerals.number(cell): numerals for numerals in reversed(common)}  # the commonest format of each
    ways = [f"to read it as {number:g}, use {numerals.options}" for number, numerals in reversed(readings.items())]
    return f"{found}, a number with separators: {'; '.join(ways)}."


def _about_text(path: Path, layout: Layout, text: list[int], n_columns: int, line: int, cell: str) -> str:
    names = [layout.names[j] for j in text]
    verb, them = ("holds", "it") if len(names) == 1 else ("hold", "them")
    found = f"In '{path}', {quoted(names)} {verb} text ({_cell(cell)} in line {line})"
    if len(names) == n_columns:
        return f"{found}, and no column holds numbers: a table of numbers is needed."
    return f"{found}: leave {them} out ({leave_out(names)})."


def _refuse_ragged(path: Path, layout: Layout) -> None:
    width = len(layout.names)
    for line, cells in _all_rows(path, layout):
        if len(cells) != width:
            known: dict[str | None, str] = {None: "blanks", "\t": "tabs"}
            separated = known.get(layout.separator, f"'{layout.separator}'")
            raise InputError(
                f"'{path}' has {len(cells)} cells in line {line} where {width} are expected (separated "
                f"by {separated}): correct that line, or put cells that contain the separator in quotes."
            )


def _refuse_row_numbers(column: NDArray[Any], layout: Layout, path: Path) -> None:
    """Raise an error for a first column without a name that holds distinct integers: an index, as pandas writes it."""
    n = len(column)
    counts = any(np.array_equal(column, np.arange(start, start + n)) for start in (0, 1))
    alike = np.any(column != np.trunc(column)) or column.min() < 0 or len(np.unique(column)) < n
    if counts or not (layout.short_header or n < _TELLING_ROWS or alike):
        raise InputError(
            f"The first column of '{path}' has no name and holds distinct integers ({column[0]:.0f}, "
            f"{column[1]:.0f}, …), as an index does, which would distort the embedding. Leave it out "
            f"({leave_out(layout.names[:1])}), or name it in the header if it is a measurement."
        )


def _about_short_header(layout: Layout, path: Path) -> str:
    """Error message for a header with one name too few: mostly row labels, but a decimal comma looks the same."""
    width = len(layout.names)
    comma = layout.separator == "," and width == 2
    decimal = f", or use {Numerals(',').options} if the comma is a decimal separator" if comma else ""
    return (
        f"The header of '{path}' has {width - 1} name{'s' * (width > 2)}, but the lines below have {width} cells. "
        f"Leave the first column out ({leave_out(layout.names[:1])}) if it holds row labels, or name it in the "
        f"header{decimal}."
    )


def _open(path: Path) -> Any:
    return path.open(encoding="utf-8-sig", newline="")


def _all_rows(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row below the header."""
    with _open(path) as stream:
        for _ in range(layout.lines_before):
            next(stream)
        for line, cells in _rows(stream, layout.separator):
            yield line + layout.lines_before, cells


def _rows(lines: Iterator[str], separator: str | None, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Line number (from 1) and cells of every line that is not blank."""
    if separator is None:
        for number, line in enumerate(lines, start=1):
            if line.split():
                yield number, line.split()
        return
    reader = csv.reader(lines, delimiter=separator, strict=strict)
    for cells in reader:
        if cells:
            yield reader.line_num, cells

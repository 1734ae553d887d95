"""Layout of a text file, guessed from its first lines: what stands above the table, separator, header, numbers."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from gramfold.errors import InputError
from gramfold.io.encoding import Decoded
from gramfold.io.header import is_header
from gramfold.io.numerals import OTHER_NUMERALS, PLAIN, Numerals
from gramfold.io.reading import SEPARATOR_NAMES, Format
from gramfold.io.selection import numbered

# A tab or a semicolon that splits every line alike is a separator; a comma may also be a decimal comma.
SEPARATORS: tuple[str, ...] = ("\t", ";", "|", ",")
BLANKS = " "
NO_SEPARATOR = "\x1f"  # leaves lines whole
LINES_LOOKED_AT = 20
FEWEST_BELOW = 2  # lines of one width, below lines of one cell, that make these a preamble
_NO_NAME = ("", "Unnamed: 0")  # which is what pandas calls an index that it has written and read again
GAPS = frozenset(
    ("", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "-", "--", "?", ".", "<na>", "#n/a", "#na", "#div/0!")
)


@dataclass(frozen=True)
class Layout:
    """Layout of a text file."""

    separator: str  # a blank means any number of blanks
    names: list[str]
    lines_before: int  # above the first row
    skipped: int  # of these: no part of the table, and no comment
    header: bool
    unnamed_first: bool  # the first column has no name in the header, as is usual for row labels
    short_header: bool  # the header also has no cell for it
    unnamed: frozenset[int]  # columns without a name
    hexadecimal: frozenset[int]  # columns of 0x1f and the like, which are names
    numerals: tuple[Numerals, ...]  # that fit the first rows, the likeliest first; one if it is sure


def layout_of(text: Decoded, path: Path, form: Format) -> Layout:
    """Guess the layout of a text; what `form` says is not guessed."""
    skip, told, comment, head = _head(text, path)
    separator = form.separator or told or _separator(path, head, form.numerals)
    preamble = 0 if form.header is False else _preamble(head, separator)
    (length, first), *below = rows_of(iter(head[preamble:]), separator)
    rows = [first, *(cells for _, cells in below)]
    numerals = (form.numerals,) if form.numerals else _numerals(rows, separator)
    header = is_header(path, rows, numerals[0], GAPS) if form.header is None else form.header
    if header:
        names, before = first, skip + preamble + length
    else:
        names, before = _names_in_comment(comment, separator, len(first)), skip + preamble
    names = [name.strip() for name in names]
    unnamed_first = names[0] in _NO_NAME and any(names)
    short = header and len(rows) > 1 and all(len(row) == len(names) + 1 for row in rows[1:])
    if short and all(not row[-1].strip() for row in rows[1:]):  # lines that end in a separator
        names, short = [*names, ""], False
    if short:  # R's write.table leaves the row labels without a name
        names, unnamed_first = ["", *names], True
    unnamed = frozenset(j for j, name in enumerate(names) if not name)
    return Layout(
        separator,
        _all_named(names),
        before,
        preamble + bool(told),
        header,
        unnamed_first,
        short,
        unnamed,
        frozenset(j for row in rows[1:] for j, cell in enumerate(row) if cell.strip()[:2].lower() == "0x"),
        numerals,
    )


def rows_of(lines: Iterator[str], separator: str, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Line number (from 1) and cells of every line that is not blank."""
    if separator == BLANKS:
        for number, line in enumerate(lines, start=1):
            if line.split():
                yield number, line.split()
        return
    reader = csv.reader(lines, delimiter=separator, strict=strict)
    for cells in reader:
        if cells:
            yield reader.line_num, cells


def _head(text: Decoded, path: Path) -> tuple[int, str | None, str, list[str]]:
    """Number of lines above the first that is neither blank nor a comment; separator that they name; the last comment;
    the lines from there.

    Only comments before the table are comments, as numpy.savetxt writes them; the last may hold the names.
    """  # noqa: D205
    skip, told, comment = 0, None, ""
    with text.lines() as stream:
        for line in stream:
            if skip == 0 and line.lower().startswith("sep=") and len(line.strip("\r\n")) == len("sep=") + 1:
                told = line[len("sep=")]  # as spreadsheets write it
                told = told if told in SEPARATOR_NAMES else None
            elif line.strip() and not line.startswith("#"):
                return skip, told, comment, [line, *islice(stream, LINES_LOOKED_AT - 1)]
            comment = line if line.startswith("#") else comment
            skip += 1
    raise InputError(f"'{path}' has no rows: a table needs at least one.")


def _preamble(head: list[str], separator: str) -> int:
    """Number of lines above the table: of one cell each, where all lines below have the same number of more."""
    cells = list(rows_of(iter(head), separator))
    widths = [len(row) for _, row in cells]
    if len(widths) <= FEWEST_BELOW or widths[0] > 1:
        return 0
    above = next((place for place, width in enumerate(widths) if width > 1), 0)
    width = widths[-1]
    if not above or len(widths) - above < FEWEST_BELOW + 1 or set(widths[above:]) != {width}:
        return 0
    if above == 1 and width == 2 and not any(_is_word(cell) for cell in cells[above][1]):
        return 0  # a header of one name, above row labels or decimal commas
    return cells[above - 1][0]


def _is_word(cell: str) -> bool:
    return all(numerals.number(cell) is None for numerals in (PLAIN, *OTHER_NUMERALS)) and cell.lower() not in GAPS


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


def _numerals(rows: list[list[str]], separator: str) -> tuple[Numerals, ...]:
    """Number formats in which most columns of these rows are numbers; several where the rows do not tell."""
    below = rows[1:] or rows
    columns = [[row[j].strip() for row in below if len(row) > j] for j in range(len(below[0]))]
    counts = {PLAIN: sum(fits(PLAIN, column) for column in columns)}
    if counts[PLAIN] < len(columns):  # else no other can read more
        counts |= {one: sum(fits(one, column) for column in columns) for one in OTHER_NUMERALS}
    most = max(counts.values())
    if counts[PLAIN] == most:
        return (PLAIN,)
    return by_separator(
        [one for one, count in counts.items() if count == most], list(chain.from_iterable(columns)), separator
    )


def fits(numerals: Numerals, cells: Sequence[str]) -> bool:
    """Whether all these cells are numbers or gaps, and not all are gaps."""
    known = [cell for cell in cells if cell.lower() not in GAPS]
    return bool(known) and all(numerals.value(cell) is not None for cell in known)


def by_separator(able: list[Numerals], cells: Sequence[str], separator: str) -> tuple[Numerals, ...]:
    """Of number formats that differ in what these cells are, the one that goes with the separator; else all of them.

    Where the decimal mark is a comma, columns are separated by semicolons; where it is a point, by commas.
    """
    readings = {tuple(one.number(cell) for cell in cells): one for one in reversed(able)}
    different = [one for one in able if one in readings.values()]
    decimal = {";": ",", ",": "."}.get(separator)
    if len(different) > 1 and decimal is not None:
        different = [one for one in different if one.decimal == decimal][:1] or different
    return tuple(different)


def _separator(path: Path, lines: list[str], numerals: Numerals | None) -> str:
    suffixes = {suffix.lower() for suffix in path.suffixes[-2:]}
    if suffixes & {".tsv", ".tab"} and any("\t" in line for line in lines):
        return "\t"
    blanks = ".txt" in suffixes or ".dat" in suffixes or _are_numbers_in_blanks(lines)
    able = SEPARATORS
    one_column = _one_column(lines, numerals)
    if one_column is not None:
        # where a mark within numbers might be mistaken for a separator
        marks = f"{one_column.decimal}{one_column.thousands or ''}"
        able = tuple(separator for separator in SEPARATORS if separator not in marks)
        blanks = blanks and " " not in marks
    # a quote in a name looks like one that is never closed where the separator is not the right one
    for strict in (True, False):
        for separator in (*able, BLANKS) if blanks else able:
            widths = _widths(lines, separator, strict)
            if len(widths) == 1 and widths != {1}:
                return separator
    # No separator splits all lines alike: take the commonest below the header; the parser reports the odd line.
    body = "".join(lines[1:] or lines)
    commonest = max(reversed(able), key=body.count)
    if body.count(commonest):
        return commonest
    if blanks and any(len(line.split()) > 1 for line in lines[1:]):
        return BLANKS
    # one column: the separator that `write` would quote in its name
    return "\t" if ".txt" in suffixes or ".tsv" in suffixes else able[-1]


def _are_numbers_in_blanks(lines: list[str]) -> bool:
    """Whether every line below the first has the same number of plain numbers, with only blanks between them."""
    below = [line.split() for line in lines[1:] if line.strip()]
    widths = {len(cells) for cells in below}
    return len(widths) == 1 and widths != {1} and all(PLAIN.number(cell) is not None for row in below for cell in row)


def _one_column(lines: list[str], numerals: Numerals | None) -> Numerals | None:
    """Number format in which every line below the first is one number, if it is not sure to be several."""
    try:
        first, *below = [cells[0] for _, cells in rows_of(iter(lines), NO_SEPARATOR)]
    except csv.Error:  # a line too long for a cell
        return None
    if numerals is not None:
        # every line a number in the way that was named, or a gap
        return numerals if all(numerals.number(line) is not None or line.lower() in GAPS for line in below) else None
    # below one word, numbers with a comma are one column of decimal commas
    comma = Numerals(",")
    word = comma.number(first) is None and not any(mark in first for mark in SEPARATORS)
    return comma if word and below and all(comma.number(line) is not None for line in below) else None


def _widths(lines: list[str], separator: str, strict: bool) -> set[int]:
    """Numbers of cells into which the lines are split; empty where a quote is not closed."""
    try:
        return {len(cells) for _, cells in rows_of(iter(lines), separator, strict)}
    except csv.Error:
        return set()


def _names_in_comment(comment: str, separator: str, width: int) -> list[str]:
    """Column names from the last comment, as numpy.savetxt writes them; empty if it holds something else."""
    for _, cells in rows_of(iter([comment.lstrip("# ")]), separator):
        if len(cells) == width:
            return cells
    return [""] * width

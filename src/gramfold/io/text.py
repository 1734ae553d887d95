"""Read and write delimited text with pyarrow's parser; if it fails, a slower pass finds the reason."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.io.columns import Columns
from gramfold.io.content import Content, packed
from gramfold.io.encoding import Decoded, decoded, decoded_otherwise
from gramfold.io.layout import GAPS, Layout, by_separator, layout_of
from gramfold.io.lines import Lines, not_closed
from gramfold.io.numerals import OTHER_NUMERALS, PLAIN, Numerals
from gramfold.io.parsing import NotUtf8Error, UnevenError, parsed
from gramfold.io.reading import Format, Reading
from gramfold.io.selection import Selection, leave_out

_TELLING_ROWS = 5  # from this many rows on, integers that are all different are taken for an index
_CELLS_COMPARED = 1000  # of a column, to see whether two number formats differ in what they are


def read(content: Content, selection: Selection) -> Columns:
    """Read all columns."""
    form = selection.form
    form.require("text", ("header", "decimal", "thousands", "separator", "encoding"), content.path)
    try:
        return columns_of(decoded(content, form.encoding), content, form)
    except (UnicodeDecodeError, NotUtf8Error):
        return columns_of(decoded_otherwise(content), content, form)


def layout(content: Content, form: Format) -> Layout:
    """Layout of a text file."""
    try:
        return layout_of(decoded(content, form.encoding), content.path, form)
    except UnicodeDecodeError:
        return layout_of(decoded_otherwise(content), content.path, form)
    except csv.Error as error:
        raise not_closed(content.path, error) from error


def columns_of(text: Decoded, content: Content, form: Format, kind: str = "text", line: str = "line") -> Columns:
    """Parse a text; `kind` is what the file is, `line` what its lines are called."""
    path = content.path
    try:
        found = layout_of(text, path, form)
    except csv.Error as error:
        raise not_closed(path, error) from error
    sure = len(found.numerals) == 1
    numerals = found.numerals[0] if sure else PLAIN
    columns = _in_format(text, found, numerals, path, line)
    if form.numerals is None:
        columns, numerals = _in_other_format(Lines(text, found, numerals, path, line), columns)
    width = len(found.names)
    # lines that end in a separator have a last column that is empty and has no name
    while width > 1 and width - 1 in found.unnamed and 0 < len(columns[0]) == columns[width - 1].null_count:
        width -= 1
    reading = Reading(
        kind,
        content.compression,
        text.encoding if kind == "text" else None,
        found.separator if kind == "text" else None,
        numerals.decimal,
        numerals.thousands,
        found.header,
        found.skipped,
    )
    lines = Lines(text, found, numerals, path, line)
    return Columns(path, found.names[:width], reading, dict(enumerate(columns[:width])), lines=lines)


def refuse_index(columns: Columns, selection: Selection, kept: Sequence[int]) -> None:
    """Raise an error for a first column without a name that numbers the rows, unless it was chosen."""
    assert columns.lines is not None
    found = columns.lines.layout
    if not found.unnamed_first or selection.columns is not None or 0 not in kept or columns.n_rows < 2:
        return
    if unnamed_index(columns):
        first, second = columns.table_of([0])[:2, 0]
        raise InputError(
            f"The first column of '{columns.source}' has no name and holds distinct integers ({first:.0f}, "
            f"{second:.0f}, …), as an index does, which would distort the embedding. Leave it out "
            f"({leave_out(found.names[:1])}), or name it in the header if it is a measurement."
        )
    refuse_short_header(columns)


def unnamed_index(columns: Columns) -> bool:
    """Whether the first column of a text has no name and holds distinct integers: an index, as pandas writes it."""
    if columns.lines is None or columns.n_rows < 2 or not columns.lines.layout.unnamed_first:
        return False
    if columns.kind(0) != "number" or columns.arrays[0].null_count:
        return False
    column, n = columns.table_of([0])[:, 0], columns.n_rows
    counts = any(np.array_equal(column, np.arange(start, start + n)) for start in (0, 1))
    alike = np.any(column != np.trunc(column)) or column.min() < 0 or len(np.unique(column)) < n
    return bool(counts or not (columns.lines.layout.short_header or n < _TELLING_ROWS or alike))


def refuse_short_header(columns: Columns) -> None:
    """Raise an error for a header with one name too few."""
    if columns.lines is not None and columns.lines.layout.short_header:
        raise InputError(_about_short_header(columns.lines.layout, columns.source))


def write(path: Path, table: Any, ending: str, compression: str | None) -> None:
    """Write a header, and each number with the fewest digits that read back as the same number."""
    import pyarrow as pa
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    separator = "," if ending == ".csv" else "\t"
    special = f'[{separator}"\r\n]|^$|^\\s|\\s$'
    quotes = any(
        pa.types.is_string(column.type) and compute.any(compute.match_substring_regex(column, special)).as_py()
        for column in table.columns
    )
    options = arrow_csv.WriteOptions(
        include_header=False, delimiter=separator, quoting_style="needed" if quotes else "none"
    )
    names = table.column_names
    # a header that starts with # or contains line breaks can be read back only if it is quoted
    odd = names[0].startswith("#") or not all(name.isprintable() for name in names)
    with pa.OSFile(str(path), "wb") as plain, packed(plain, compression) as stream:
        stream.write(_header(names, separator, quote_all=odd))
        arrow_csv.write_csv(table, stream, options)


def _header(names: Sequence[str], separator: str, *, quote_all: bool) -> bytes:
    line = io.StringIO(newline="")
    csv.writer(
        line, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    ).writerow(names)
    return line.getvalue().encode()


def _in_format(text: Decoded, found: Layout, numerals: Numerals, path: Path, line: str) -> list[Any]:
    """Columns with numbers in one format; text that is gaps and numbers with thousands separators as numbers."""
    try:
        table = parsed(text, found, numerals, path)
    except UnevenError as error:
        raise Lines(text, found, numerals, path, line).uneven(str(error)) from error
    return [typed(column, numerals) for column in table.columns]


def typed(column: Any, numerals: Numerals) -> Any:
    """A column of strings as numbers, if all of them are; else without blanks around, and without gaps."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_string(column.type):
        return column
    trimmed = compute.utf8_trim_whitespace(column)
    gaps = compute.is_in(compute.utf8_lower(trimmed), pa.array(GAPS))
    trimmed = compute.if_else(gaps, None, trimmed)
    numbers = _numbers(trimmed, numerals)
    return trimmed if numbers is None else numbers


def _numbers(column: Any, numerals: Numerals) -> Any:
    """Strings as numbers, None unless all of them are."""
    import pyarrow as pa

    cells = column.combine_chunks().dictionary_encode()
    numbers = []
    for cell in cells.dictionary.to_pylist():
        numbers.append(numerals.value(cell))
        if numbers[-1] is None:
            return None
    if not numbers:
        return pa.chunked_array([pa.nulls(len(column))])
    return pa.chunked_array([pa.array(numbers, pa.float64()).take(cells.indices)])


def _in_other_format(lines: Lines, columns: list[Any]) -> tuple[list[Any], Numerals]:
    """The same columns with numbers in another format, if some of the text is numbers in it, and no number text."""
    import pyarrow as pa

    words = [j for j, column in enumerate(columns) if pa.types.is_string(column.type)]
    able, cells = {}, []
    for j in words:
        here = columns[j].unique().drop_null().to_pylist()
        fitting = [one for one in OTHER_NUMERALS if _all_numbers(here, one)]
        if fitting:
            able[j] = fitting
            cells += here[:_CELLS_COMPARED]
    if not able:
        return columns, lines.numerals
    common = [one for one in OTHER_NUMERALS if all(one in fitting for fitting in able.values())]
    different = by_separator(common, cells, lines.layout.separator)
    first = next(iter(able))
    if len(different) > 1 and len({one.number(cell) for one in different for cell in cells[:1]}) > 1:
        raise InputError(_about_two_readings(lines, columns, first, different))
    numbers = [j for j, column in enumerate(columns) if not pa.types.is_string(column.type)]
    for one in different[:1] + tuple(other for other in common if other not in different[:1]):
        other = _in_format(lines.text, lines.layout, one, lines.path, lines.line)
        if not any(pa.types.is_string(other[j].type) for j in (*numbers, *able)):
            return other, one
    raise InputError(
        f"'{lines.path}' has {_first_cell(lines, columns, first)}, but other columns use another number format: write "
        "all numbers as in 1234.5."
    )


def _all_numbers(cells: Sequence[str], numerals: Numerals) -> bool:
    return bool(cells) and all(numerals.value(cell) is not None for cell in cells)


def _first_cell(lines: Lines, columns: list[Any], j: int) -> str:
    """The first cell of a column that is no plain number, and where it is."""
    cells = columns[j].to_pylist()
    row = next(row for row, cell in enumerate(cells) if cell is not None and lines.numerals.value(cell) is None)
    return lines.where(row, j)


def _about_two_readings(lines: Lines, columns: list[Any], j: int, able: Sequence[Numerals]) -> str:
    """Error message for numbers that may be read in two ways, with the options that read them."""
    cells = columns[j].to_pylist()
    cell = next(cell for cell in cells if cell is not None and lines.numerals.value(cell) is None)
    ways = [f"to read it as {one.number(cell):g}, use {one.options}" for one in able]
    return f"'{lines.path}' has {_first_cell(lines, columns, j)}, a number with separators: {'; '.join(ways)}."


def _about_short_header(found: Layout, path: Path) -> str:
    """Error message for a header with one name too few: mostly row labels, but a decimal comma looks the same."""
    width = len(found.names)
    comma = found.separator == "," and width == 2
    decimal = f", or use {Numerals(',').options} if the comma is a decimal separator" if comma else ""
    return (
        f"The header of '{path}' has {width - 1} name{'s' * (width > 2)}, but the lines below have {width} cells. "
        f"Leave the first column out ({leave_out(found.names[:1])}) if it holds row labels, or name it in the "
        f"header{decimal}."
    )

"""Read Excel workbooks with python-calamine, an optional dependency; write plain ones."""

import csv
import datetime as dt
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from numpy.typing import NDArray

from gramfold.errors import InputError, MissingExtraError
from gramfold.io.columns import Columns
from gramfold.io.content import Content
from gramfold.io.encoding import Decoded
from gramfold.io.reading import Format
from gramfold.io.selection import Selection, listed
from gramfold.io.text import columns_of

_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
MOST_ROWS = 1_048_576  # of a sheet


def read(content: Content, selection: Selection) -> Columns:
    """Read one sheet as the text that it would be saved as: header, numbers and gaps are told in the same way."""
    form = selection.form
    form.require("a workbook", ("header", "decimal", "thousands", "sheet"), content.path)
    book = _book(content)
    name = _sheet(book.sheet_names, form.sheet, content.path)
    try:
        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except Exception as error:  # damaged bytes make a parser raise anything
        raise _damaged(content.path) from error
    written = [[_word(cell) for cell in row] for row in rows]
    used = [j for j in range(len(written[0])) if any(row[j] for row in written)] if written else []
    if not used:
        raise InputError(
            f"Sheet '{name}' of '{content.path}' is empty: name another sheet ({listed(book.sheet_names)})."
        )
    text = Decoded(_as_text([[row[j] for j in used] for row in written]), "utf-8")
    told = Format(form.header, form.decimal, form.thousands, separator=",")
    found = columns_of(text, content, told, kind="workbook", line="row")
    part = name if len(book.sheet_names) > 1 else None
    return Columns(found.source, found.names, _in_sheet(found, part), found.arrays, lines=found.lines)


def write(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write a workbook of one sheet: names in the first row, numbers as numbers, all else as strings."""
    n = len(next(iter(columns.values())))
    if n >= MOST_ROWS:
        raise InputError(f"A sheet holds fewer than {MOST_ROWS:,} rows, and there are {n:,}: choose .parquet or .csv.")
    held = [column.tolist() for column in columns.values()]
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, xml in _FRAME.items():
            archive.writestr(name, _DECLARED + xml)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'{_DECLARED}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            for row in (list(columns), *zip(*held, strict=True)):
                sheet.write(f"<row>{''.join(map(_cell, row))}</row>".encode())
            sheet.write(b"</sheetData></worksheet>")


def _book(content: Content) -> Any:
    try:
        import python_calamine
    except ImportError as error:
        raise MissingExtraError(
            f"'{content.path}' is a workbook and needs python-calamine, which is not installed: run "
            '`pip install "gramfold[tables]"`, or save it as .csv.'
        ) from error
    try:
        return python_calamine.load_workbook(io.BytesIO(content.data[:]))
    except Exception as error:  # damaged bytes make a parser raise anything
        raise _damaged(content.path) from error


def _damaged(path: Path) -> InputError:
    return InputError(f"'{path}' is not a readable workbook (it may be truncated or protected): save it again.")


def _sheet(names: list[str], wanted: str | int | None, path: Path) -> str:
    if wanted is None and names:
        return names[0]
    if isinstance(wanted, int) and 0 <= wanted < len(names):
        return names[wanted]
    if wanted in names:
        return str(wanted)
    raise InputError(f"'{path}' has no sheet {wanted!r}; it has {listed(names) or 'none'}.")


def _in_sheet(found: Columns, part: str | None) -> Any:
    from dataclasses import replace

    return replace(found.reading, part=part)


def _word(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ")
    return str(cell)


def _as_text(rows: list[list[str]]) -> bytes:
    """Rows as lines; blank ones stay blank, and above the table a title is a line of one cell."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    above = True
    for row in rows:
        filled = sum(cell != "" for cell in row)
        above = above and filled <= 1
        if not filled:
            stream.write("\n")
        else:
            writer.writerow([cell.replace("\n", " ") for cell in row if cell or not above])
    return stream.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "<c/>"
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) != float("inf"):
        return f"<c><v>{value!r}</v></c>"
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'


_FRAME = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>'
    '<sheet name="map" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}

"""Columns of a text by pyarrow's parser, which converts numbers, dates and gaps."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gramfold.errors import InputError
from gramfold.io.encoding import Decoded
from gramfold.io.layout import BLANKS, GAPS, Layout
from gramfold.io.numerals import Numerals
from gramfold.io.selection import shortened

_BLOCK = 1 << 20  # bytes parsed at a time, as is usual there
_LONGEST_LINE = 1 << 30  # bytes: a block must hold a line
_WIDE = 1000  # columns from which on guesses of each, and threads for each, take longer than the numbers
# as they are written: the parser tells capitals from small letters
_WRITTEN_GAPS = sorted({"NaN", *(form for gap in GAPS for form in (gap, gap.upper(), gap.capitalize()))})


class NotUtf8Error(ValueError):
    """The text has bytes that UTF-8 does not have."""


class UnevenError(ValueError):
    """Not all lines have the same number of cells."""


def parsed(text: Decoded, layout: Layout, numerals: Numerals, path: Path, only: Sequence[int] | None = None) -> Any:
    """Columns of the text as a table of Arrow, named by position; `only` some of them, as they are written."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(j) for j in range(len(layout.names))]
    body = _body(text, layout)
    if not bytes(body[:_BLOCK]).strip() and not bytes(body).strip():
        return pa.table({name: pa.nulls(0) for name in names})
    wide = len(names) > _WIDE
    convert = csv.ConvertOptions(null_values=_WRITTEN_GAPS, decimal_point=numerals.decimal)
    if only is not None:
        convert.include_columns = [str(j) for j in only]
        convert.column_types = dict.fromkeys(convert.include_columns, pa.string())
    elif wide:
        convert.column_types = dict.fromkeys(names, pa.float64())
    else:  # the parser would take them for numbers
        convert.column_types = {str(j): pa.string() for j in layout.hexadecimal if j < len(names)}
    parse = csv.ParseOptions(
        delimiter="\t" if layout.separator == BLANKS else layout.separator,
        newlines_in_values=text.data.find(b'"', text.start) >= 0,
    )
    longest = min(_LONGEST_LINE, len(body) + 1)
    for block in (longest, longest) if wide else (_BLOCK, longest):
        read = csv.ReadOptions(column_names=names, block_size=block, use_threads=not wide)
        try:
            table = csv.read_csv(pa.BufferReader(pa.py_buffer(body)), read, parse, convert)
        except pa.ArrowInvalid as error:
            reason = str(error)
            if "invalid UTF8" in reason:
                raise NotUtf8Error from error
            if "columns, got" in reason or "out of sync" in reason:
                raise UnevenError(reason) from error
            if wide and convert.column_types and "conversion error" in reason and only is None:
                convert.column_types = {}  # not all are numbers: each has to be looked at
                continue
            if "straddl" not in reason or block != _BLOCK:
                raise InputError(f"'{path}' is not a table ({shortened(reason)}): check its format.") from error
            continue
        if any(pa.types.is_binary(column.type) for column in table.columns):
            raise NotUtf8Error
        return table
    raise AssertionError("the loop returns or raises")


def _body(text: Decoded, layout: Layout) -> Any:
    """Bytes below the header; between columns that blanks separate there is one tab."""
    start = text.start
    with text.lines() as stream:
        for _ in range(layout.lines_before):
            start += len(next(stream, "").encode())
    if layout.separator != BLANKS:
        return memoryview(text.data)[start:]
    trimmed = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", text.data[start:])
    return memoryview(re.sub(rb"[ \t]+", b"\t", trimmed))

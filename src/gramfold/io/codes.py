"""Values that stand for missing ones, such as -999, as gaps."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from gramfold.io.columns import NUMBER, TEXT, Columns, kind_of
from gramfold.io.numerals import PLAIN
from gramfold.io.text import typed


def without_codes(found: Columns, codes: Sequence[str]) -> Columns:
    """The same columns with gaps where one of these values stands; 7 is 7.0, words are as they are written."""
    words = [code.strip() for code in codes]
    numbers = _numbers(words)
    numerals = PLAIN if found.lines is None else found.lines.numerals
    arrays = {}
    for j, column in found.arrays.items():
        kind = kind_of(column.type)
        arrays[j] = column
        if kind in (NUMBER, TEXT):
            arrays[j] = _with_gaps(column, words)
        if kind == TEXT and found.lines is not None:
            arrays[j] = typed(arrays[j], numerals)  # the codes may have been all that was no number
    matrix = found.matrix
    if matrix is not None and numbers and (coded := np.isin(matrix, numbers)).any():
        matrix = np.where(coded, np.nan, matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64))
    lines = None if found.lines is None else replace(found.lines, codes=frozenset(words))
    return replace(found, arrays=arrays, matrix=matrix, lines=lines)


def _with_gaps(column: Any, words: Sequence[str]) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    if kind_of(plain.type) == TEXT:
        coded = compute.is_in(plain.cast(pa.string()), pa.array(words, pa.string()))
    else:
        coded = compute.is_in(plain.cast(pa.float64(), safe=False), pa.array(_numbers(words), pa.float64()))
    if not compute.any(coded).as_py():
        return column
    return compute.if_else(coded, pa.scalar(None, plain.type), plain)


def _numbers(words: Sequence[str]) -> list[float]:
    return [number for word in words if (number := PLAIN.number(word)) is not None and isfinite(number)]

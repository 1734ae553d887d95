"""Columns of numbers, text and gaps, for metrics of such rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.io.numerals import Numerals


def mixed_column(cells: Sequence[str], numerals: Numerals, gaps: frozenset[str]) -> NDArray[Any]:
    """Cells of one column of text: numbers (NaN at gaps) if all are numbers, else strings (None at gaps)."""
    known = [None if cell.strip().lower() in gaps else cell.strip() for cell in cells]
    numbers = [None if cell is None else numerals.number(cell) for cell in known]
    text = any(cell is not None and number is None for cell, number in zip(known, numbers, strict=True))
    return as_column(known if text else numbers)


def as_column(values: Sequence[Any]) -> NDArray[Any]:
    """Values as an array of objects, whatever they are."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def side_by_side(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns as one table of objects, (n, d)."""
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        table[:, j] = column
    return table

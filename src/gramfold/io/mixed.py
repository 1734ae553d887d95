"""Columns of numbers, text and gaps, for metrics of such rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


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

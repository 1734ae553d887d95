"""Rows that have missing values, and get no place where that is asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gramfold.advice.columns import read_column
from gramfold.errors import InputError
from gramfold.onecall.frames import keys_of
from gramfold.onecall.pipelines import Plan
from gramfold.runtime.counting import counted

FEWEST = 2  # rows of a map


def known_rows(table: Any, plan: Plan) -> NDArray[np.bool_]:
    """(n,) whether a row has a value in each column that is mapped."""
    known = np.ones(table.shape[0], dtype=bool)
    if not issparse(table):
        for j, key in enumerate(keys_of(table)):
            if key not in plan.left_out:
                values = read_column(table, j)
                known &= ~np.isnan(values) if values.dtype == np.float64 else values != None  # noqa: E711
    if known.sum() < FEWEST:
        raise InputError(
            f"{int(known.sum())} of {len(known):,} rows have no missing value, too few for a map: fill the gaps in, or "
            "leave out the columns that have most of them."
        )
    return known


def gaps_in_words(known: NDArray[np.bool_]) -> str:
    """What is said of rows with gaps."""
    absent = int((~known).sum())
    return f"gaps: {counted(absent, 'row')} with missing values get{'s' * (absent == 1)} no place, as asked for"

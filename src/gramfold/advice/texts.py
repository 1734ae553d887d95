"""Columns of text that name rows, hold dates, or hold numbers that were read as text."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.advice.dates import is_date
from gramfold.advice.ids import names_rows
from gramfold.advice.names import says_key

_REPEATS = 0.5  # distinct texts per row, above which they are no categories
_NAMED_REPEATS = 0.1  # the same in a column whose name says that they name something
_DATES = 20  # texts that are read as dates
_NUMBERS = 0.9  # of the texts; others may be words for a missing value
_LOOKED = 1_000
_POINT = re.compile(r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$")
_COMMA = re.compile(r"^\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*$")


def texts_name(there: NDArray[Any], name: Any = None) -> str | None:
    """Why a map should not see a column of texts (n,), without gaps; None where they may be categories."""
    distinct, n = len(set(there)), len(there)
    texts = [value for value in there[:_DATES] if isinstance(value, str)]
    if len(texts) == len(there[:_DATES]) and all(map(is_date, texts)):
        return "it holds dates as text, of which no distance is known (days since the first would be a number)"
    if n <= 2:
        return None
    if says_key(name) and distinct > max(2, _NAMED_REPEATS * n):
        return f"its name and its texts, {n / distinct:.1f} rows of each, say that it names rows or what they belong to"
    if distinct > _REPEATS * n:
        numbers = written_numbers(there)
        if numbers and not _numbers_name(there):
            return numbers
    if distinct == n:
        return "it has another text in each row: it names rows"
    if distinct > _REPEATS * n:
        return f"its texts hardly repeat ({distinct:,} different ones in {n:,} rows): they are no categories"
    return None


def written_numbers(there: NDArray[Any]) -> str | None:
    """What to do with texts that are numbers; None where they are not."""
    texts = [value for value in there[:_LOOKED] if isinstance(value, str)]
    if len(texts) < len(there[:_LOOKED]):
        return None
    for form, read in ((_POINT, "x"), (_COMMA, 'x.str.replace(",", ".")')):
        if sum(form.match(text) is not None for text in texts) >= _NUMBERS * len(texts):
            return (
                "it holds numbers written as text: if they are measurements, make numbers of them first, "
                f'x = pandas.to_numeric({read}, errors="coerce")'
            )
    return None


def _numbers_name(there: NDArray[Any]) -> bool:
    """Whether texts are whole numbers that name rows."""
    if not all(str(text).strip().isascii() and str(text).strip().isdigit() for text in there):
        return False
    return names_rows(np.array([float(text) for text in there])) is not None

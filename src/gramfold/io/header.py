"""Detect whether the first line of a text file holds the column names."""

from collections.abc import Collection
from itertools import pairwise
from pathlib import Path

from gramfold.errors import HeaderWarning
from gramfold.io.numerals import FLAGS, Numerals
from gramfold.io.selection import listed

FIRST_YEAR, LAST_YEAR = 1000, 2999
A_SEQUENCE = 4  # this many equally spaced numbers are unlikely to be data


def is_header(path: Path, rows: list[list[str]], numerals: Numerals, gaps: Collection[str]) -> bool:
    """Whether the first of these rows is a header; where numbers may be either, give a warning."""
    first = [cell.strip() for cell in rows[0]]
    words = [j for j, cell in enumerate(first) if numerals.number(cell) is None and cell.lower() not in gaps]
    if any(not _is_flag(rows, j) for j in words):
        return True
    # pandas names columns that have no name 0,1,2,…, after a blank cell where it also writes row labels
    labelled = int(first[0] == "" and all(row[0].strip() for row in rows[1:]))
    counts = first[labelled:] == [str(j) for j in range(len(first) - labelled)]
    fractions_follow = len(rows) > 1 and not all(_is_whole(cell) for cell in rows[1])
    if counts and (labelled or fractions_follow):
        return True
    below = [row[labelled:] for row in rows[1:] if len(row) == len(first)]
    guess = _guess(first[labelled:], below, numerals)
    if guess is None:
        return False
    from gramfold.runtime.warning import warn  # which imports scikit-learn

    read, option = ("column names", "no-header") if guess else ("a row of values", "header")
    warn(
        f"the numbers in the first line of '{path}' ({listed(first[labelled:])}) are unlike those below, and were read "
        f"as {read}: if that is wrong, pass `--{option}`, or header={not guess} in Python.",
        HeaderWarning,
    )
    return guess


def _is_flag(rows: list[list[str]], j: int) -> bool:
    """Whether a column holds True or False in every row, including the first."""
    column = [row[j].strip().lower() for row in rows if len(row) > j]
    return len(column) > 1 and all(cell in FLAGS for cell in column)


def _guess(first: list[str], below: list[list[str]], numerals: Numerals) -> bool | None:
    """Whether the numbers in the first line are column names; None where they look like data."""
    if len(first) < 2 or not below or not all(cell.isdigit() and _is_whole(cell) for cell in first):
        return None
    marks = [float(cell) for cell in first]
    columns = [[numerals.number(cell) for cell in column] for column in zip(*below, strict=True)]
    fractions = all(not all(map(_is_whole, column)) for column in zip(*below, strict=True))
    steps = {after - before for before, after in pairwise(marks)}
    in_order = min(steps) > 0 or max(steps) < 0
    if in_order and all(map(_is_year, marks)):
        years_below = any(map(_is_year, (number for column in columns for number in column)))
        if fractions or not years_below:
            return True
    if len(first) >= A_SEQUENCE and len(steps) == 1 and in_order and all(map(_is_apart, marks, columns)):
        return fractions
    return None


def _is_apart(mark: float, column: list[float | None]) -> bool:
    """Whether a number lies outside the range of a column."""
    others = [number for number in column if number is not None]
    return not others or mark < min(others) or mark > max(others)


def _is_year(number: float | None) -> bool:
    return number is not None and FIRST_YEAR <= number <= LAST_YEAR and number.is_integer()


def _is_whole(cell: str) -> bool:
    digits = cell.strip().lstrip("-")
    return digits.isascii() and digits.isdigit()

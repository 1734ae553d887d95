"""The column of a table that colours the picture of its map."""

from pathlib import Path
from typing import Any

from gramfold.errors import InputError


def check_colored(picture: Path | None, color: str | None) -> None:
    """Raise an error for a colour without a picture."""
    if color is not None and picture is None:
        raise InputError(f"--color {color} colours a picture, but none is drawn: add --picture FILE.")


def without_color(
    source: Path, color: str | None, columns: list[str] | None, skip: list[str] | None, others: tuple[str | None, ...]
) -> list[str] | None:
    """Columns to leave out of the data: the one that colours too, unless it is asked for or is no data already."""
    if color is None or columns is not None or color in (skip or []) or color in others:
        return skip
    if source.suffix == ".npz" and color not in _names(source):  # an array beside the table
        return skip
    return [*(skip or []), color]


def read_color(source: Path, color: str | None, written: dict[str, Any]) -> Any:
    """The values of that column, (n,): numbers, whole ones as integers, or strings and gaps."""
    import numpy as np

    from gramfold.io import dates_in, read_sparse, read_table

    if color is None:
        return None
    if read_sparse(source) is not None:
        raise InputError(f"'{source}' is a sparse matrix, which has no column names: leave out --color.")
    if source.suffix == ".npz" and color not in _names(source):
        return read_table(source, labels=color, **written).labels
    dates = dates_in(source, color)
    if dates is not None:
        return dates
    values = read_table(source, columns=[color], missing=True, text=True, **written).values[:, 0]
    if not all(isinstance(value, int | float) or value is None for value in values):
        return values
    numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
    whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    return numbers.astype(int) if whole else numbers


def _names(source: Path) -> list[str]:
    from gramfold.io import read_table

    return list(read_table(source, missing=True, text=True).names)

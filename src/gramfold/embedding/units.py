"""The unit that rows are measured in.

Kernels are made of squares, which leave the range of floats where rows are very small or very large. Such rows are
divided by a power of two, which rounds nothing, wherever the method is homogeneous in them; places on the map are
multiplied by the power of the unit that the method says.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError

# Sizes (as powers of two) whose squares, and the squares of differences a rounding apart, are numbers.
_SAFE = {np.dtype(np.float64): 200, np.dtype(np.float32): 30}
_WIDEST = 400  # power of two between the largest row and the middle one, beyond which squares of the latter vanish


def unit_of(rows: Any) -> float:
    """1 for rows of an ordinary size; else the power of four that makes them so."""
    largest = _largest(rows)
    if largest == 0 or abs(exponent := int(np.frexp(largest)[1])) <= _SAFE[rows.dtype]:
        return 1.0
    if not issparse(rows):
        _check_range(rows, largest)
    least, most = np.finfo(rows.dtype).minexp, np.finfo(rows.dtype).maxexp - 2
    return 2.0 ** (2 * (min(max(exponent, least), most) // 2))  # of four, so that its root is exact too


def in_unit(rows: Any, unit: float) -> Any:
    """The same rows measured in a power of two."""
    return rows if unit == 1.0 else rows * rows.dtype.type(1.0 / unit)


def out_of_unit(values: Any, unit: float, dtype: np.dtype[Any], what: str) -> Any:
    """What was measured in a power of two in the user's unit; refused where floats end before it does."""
    if unit == 1.0:
        return values.astype(dtype, copy=False)
    with np.errstate(over="ignore"):
        found = (values * values.dtype.type(unit)).astype(dtype, copy=False)
    if np.isinf(found.data if issparse(found) else found).any():
        raise InputError(
            f"{what} exceed {np.finfo(dtype).max:.1e}, the largest {dtype}, in the unit of X: divide X by a constant."
        )
    return found


def _largest(rows: Any) -> float:
    values = rows.data if issparse(rows) else rows
    # gaps (NaN) do not count
    return float(max(np.fmax.reduce(values, axis=None, initial=0), -np.fmin.reduce(values, axis=None, initial=0)))


def _check_range(rows: Any, largest: float) -> None:
    sizes = np.fmax.reduce(np.abs(rows), axis=1)  # gaps (NaN) do not count
    middle = float(np.quantile(sizes[sizes > 0], 0.5, method="lower"))  # one of them: a sum of two may be no number
    if np.frexp(largest)[1] - np.frexp(middle)[1] > _WIDEST:
        raise InputError(
            f"row {int(sizes.argmax())} holds {largest:.1e} and half of the rows hold nothing above {middle:.1e}, so "
            "all differences between these vanish beside it: remove such rows, or take logarithms."
        )

"""The unit that rows are measured in: a power of two.

    rows = 2^power · rows in the model;    a quantity of degree k in the rows is 2^(k·power) times that of the model

Kernels are made of squares, which overflow or underflow where rows are very large or very small. Such rows are divided
by a power of two, which is exact, wherever the method is homogeneous in them. Variances are of degree 2. Where they
overflow or underflow in the user's unit they become infinity or 0.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError

# Sizes (as powers of two) whose squares, and those of their smallest differences, neither overflow nor underflow.
_SAFE = {np.dtype(np.float64): 200, np.dtype(np.float32): 30}
_WIDEST = 400  # power of two between the largest row and the middle one, beyond which squares of the latter underflow


@dataclass(frozen=True)
class Unit:
    """A power of two as the unit of rows."""

    power: int = 0

    @classmethod
    def of_rows(cls, rows: Any) -> Self:
        """Unit of these rows: 1 for ordinary sizes, else the power of four near their size."""
        largest = _largest(rows)
        if largest == 0 or abs(exponent := int(np.frexp(largest)[1])) <= _SAFE[rows.dtype]:
            return cls()
        _check_range(rows, largest)
        least, most = np.finfo(rows.dtype).minexp, np.finfo(rows.dtype).maxexp - 2
        return cls(2 * (min(max(exponent, least), most) // 2))  # of four, so that its root is exact too

    @classmethod
    def of_size(cls, size: float) -> Self:
        """Unit in which this size is between ½ and 1."""
        return cls(int(np.frexp(size)[1]))

    @property
    def size(self) -> float:
        """The power of two itself."""
        return 2.0**self.power

    def inward(self, values: Any, degree: float = 1) -> Any:
        """Convert a user's values of that degree to the unit of the model, in the same dtype."""
        return _times(values, -degree * self.power)

    def outward(self, values: Any, degree: float = 1) -> Any:
        """Convert values of that degree from the unit of the model to the user's unit."""
        return _times(values, degree * self.power)

    def inward_new(self, rows: Any) -> Any:
        """Convert new rows to the unit of the model."""
        seen = self.inward(rows)
        values = seen.data if issparse(seen) else seen
        if seen is not rows and np.isinf(values).any():
            raise InputError(
                f"the training values are at most 2^{self.power}, but some new ones are more than 1e300 times as "
                "large, which overflows: check the unit of the new rows."
            )
        return seen

    def shown(self, values: Any, degree: float, dtype: np.dtype[Any], what: str) -> Any:
        """Convert values of the model to the user's unit; raise an error if they overflow this dtype."""
        if degree * self.power == 0:
            return values.astype(dtype, copy=False)
        with np.errstate(over="ignore"):
            found = self.outward(values, degree).astype(dtype, copy=False)
        if np.isinf(found.data if issparse(found) else found).any():
            raise InputError(f"{what} exceed {np.finfo(dtype).max:.1e}, the largest {dtype}: divide X by a constant.")
        return found


def _times(values: Any, power: float) -> Any:
    if power == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        if not issparse(values):
            return np.ldexp(values, int(power))
        scaled = values.copy()
        scaled.data = np.ldexp(values.data, int(power))
        return scaled


def _largest(rows: Any) -> float:
    values = rows.data if issparse(rows) else rows
    # missing values (NaN) are ignored
    return float(max(np.fmax.reduce(values, axis=None, initial=0), -np.fmin.reduce(values, axis=None, initial=0)))


def _check_range(rows: Any, largest: float) -> None:
    # missing values (NaN) are ignored
    sizes = abs(rows).max(axis=1).toarray().ravel() if issparse(rows) else np.fmax.reduce(np.abs(rows), axis=1)
    middle = float(np.quantile(sizes[sizes > 0], 0.5, method="lower"))  # one of them: a sum of two may overflow
    if np.frexp(largest)[1] - np.frexp(middle)[1] > _WIDEST:
        raise InputError(
            f"row {int(sizes.argmax())} contains {largest:.1e}, while half of the rows have no value above "
            f"{middle:.1e}, so differences between the small rows are lost to rounding: remove the large rows, or take "
            "logarithms."
        )

"""The unit that rows are measured in: a power of two.

    rows = 2^power · what the model sees;    a quantity of degree k in the rows is 2^(k·power) times the model's

Kernels are made of squares, which leave the range of floats where rows are very small or very large. Such rows are
divided by a power of two, which rounds nothing, wherever the method is homogeneous in them. Variances are of degree 2,
and may be no numbers in the user's unit: then they become 0 or infinity.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError

# Sizes (as powers of two) whose squares, and the squares of differences a rounding apart, are numbers.
_SAFE = {np.dtype(np.float64): 200, np.dtype(np.float32): 30}
_WIDEST = 400  # power of two between the largest row and the middle one, beyond which squares of the latter vanish


@dataclass(frozen=True)
class Unit:
    """See the module."""

    power: int = 0

    @classmethod
    def of_rows(cls, rows: Any) -> Self:
        """That of rows of an ordinary size is 1; else the power of four that makes them so."""
        largest = _largest(rows)
        if largest == 0 or abs(exponent := int(np.frexp(largest)[1])) <= _SAFE[rows.dtype]:
            return cls()
        if not issparse(rows):
            _check_range(rows, largest)
        least, most = np.finfo(rows.dtype).minexp, np.finfo(rows.dtype).maxexp - 2
        return cls(2 * (min(max(exponent, least), most) // 2))  # of four, so that its root is exact too

    @classmethod
    def of_size(cls, size: float) -> Self:
        """In which this size is between ½ and 1."""
        return cls(int(np.frexp(size)[1]))

    @property
    def size(self) -> float:
        """The power of two itself."""
        return 2.0**self.power

    def inward(self, values: Any, degree: float = 1) -> Any:
        """What the model sees of a user's values of that degree, in their own dtype."""
        return _times(values, -degree * self.power)

    def outward(self, values: Any, degree: float = 1) -> Any:
        """What the model's values of that degree are in the user's unit."""
        return _times(values, degree * self.power)

    def inward_new(self, rows: Any) -> Any:
        """Rows that were not there when the unit was chosen."""
        seen = self.inward(rows)
        values = seen.data if issparse(seen) else seen
        if seen is not rows and np.isinf(values).any():
            raise InputError(
                f"the training rows hold no value beyond 2^{self.power} and these hold some that are more than 1e300 "
                "times as large, so that floats cannot hold both in one unit: check the unit of the rows."
            )
        return seen

    def shown(self, values: Any, degree: float, dtype: np.dtype[Any], what: str) -> Any:
        """The model's values as the user gets them; refused where floats of this dtype end before they do."""
        if degree * self.power == 0:
            return values.astype(dtype, copy=False)
        with np.errstate(over="ignore"):
            found = self.outward(values, degree).astype(dtype, copy=False)
        if np.isinf(found.data if issparse(found) else found).any():
            raise InputError(
                f"{what} exceed {np.finfo(dtype).max:.1e}, the largest {dtype}, in the unit of X: divide X by a "
                "constant."
            )
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

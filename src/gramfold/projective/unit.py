"""Quantities of a model in the unit that it measures rows in, a power of two, and in that of the user.

    rows = 2^power · what the model sees;    a quantity of degree k in the rows is 2^(k·power) times the model's

Variances are of degree 2, and may be no numbers in the user's unit: then they become 0 or infinity.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError


@dataclass(frozen=True)
class Unit:
    """See the module."""

    power: int = 0

    @classmethod
    def of(cls, unit: float) -> Self:
        """A power of two."""
        return cls(int(np.frexp(unit)[1]) - 1)

    @classmethod
    def of_size(cls, size: float) -> Self:
        """In which this size is between ½ and 1."""
        return cls(int(np.frexp(size)[1]))

    def inward(self, values: Any, degree: int = 1) -> Any:
        """What the model sees of a user's values of that degree, in their own dtype."""
        return self._times(values, -degree)

    def outward(self, values: Any, degree: int = 1) -> Any:
        """What the model's values of that degree are in the user's unit."""
        return self._times(values, degree)

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

    def _times(self, values: Any, degree: int) -> Any:
        power = degree * self.power
        if power == 0:
            return values
        with np.errstate(over="ignore", under="ignore"):
            if not issparse(values):
                return np.ldexp(values, power)
            scaled = values.copy()
            scaled.data = np.ldexp(values.data, power)
            return scaled

"""A user's metric that computes all distances between two blocks of rows at once."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers

_ENTRIES_PER_CALL = 200_000  # the arrays that a function makes of so many pairs stay in cache


class Blockwise:
    """A function of two tables that returns all distances between their rows; made by `blockwise`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.__module__ = getattr(function, "__module__", None) or __name__  # pickles look for it there

    def __call__(self, left: Floats, right: Floats, **params: Any) -> Any:
        """All distances, (m, n)."""
        return self.function(left, right, **params)

    def __repr__(self) -> str:
        return f"blockwise({getattr(self.function, '__name__', repr(self.function))})"

    def __reduce__(self) -> Any:
        # where it decorates a function it has taken its name in the module, by which it is found again
        name = getattr(self.function, "__qualname__", "")
        return name if getattr(sys.modules.get(self.__module__), name, None) is self else (Blockwise, (self.function,))


def blockwise(function: Callable[..., Any]) -> Blockwise:
    """Mark a function as a metric that computes the distances of many rows at once.

    A plain function as `metric` is called for every pair of rows. One that is marked so is called for blocks of rows,
    and may compute their distances with NumPy. It can be used as a decorator.

    Parameters
    ----------
    function : callable
        Called as ``function(A, B, **metric_params)`` with rows in float64, (m, d) and (n, d). It returns the distances
        (m, n): not negative, and each a function of its two rows alone. Several threads may call it at once.

    Returns
    -------
    metric : Blockwise
        The same function, to be passed as `metric`. It can be pickled if the function can.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import ClassicalMDS, blockwise
    >>> @blockwise
    ... def on_a_circle(A, B):
    ...     apart = np.abs(A - B.T)  # rows of one angle
    ...     return np.minimum(apart, 360 - apart)
    >>> angles = np.linspace(0, 350, 36)[:, None]
    >>> places = ClassicalMDS(2, metric=on_a_circle).fit_transform(angles)
    >>> bool(np.ptp(np.hypot(*places.T)) < 1e-6)
    True
    """
    return function if isinstance(function, Blockwise) else Blockwise(function)


@dataclass(frozen=True, eq=False)
class BlockMetric(Metric):
    """See the module."""

    @classmethod
    def of(cls, function: Blockwise, params: Mapping[str, Any]) -> "BlockMetric":
        """Of a user's function."""
        return cls("blocks", function, params=params)

    def _computed(self, left: Floats, right: Floats) -> Floats:
        assert callable(self.name)
        found = np.empty((len(left), len(right)))
        for part in blocks(len(right), max(1, _ENTRIES_PER_CALL // max(1, len(left)))):
            returned = self.name(left, right[part], **self.params)
            try:
                given = np.asarray(returned).astype(np.float64, casting="same_kind")
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"metric={self.name!r} returned a {type(returned).__name__} that is no array of real numbers "
                    f"({error}): return the distances as a dense array."
                ) from error
            expected = len(left), len(right[part])
            if given.shape != expected:
                raise InputError(
                    f"metric={self.name!r} returned an array of shape {given.shape} for {expected[0]} and "
                    f"{expected[1]} rows: return their distances, of shape {expected}."
                )
            found[:, part] = given
        return found

    def _pairs(self, left: Floats, i: Integers, right: Floats, j: Integers, out: Floats) -> None:
        order = np.argsort(i, kind="stable")
        rows, starts = np.unique(i[order], return_index=True)
        for row, places in zip(rows, np.split(order, starts[1:]), strict=True):
            out[places] = self.block(left[[row]], right[j[places]])[0]

"""What a data set hands back: the points, and the coordinates they were made from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Sample:
    """Points together with the truth a method should find again.

    Unpacks as a pair, ``points, truth = make_swiss_roll()``.

    Attributes
    ----------
    points : ndarray of shape (n, d), float64
        One row per point.
    truth : ndarray of shape (n, p), float64
        The true coordinates of each point. For clusters: the integer labels, shape (n,).
    image_shape : tuple of int, or None
        Where the rows are pictures, the shape that ``points[i].reshape(image_shape)`` needs.

    Examples
    --------
    >>> from gramfold.datasets import make_helix
    >>> sample = make_helix(5, random_state=0)
    >>> points, truth = sample
    >>> points is sample.points and truth is sample.truth
    True
    """

    points: NDArray[np.float64]
    truth: NDArray[Any]
    image_shape: tuple[int, ...] | None = None

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield self.points
        yield self.truth

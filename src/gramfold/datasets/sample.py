"""Points of a data set and their true coordinates."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Sample:
    """Points and the true coordinates that they were generated from.

    A sample unpacks as a pair: ``points, truth = make_swiss_roll()``.

    Attributes
    ----------
    points : ndarray of shape (n, d), float64
        Data, one row per point.
    truth : ndarray of shape (n, p), float64
        True coordinates of each point. For clusters, the integer labels, shape (n,).
    image_shape : tuple of int or None
        If the rows are images, their shape: ``points[i].reshape(image_shape)`` is an image. Otherwise None.

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

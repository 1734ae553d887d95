"""New rows on a linear map, and the inverse that such a map has of its own.

y(x) = (x − mean) · directions;    back: least squares over the training rows (linear_inverse.py)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.extension.linear_inverse import LinearInverse
from gramfold.extension.placement import Part
from gramfold.kernels.linear import project, pull
from gramfold.types import Floats, Plain

_NEAR = 10.0  # sizes of the map


@dataclass(frozen=True, eq=False)
class LinearPlacement(Plain):
    """See the module."""

    mean: Floats  # (d,)
    directions: Floats  # (d, p)

    def place(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, p) of rows."""
        # a mean that is near beside the size of the map is taken off after the product, which spares a copy of the rows
        size = np.ptp(part.extent, axis=0).max(initial=0.0)
        near = np.zeros_like(self.mean) if (np.abs(self.mean) @ np.abs(self.directions)).max() < _NEAR * size else None
        return project(new, self.mean, self.directions, n_jobs, near)

    def compacted(self, part: Part) -> Part:
        """Nothing of the part but how large the map is: it is a function of the columns."""
        return part.boxed().without("kernel", "spectrum")

    def needs(self, rows: Any) -> bool:
        """None of them."""
        return False

    def slopes(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """The directions, at every row."""
        return np.broadcast_to(self.directions.T, (new.shape[0], *self.directions.T.shape))


@dataclass(frozen=True, eq=False)
class LeastSquares(Plain):
    """The inverse "auto" of a linear map."""

    everywhere: bool = True  # linear

    def make(self, way: str, model: Any, n_jobs: int | None) -> LinearInverse | None:
        """The inverse of this name; None where it is not the method's own."""
        if way != "auto":
            return None
        (part,) = model.parts
        points, places, scatter = part.kernel.points, part.coordinates, part.kernel.scatter
        mean, directions = part.placement.mean, part.placement.directions
        mass = part.kernel.mass
        pulled = pull(points, mean, mass[:, None] * places, n_jobs) if scatter is None else scatter @ directions
        # a model that holds some of the rows knows all of them by their scatter
        gram = None if model.drawn is None or scatter is None else directions.T @ pulled
        return LinearInverse(points, mean, places, pulled, mass, gram)

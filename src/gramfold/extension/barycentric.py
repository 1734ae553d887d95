"""New points where the weights that rebuild them put them:  y(x) = Σ_j w_j(x) y_j over the neighbours of x."""

from dataclasses import dataclass

import numpy as np

from gramfold.extension.placement import NewRows, Part
from gramfold.kernels.definite import rebuilding_weights
from gramfold.neighbors.sparse_rows import numbers_per_row
from gramfold.types import Floats, Integers


@dataclass(frozen=True)
class Barycentric:
    """For maps that are linear within a neighbourhood."""

    reg: float  # ridge on the weights, relative to the trace of the local Gram matrix

    def place(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, p)."""
        grams = new.index.query_grams(new.rows)  # whose lists number all vertices, `met` those of the component

        def around(rows: Integers, lists: Integers) -> Floats:
            return grams(rows, new.graph.vertices[lists])

        weights = rebuilding_weights(new.met, around, new.index, self.reg, numbers_per_row(new.rows), n_jobs)
        return np.asarray(weights @ part.coordinates)

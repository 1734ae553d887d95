"""New points where the weights that rebuild them put them:  y(x) = Σ_j w_j(x) y_j over the neighbours of x.

With δ_j = x_j − x, G_jl = δ_jᵀδ_l, A = G + reg · trace(G) · I and w = A⁻¹1 / 1ᵀA⁻¹1, a small step changes w so that its
sum stays 1, and  ∂y = −zᵀ ∂A w  with  z = A⁻¹ (y_· − y(x) 1),  1ᵀz = 0.  As ∂G_jl = −(δ_j + δ_l) that is

    ∂y = Σ_j z_j δ_j + 2 reg (zᵀw) Σ_j δ_j                        (kernels/reconstruction.py)
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gramfold.extension.placement import NewRows, Part
from gramfold.kernels.definite import rebuilding_weights
from gramfold.kernels.local import solve_locally
from gramfold.kernels.reconstruction import barycentric_slopes
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.slopes import dense_rows, summed_differences
from gramfold.neighbors.sparse_rows import numbers_per_row
from gramfold.types import Floats, Graph, Integers


@dataclass(frozen=True)
class Barycentric:
    """For maps that are linear within a neighbourhood."""

    reg: float  # ridge on the weights, relative to the trace of the local Gram matrix
    reads_grams: ClassVar[bool] = True

    def compacted(self, part: Part) -> Part:
        """Nothing but the coordinates."""
        return replace(part.without("kernel", "spectrum"), found={})

    def read_of(self, graph: Graph) -> Graph:
        """The vertices."""
        return graph.bare()

    def place(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, p)."""
        grams = new.index.query_grams(new.rows)  # whose lists number all vertices, `met` those of the component

        def around(rows: Integers, lists: Integers) -> Floats:
            return grams(rows, new.graph.vertices[lists])

        weights = rebuilding_weights(new.met, around, new.index, self.reg, numbers_per_row(new.rows), n_jobs)
        return np.asarray(weights @ part.coordinates)

    def slopes(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats | None:
        """∂y = Σ_j z_j δ_j + 2 reg (zᵀw) Σ_j δ_j, see the module."""
        index = new.index
        if not isinstance(index, VectorIndex):
            return None
        grams, met = index.query_grams(new.rows), new.met
        pulls = np.empty((len(met.indices), part.coordinates.shape[1]))

        def work(rows: Integers, places: Integers) -> None:
            lists = met.indices[places]
            pulls[places] = barycentric_slopes(
                grams(rows, new.graph.vertices[lists]), part.coordinates[lists], self.reg
            )

        solve_locally(work, met, numbers_per_row(new.rows), n_jobs)
        used, local = np.unique(new.graph.vertices[met.indices], return_inverse=True)
        return summed_differences(dense_rows(new.rows), index.points[used], met.indptr, local, -pulls)

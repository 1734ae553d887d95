"""New points on the map of a weighted graph: each gets the edges that the graph would give it and balances them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramfold.extension.average import Spread, average, average_slopes
from gramfold.extension.placement import Built, NewRows, Part
from gramfold.graph.affinity import Width, local_widths
from gramfold.graph.components import Component
from gramfold.kernels.diffusion import LaplacianKernel
from gramfold.kernels.loose import LooseRows, trimmed
from gramfold.kernels.regularized import regularized
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.slopes import has_slopes, summed_slopes
from gramfold.types import Floats, Graph

KernelOfWeights = Callable[[Graph, Width], LaplacianKernel]


@dataclass(frozen=True)
class Balance:
    """y(x) = Σ_j a(x, j) y_j / (d(x) − μ M(x)), see extension/average.py."""

    self_tuning: bool  # whether each row has a width of its own
    reads_grams: ClassVar[bool] = False

    def compacted(self, part: Part) -> Part:
        """How edges are weighed, and the penalties."""
        kernel = part.kernel.without("penalty", "root", "downdate", "mass", "null", "rows")
        return replace(part, kernel=kernel, spectrum=part.spectrum.without("eigenvectors"), found={})

    def read_of(self, graph: Graph) -> Graph:
        """How near to a vertex new points pass over into it."""
        return graph.with_shortest()

    def place(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        return average(new.met, new.graph, part.coordinates[:, : len(part.spectrum)], **self._weighed(new, part))

    def slopes(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats | None:
        """Of Gaussian weights; of those that do not change with the distance there are none."""
        width, index = part.kernel.width, new.index
        if (
            width is None
            or isinstance(width, str)
            or not isinstance(index, VectorIndex)
            or not has_slopes(index.metric)
        ):
            return None
        places = part.coordinates[:, : len(part.spectrum)]
        pulls = average_slopes(new.met, new.graph, places, **self._weighed(new, part))
        met = replace(new.met, indices=new.graph.vertices[new.met.indices], n_vertices=index.size)
        return summed_slopes(index.metric, new.rows, index.points, met, pulls)

    def _weighed(self, new: NewRows, part: Part) -> dict[str, Any]:
        """How the edges of new points are weighed, as `average` asks."""
        kernel, spectrum = part.kernel, part.spectrum
        places, copies = part.coordinates[:, : len(spectrum)], new.graph.multiplicity
        plain = places if kernel.scale is None else places / kernel.scale[:, None]
        return {
            "width": kernel.width,
            "pull": kernel.pull,
            "penalties": spectrum.penalties,
            "normalized": kernel.form != "unnormalized",
            "scale": kernel.scale,
            "new_width": local_widths(new.met, new.radii) if self.self_tuning else None,
            "spread": Spread(kernel.tau, copies @ plain / copies.sum()) if kernel.tau else None,
        }


@dataclass(frozen=True)
class BalancedKernel:
    """The kernel of a component whose edges are weighed, and how it meets new points."""

    kernel: KernelOfWeights
    width: Width
    self_tuning: bool
    loose_rows: LooseRows = "keep"
    count: int = 0  # of eigenvectors, whose loose rows may be left out

    def __call__(self, part: Component, _: Any) -> Built:
        """Of one component, with the widths of its vertices."""
        own = self.width[part.graph.vertices] if isinstance(self.width, np.ndarray) else self.width
        kernel, copies = self.kernel(part.graph, own), part.graph.multiplicity
        if self.loose_rows == "regularize":
            kernel = regularized(kernel, copies)
        elif self.loose_rows == "trim":
            kernel = trimmed(kernel, copies, min(self.count, len(copies) - 1))
        return Built(kernel, Balance(self.self_tuning))

"""New points on the map of a weighted graph: each gets the edges that the graph would give it and balances them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.extension.average import average
from gramfold.extension.placement import Built, NewRows, Part
from gramfold.graph.affinity import Width, local_widths
from gramfold.graph.components import Component
from gramfold.kernels.diffusion import LaplacianKernel
from gramfold.types import Floats, Graph

KernelOfWeights = Callable[[Graph, Width], LaplacianKernel]


@dataclass(frozen=True)
class Balance:
    """y(x) = Σ_j a(x, j) y_j / (d(x) − μ M(x)), see extension/average.py."""

    self_tuning: bool  # whether each row has a width of its own

    def place(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        kernel, spectrum = part.kernel, part.spectrum
        return average(
            new.met,
            new.graph,
            part.coordinates[:, : len(spectrum)],
            width=kernel.width,
            pull=kernel.pull,
            penalties=spectrum.penalties,
            normalized=kernel.form != "unnormalized",
            scale=kernel.scale,
            new_width=local_widths(new.met, new.radii) if self.self_tuning else None,
        )


@dataclass(frozen=True)
class BalancedKernel:
    """The kernel of a component whose edges are weighed, and how it meets new points."""

    kernel: KernelOfWeights
    width: Width
    self_tuning: bool

    def __call__(self, part: Component, _: Any) -> Built:
        """Of one component, with the widths of its vertices."""
        own = self.width[part.graph.vertices] if isinstance(self.width, np.ndarray) else self.width
        return Built(self.kernel(part.graph, own), Balance(self.self_tuning))

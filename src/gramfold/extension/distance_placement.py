"""New points by their distances:  y(x) = Λ^-½ Vᵀ k_c(x, ·) with k(x, j) = −½ d(x, j)²."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.extension.placement import Part
from gramfold.extension.project import centered_projection, project
from gramfold.kernels.distances import Distances
from gramfold.neighbors.slopes import has_slopes, summed_slopes
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import ROWS, Floats, Integers, Neighbors, Plain

_ENTRIES_PER_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False)
class DistancePlacement(Plain):
    """Against the rows that the kernel is over."""

    distances: Distances
    rows: Any = field(metadata=ROWS)  # (n, d) training rows; None where new rows hold their distances
    carriers: Integers | None = None  # which of them, or of the distances of a new row, the kernel is over; None: all

    def place(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        if self.carriers is not None and self.rows is None:
            new = new[:, self.carriers]
        carriers, places = self._carriers(), np.empty((new.shape[0], len(part.spectrum)))
        for some, block in self._blocks(new, carriers, part):
            squared = self.distances.squares(block, carriers, n_jobs)
            found = project(part.kernel.cross(squared), part.kernel, part.spectrum)
            places[some] = found * part.kernel.gains(squared, part.spectrum.eigenvalues)
        return places

    def compacted(self, part: Part) -> Part:
        """Of landmarks their rows alone."""
        placement = self
        if part.kernel.landmarks is not None and self.rows is not None:
            placement = replace(self, rows=self._carriers(), carriers=None)
        return replace(part.boxed(), kernel=part.kernel.for_new_values(), placement=placement)

    def needs(self, rows: Any) -> bool:
        """Whether the kernel is over all of these."""
        return self.rows is rows

    def slopes(self, new: Any, part: Part, n_jobs: int | None) -> Floats | None:
        """∂y = Σ_j w_j s(d_j) 2 d_j ∇d_j with w the centred Λ^-½ V and s the derivative of k by d²."""
        metric, carriers = self.distances.metric, self._carriers()
        if metric is None or not has_slopes(metric):
            return None
        weights = centered_projection(part.kernel, part.spectrum) * part.kernel.gain(part.spectrum.eigenvalues)
        found = np.empty((new.shape[0], len(part.spectrum), new.shape[1]))
        for some, block in self._blocks(new, carriers, part):
            squared = self.distances.squares(block, carriers, n_jobs)
            lengths = np.sqrt(squared)
            outer = 2.0 * part.kernel.slopes(squared) * lengths  # (b, n)
            everybody = np.broadcast_to(np.arange(lengths.shape[1]), lengths.shape)
            met = Neighbors.from_lists(everybody, lengths, lengths.shape[1])
            pulls = (outer[:, :, None] * weights).reshape(-1, weights.shape[1])
            found[some] = summed_slopes(metric, block, carriers, met, pulls)
        return found

    def _carriers(self) -> Any:
        """The rows that the kernel is over; None where new rows hold their distances."""
        return self.rows if self.rows is None or self.carriers is None else self.rows[self.carriers]

    def _blocks(self, new: Any, carriers: Any, part: Part) -> Iterator[tuple[slice, Any]]:
        for some in beats(blocks(new.shape[0], max(1, _ENTRIES_PER_BLOCK // len(part.kernel.mass)))):
            block = new[some]
            if issparse(block) and not issparse(carriers):  # a few rows of as many columns as the training rows have
                block = block.toarray()
            yield some, block

"""New points by their distances:  y(x) = Λ^-½ Vᵀ k_c(x, ·) with k(x, j) = −½ d(x, j)²."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.extension.placement import Part
from gramfold.extension.project import project
from gramfold.kernels.distances import Distances
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Integers, Plain

_ENTRIES_PER_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False)
class DistancePlacement(Plain):
    """Against the rows that the kernel is over."""

    distances: Distances
    rows: Any  # (n, d) training rows; None where new rows hold their distances
    carriers: Integers | None = None  # which of them, or of the distances of a new row, the kernel is over; None: all

    def place(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        carriers = self.rows
        if self.carriers is not None:
            new = new[:, self.carriers] if self.rows is None else new
            carriers = None if self.rows is None else self.rows[self.carriers]
        places = np.empty((new.shape[0], len(part.spectrum)))
        for some in blocks(new.shape[0], max(1, _ENTRIES_PER_BLOCK // part.kernel.shape[0])):
            block = new[some]
            if issparse(block) and not issparse(carriers):  # a few rows of as many columns as the training rows have
                block = block.toarray()
            squared = self.distances.squares(block, carriers, n_jobs)
            found = project(part.kernel.cross(squared), part.kernel, part.spectrum)
            places[some] = found * part.kernel.gains(squared, part.spectrum.eigenvalues)
        return places

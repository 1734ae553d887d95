"""The engine of the methods that look at each neighbourhood as a flat piece.

P = Σ_i (what neighbourhood i finds crooked),   P y = λ y, smallest λ > 0
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gramfold.embedding.barycentric_places import BarycentricPlaces
from gramfold.embedding.parameters import method
from gramfold.errors import InputError
from gramfold.kernels.alignment import alignment_penalty
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Graph, Integers

# For each pair within a neighbourhood, beyond what every graph method needs: the forecast is then 1.3 to 3.6 times the
# peak, rolls of 20,000 and 100,000 rows and 8 to 40 neighbours.
_BYTES_PER_PAIR = 12.0


@method
class LocalEmbedding(BarycentricPlaces):
    """Engine of LLE and its kin; not used by itself."""

    def _memory(self, n: int, itemsize: int) -> float:
        return super()._memory(n, itemsize) + _BYTES_PER_PAIR * n * (min(self.n_neighbors, n) + 1) ** 2

    def _least_neighbors(self) -> int:
        """Neighbours that a row needs for the method to say anything about it."""
        return 1

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        if self.radius is None and isinstance(self.neighbors, str):  # a transformer has a number of its own
            self._require_neighbors(self.n_neighbors, f"n_neighbors={self.n_neighbors}")
        graphs, rows_of = super()._sources(X, stages)
        for graph in graphs:
            counts = graph.neighbors.counts
            few = int(np.argmin(counts))
            if len(graph) > 1:  # one row by itself needs no map
                row = self._first_rows[graph.vertices[few]]
                self._require_neighbors(counts[few], f"row {row} has {counts[few]} neighbours")
        return graphs, rows_of

    def _require_neighbors(self, count: int, found: str) -> None:
        least = self._least_neighbors()
        if count < least:
            raise InputError(
                f"{found}, and {type(self).__name__} with n_components={self.n_components} needs at least {least} "
                f"around every row to tell curved from flat: use n_neighbors >= {least}, a larger radius, or fewer "
                "components."
            )

    def _aligned(
        self, graph: Graph, grams: Callable[[Integers, Integers], Floats], blocks: Callable[[Floats], Floats]
    ) -> PenaltyKernel:
        """The kernel of local penalties: `blocks` makes B (b, k + 1, k + 1) from local Gram matrices (b, k, k)."""
        penalty = alignment_penalty(
            graph.neighbors,
            lambda rows, lists: blocks(grams(rows, lists)),
            graph.multiplicity,
            self.n_features_in_,
            self.n_jobs,
        )
        return PenaltyKernel(
            penalty=penalty, mass=graph.multiplicity, null=np.ones((len(graph), 1)), rows=np.arange(len(graph))
        )

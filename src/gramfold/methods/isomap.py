"""Isomap: kernel PCA on the geodesics of the neighbour graph.

    D_ij = shortest walk from i to j along the graph;    K = −½ H D² H
    new point: d(x, j) = min over its neighbours i of |x − x_i| + D_ij

Tenenbaum, de Silva, Langford, Science 290 (2000); Ham et al., ICML 2004, eq (8).
"""

import numpy as np

from gramfold.embedding import GraphEmbedding, NewRows, Piece, method
from gramfold.extension.project import project
from gramfold.graph.geodesic import all_pairs, arranged, squared_geodesics_from
from gramfold.kernels.gram import GramKernel, centered_gram
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Graph

_ENTRIES_PER_BLOCK = 20_000_000


@method
class Isomap(GraphEmbedding):
    """Isomap: distances along the data's own shape.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(500, random_state=0)
    >>> model = Isomap(n_neighbors=8).fit(roll.points[:400])
    >>> model.transform(roll.points[400:]).shape
    (100, 2)
    """

    def _arranged(self, graph: Graph) -> Graph:
        return arranged(graph, self.n_jobs)

    def _memory(self, n: int, itemsize: int) -> float:
        return float(n) ** 2 * itemsize + super()._memory(n, itemsize)

    def _kernel(self, graph: Graph, stages: Stages) -> GramKernel:
        walks = all_pairs(graph, self._dtype, self.n_jobs, stages)  # (n, n)
        np.square(walks, out=walks)  # kept squared: one n × n matrix serves kernel and new points
        return centered_gram(walks, scale=-0.5, mass=graph.multiplicity)

    def _place(self, piece: Piece, new: NewRows) -> Floats:
        places = np.zeros((len(new.met), self.n_components))
        for part in blocks(len(new.met), max(1, _ENTRIES_PER_BLOCK // len(piece.coordinates))):
            met = new.met.take(np.arange(len(new.met))[part])
            squared = squared_geodesics_from(met, piece.kernel.array, self.n_jobs)
            found = project(piece.kernel.cross(squared), piece.kernel, piece.spectrum)
            places[part, : found.shape[1]] = found
        return places

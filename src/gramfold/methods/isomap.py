"""Isomap: kernel PCA on the geodesic distances along the neighbour graph.

    D_ij = length of the shortest path from i to j along the graph;    K = −½ H D² H
    conformal: an edge has length |x_i − x_j| / √(M_i M_j), M_i the mean distance from i to its neighbours
    landmarks: K over a few vertices only; all others are embedded by their shortest paths to them
    new point: d(x, j) = min over its neighbours i of |x − x_i| + D_ij

Tenenbaum, de Silva, Langford, Science 290 (2000); Ham et al., ICML 2004, eq (8).
"""

from gramfold.embedding import Built, Component, Embedding, Fit, Geodesics, Model, judged, method
from gramfold.extension.geodesic_placement import GeodesicPlacement
from gramfold.kernels.geodesic import PathMemory, path_gram


@method
class Isomap(Geodesics, Embedding):
    """Isomap: classical MDS of the geodesic distances along the neighbour graph.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(500, random_state=0)
    >>> model = Isomap(n_neighbors=8).fit(roll.points[:400])
    >>> model.transform(roll.points[400:]).shape
    (100, 2)
    """

    def _build(self, fit: Fit) -> Model:
        memory = PathMemory(self, fit.X.shape[0], fit.X.dtype.itemsize)
        fit.forecast_graph(self, memory.beside, memory.advice)
        paths = memory.plan(fit.X.dtype, fit.n_jobs)
        graph = fit.graph(self, arrange=paths.arrange)

        def kernel(part: Component, fit: Fit) -> Built:
            walks = paths.squared(part, fit.rng, fit.stages)  # (n, n), or (n, landmarks)
            return Built(path_gram(walks, part.graph.multiplicity), GeodesicPlacement(self.conformal))

        # conformal lengths are relative to those of other edges, and have no unit
        return judged(fit, fit.solve(graph, kernel, power=0.0 if self.conformal else 1.0), self)

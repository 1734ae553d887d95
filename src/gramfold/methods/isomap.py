"""Isomap: kernel PCA on the geodesics of the neighbour graph.

    D_ij = shortest walk from i to j along the graph;    K = −½ H D² H
    new point: d(x, j) = min over its neighbours i of |x − x_i| + D_ij

Tenenbaum, de Silva, Langford, Science 290 (2000); Ham et al., ICML 2004, eq (8).
"""

from gramfold.embedding import GeodesicEmbedding, method


@method
class Isomap(GeodesicEmbedding):
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

"""What ordinal scaling is told of the rows: a dissimilarity for each pair of distinct ones.

distances by a metric, given values of which only the order counts, or shortest paths along the neighbour graph
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.embedding import Fit, Metrics, Neighborhood
from gramfold.errors import DisconnectedGraphError
from gramfold.graph.connect import components
from gramfold.graph.geodesic import all_pairs
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.methods.ordinal_mds.monotone import RankOrder, Ties, rank_order
from gramfold.methods.ordinal_mds.pairs import check_dissimilarities, pairs_of_matrix, pairs_of_rows
from gramfold.neighbors.duplicates import Collapse, collapse_distances, collapse_rows
from gramfold.neighbors.metrics import MetricName, make_metric
from gramfold.types import Floats

_SMALL = {np.float64: 1e-60, np.float32: 1e-9}  # below, or above its inverse, powers of distances leave the dtype

Check = Callable[[int], None]  # refuses too few distinct rows


@dataclass(frozen=True)
class Dissimilarities:
    """Of each pair of distinct rows, which rows are the same, and how unlike those are."""

    pairs: Floats  # (n(n − 1)/2,)
    copies: Collapse
    likeness: float = 0.0

    @classmethod
    def of_rows(cls, fit: Fit, metrics: Metrics, check: Check) -> Self:
        """Distances by the metric."""
        X = _of_ordinary_size(fit.X, metrics.metric)
        copies = collapse_rows(X)
        check(len(copies))
        metric = make_metric(metrics.metric, metrics.metric_params, X)
        return cls(pairs_of_rows(X[copies.first], metric, fit.n_jobs, fit.stages), copies)

    @classmethod
    def given(cls, D: Floats, check: Check) -> Self:
        """As they are; the least is how a point is to itself and to its copies, and need not be 0."""
        check_dissimilarities(D)
        least = D.min()
        copies = collapse_distances(np.where(least < D, D, 0))
        check(len(copies))
        whole = len(copies) == len(D)
        return cls(pairs_of_matrix(D if whole else D[np.ix_(copies.first, copies.first)]), copies, float(least))

    @classmethod
    def along_graph(cls, fit: Fit, metrics: Metrics, n_neighbors: int, check: Check) -> Self:
        """Shortest paths along the graph in which each row has so many neighbours by the metric."""
        net = NeighborGraph.of(
            _of_ordinary_size(fit.X, metrics.metric),
            Neighborhood(n_neighbors, metric=metrics.metric, metric_params=metrics.metric_params, search="exact"),
            check=check,
            random_state=fit.rng,
            n_jobs=fit.n_jobs,
            stages=fit.stages,
        )
        graph = net.whole()
        sizes = np.bincount(components(graph))
        if len(sizes) > 1:
            raise DisconnectedGraphError(
                f"with n_neighbors={n_neighbors} the neighbour graph falls into {len(sizes)} pieces, the largest of "
                f"{sizes[0]:,} of {len(graph):,} distinct rows, and no walk leads from one to another: use more "
                "neighbours, or embed the pieces apart."
            )
        return cls(pairs_of_matrix(all_pairs(graph, np.float64, fit.n_jobs, fit.stages)), net.copies)

    def order(self, ties: Ties) -> RankOrder:
        """All that the method looks at; a pair counts as often as it has copies."""
        mass = self.copies.multiplicity
        return rank_order(
            self.pairs,
            pairs_of_matrix(np.multiply.outer(mass, mass)),
            ties,
            copies=float(mass @ (mass - 1.0)) / 2.0,
            likeness=self.likeness,
        )


def _of_ordinary_size(X: Floats, metric: MetricName) -> Floats:
    """Rows or distances times a power of two where their squares would overflow or vanish.

    The order of the distances stays: every named metric grows with the rows, or does not see their size.
    """
    largest = float(max(X.max(), -X.min()))
    if callable(metric) or largest == 0 or _SMALL[X.dtype.type] <= largest <= 1.0 / _SMALL[X.dtype.type]:
        return X
    return np.ldexp(X, -int(np.frexp(largest)[1]))

"""The input of ordinal scaling: a dissimilarity for each pair of distinct rows.

Distances by a metric, precomputed values of which only the order counts, or shortest paths in the neighbour graph.
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
from gramfold.methods.ordinal_mds.pair_weights import PairWeights
from gramfold.methods.ordinal_mds.pairs import known_dissimilarities, pairs_of_matrix, pairs_of_rows
from gramfold.neighbors.duplicates import Collapse, collapse_distances, collapse_rows
from gramfold.neighbors.metrics import MetricName, make_metric, reads_mixed
from gramfold.types import Floats

_SMALL = {np.float64: 1e-60, np.float32: 1e-9}  # below, or above its inverse, powers of distances leave the dtype

Check = Callable[[int], None]  # refuses too few distinct rows


@dataclass(frozen=True)
class Dissimilarities:
    """Of each pair of distinct rows; and the duplicate rows."""

    pairs: Floats  # (n(n − 1)/2,) NaN where a precomputed one is not known
    copies: Collapse
    likeness: float = 0.0  # the dissimilarity of duplicate rows

    @classmethod
    def of_rows(cls, fit: Fit, metrics: Metrics, check: Check) -> Self:
        """Distances by the metric."""
        X = _of_ordinary_size(fit.X, metrics.metric)
        copies = collapse_rows(X)
        check(len(copies))
        metric = make_metric(metrics.metric, metrics.metric_params, X)
        return cls(pairs_of_rows(X[copies.first], metric, fit.n_jobs, fit.stages), copies)

    @classmethod
    def given(cls, D: Floats, weights: Floats | None, check: Check) -> Self:
        """Precomputed ones; the least is that of a point to itself and to its duplicates, and need not be 0.

        A point with a pair of weight 0 is merged with no other, since not all of its dissimilarities are known.
        """
        D = known_dissimilarities(D, weights)
        least = np.fmin.reduce(D, axis=None)
        above_0 = np.finfo(D.dtype).smallest_subnormal  # so that 0 is taken for the least only where it is
        copies = collapse_distances(np.where(least >= D, 0, np.where(D == 0, above_0, D)))
        check(len(copies))
        whole = len(copies) == len(D)
        return cls(pairs_of_matrix(D if whole else D[np.ix_(copies.first, copies.first)]), copies, float(least))

    @classmethod
    def along_graph(cls, fit: Fit, metrics: Metrics, n_neighbors: int, check: Check) -> Self:
        """Shortest paths in the graph that joins each row to so many nearest neighbours by the metric."""
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
                f"with n_neighbors={n_neighbors} the neighbour graph has {len(sizes)} connected components, the "
                f"largest with {sizes[0]:,} of {len(graph):,} distinct rows, and no path joins them: use more "
                "neighbours, or embed the components separately."
            )
        return cls(pairs_of_matrix(all_pairs(graph, np.float64, fit.n_jobs, fit.stages)), net.copies)

    def order(self, weights: PairWeights, ties: Ties) -> RankOrder:
        """The order of the pairs that have a weight: all that the method uses."""
        return rank_order(self.pairs, weights.pairs, ties, copies=weights.copies, likeness=self.likeness)


def _of_ordinary_size(X: Floats, metric: MetricName) -> Floats:
    """Rows or distances times a power of two where their squares would overflow or underflow.

    Their order does not change: every named metric grows with the rows, or does not depend on their size.
    """
    if callable(metric) or reads_mixed(metric):
        return X
    largest = float(max(X.max(), -X.min()))
    if largest == 0 or _SMALL[X.dtype.type] <= largest <= 1.0 / _SMALL[X.dtype.type]:
        return X
    return np.ldexp(X, -int(np.frexp(largest)[1]))

"""Fitted clusters, and the clusters of new rows.

A new row gets edges by the rule of the graph, coordinates from these edges, and the cluster of these coordinates.
Where the connected components are the clusters, it gets the cluster of the nearest vertex.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from gramfold.embedding import Fitted, Remains
from gramfold.extension.average import Spread, average, edge_weights
from gramfold.graph.affinity import Width, affinity, local_widths
from gramfold.graph.cut import kept_shares
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.graph.over_rows import graph_over_rows, neighbors_over_rows
from gramfold.methods.spectral_clustering.few_components import LEFT_OUT
from gramfold.methods.spectral_clustering.partition import Division
from gramfold.types import Floats, Graph, Integers, Neighbors, Plain


@dataclass(frozen=True, eq=False)
class Edges(Plain):
    """The graph and the weights of its edges."""

    graph: Graph
    width: Width
    self_tuning: bool  # whether each row has a width of its own

    def weights(self) -> csr_array:
        """Weights (n, n) between the vertices."""
        return affinity(self.graph, self.width)

    def weights_of_new(self, met: Neighbors, radii: Floats | None) -> csr_array:
        """Weights (m, n) between new rows and vertices, given their neighbours and neighbourhood radii."""
        return edge_weights(met, self.width, self.graph.multiplicity, self._new_width(met, radii))[0]

    def place_new(self, met: Neighbors, radii: Floats | None, division: Division) -> Floats:
        """Coordinates (m, k) of new rows: the eigenvectors of the vertices, extended by Nyström's formula."""
        spread = None
        if division.centers is not None:
            spread = Spread(division.tau, division.centers[division.component[met.nearest]])
        return average(
            met,
            self.graph,
            division.places,
            width=self.width,
            pull=self.graph.multiplicity,
            penalties=division.penalties,
            normalized=True,
            new_width=self._new_width(met, radii),
            spread=spread,
        )

    def _new_width(self, met: Neighbors, radii: Floats | None) -> Floats | None:
        return local_widths(met, radii) if self.self_tuning else None


@dataclass(frozen=True, eq=False)
class Clusters(Fitted):
    """See the module."""

    net: NeighborGraph
    edges: Edges
    labels: Integers  # (n,) of each vertex; −1 where it is in no cluster
    division: Division | None  # None where components are the clusters and nothing had to be solved

    @property
    def n_held(self) -> int:
        return len(self.net.copies.vertex) if self.remains is None else self.remains.n_rows

    def compacted(self) -> Self:
        """Without what `predict` does not read."""
        if self.remains is not None:
            return self
        n = self.n_held
        return replace(
            self,
            found=self.shortened(n),
            net=self.net.compacted(by_rule=True, grams=False),
            edges=replace(self.edges, graph=self.edges.graph.with_shortest()),
            remains=Remains(n),
        )

    @cached_property
    def graph(self) -> Graph:
        """The graph over the data rows."""
        return graph_over_rows((self.edges.graph,), self.net.copies.first[self.net.copies.vertex])

    @cached_property
    def neighbors(self) -> Neighbors:
        """The nearest neighbours of each data row."""
        return neighbors_over_rows(self.net.neighbors, self.net.copies.first, self.net.copies.vertex)

    @property
    def dropped_edges(self) -> Integers:
        """The data rows of edges that were taken out of the graph, (m, 2)."""
        dropped = self.net.dropped
        return np.empty((0, 2), dtype=np.intp) if dropped is None else np.asarray(self.net.copies.first[dropped])

    def predict(self, X: Any) -> Integers:
        """Clusters (m,) of new rows."""
        X = self.net.unit.inward_new(X)
        met = self._meet(X)
        return self._predict(met, self.net.homes(X, met))

    def score(self, X: Any) -> float:
        """Mean share of the edge weight of each row that stays within its cluster."""
        X = self.net.unit.inward_new(X)
        met = self._meet(X)
        vertices = self.net.homes(X, met)
        labels, fresh = self._predict(met, vertices), _unseen(met)
        known = np.setdiff1d(np.flatnonzero(met.counts > 0), fresh)
        kept = np.ones(len(met))
        if fresh.size:
            new = met.take(fresh)
            weights = self.edges.weights_of_new(new, self.net.radii_of(new))
            kept[fresh] = kept_shares(weights, labels[fresh], self.labels)
        if self.division is not None:  # otherwise the clusters are components, which no edge of the graph leaves
            weights = self.edges.weights()
            known = known[np.diff(weights.indptr)[vertices[known]] > 0]
            kept[known] = kept_shares(weights[vertices[known]], labels[known], self.labels)
        return float(np.where(labels == LEFT_OUT, 0.0, kept).mean())

    def _meet(self, X: Any) -> Neighbors:
        """Neighbours of new rows, in the unit, by the rule of the graph."""
        return self.net.joined(X, self.net.meet_by_rule(X))

    def _predict(self, met: Neighbors, nearest: Integers) -> Integers:
        labels: Integers = np.where(nearest >= 0, self.labels[nearest], LEFT_OUT)
        if self.division is None:  # components are the clusters
            return labels
        fresh = _unseen(met)
        if fresh.size:
            component, met = self.division.component, met.take(fresh)
            met = met.keep(component[met.indices] == component[met.nearest][met.rows])
            places = self.edges.place_new(met, self.net.radii_of(met), self.division)
            labels[fresh] = self.division.assignment(places)
        return labels


def _unseen(met: Neighbors) -> Integers:
    """Rows that have neighbours and are not training rows, whose nearest neighbour is at distance 0."""
    some = np.flatnonzero(met.counts > 0)
    return np.asarray(some[met.distances[met.indptr[some]] > 0])

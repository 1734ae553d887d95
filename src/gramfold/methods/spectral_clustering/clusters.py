"""Fitted clusters, and the clusters of new rows.

a new row gets edges by the rule of the graph, from them a place on the map, and there the label of that place
where connected components are the clusters it has that of the nearest vertex
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.embedding import Fitted
from gramfold.extension.average import average, edge_weights
from gramfold.graph.affinity import Width, affinity, local_widths
from gramfold.graph.cut import kept_shares
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.graph.over_rows import graph_over_rows, neighbors_over_rows
from gramfold.methods.spectral_clustering.few_components import LEFT_OUT
from gramfold.methods.spectral_clustering.partition import Division
from gramfold.types import Floats, Graph, Integers, Neighbors, Plain


@dataclass(frozen=True, eq=False)
class Edges(Plain):
    """The graph, and what its edges weigh."""

    graph: Graph
    width: Width
    self_tuning: bool  # whether each row has a width of its own

    def weights(self) -> csr_array:
        """Between the vertices, (n, n)."""
        return affinity(self.graph, self.width)

    def weights_of_new(self, met: Neighbors, radii: Floats | None) -> csr_array:
        """Those of new rows that meet these vertices and look as far as this, (m, n)."""
        return edge_weights(met, self.width, self.graph.multiplicity, self._new_width(met, radii))[0]

    def place_new(self, met: Neighbors, radii: Floats | None, division: Division) -> Floats:
        """Where their edges are in balance on the map of the vertices, (m, k)."""
        return average(
            met,
            self.graph,
            division.places,
            width=self.width,
            pull=self.graph.multiplicity,
            penalties=division.penalties,
            normalized=True,
            new_width=self._new_width(met, radii),
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

    @cached_property
    def graph(self) -> Graph:
        """In one or more components, over the data rows."""
        return graph_over_rows((self.edges.graph,), self.net.copies.first[self.net.copies.vertex])

    @cached_property
    def neighbors(self) -> Neighbors:
        """The nearest neighbours of each data row."""
        return neighbors_over_rows(self.net.neighbors, self.net.copies.first, self.net.copies.vertex)

    def predict(self, X: Any) -> Integers:
        """The clusters of new rows, (m,)."""
        return self._predict(self._meet(X))

    def score(self, X: Any) -> float:
        """The mean share of the rows' edges that goes to their own cluster."""
        met = self._meet(X)
        labels, fresh = self._predict(met), _unseen(met)
        known = np.setdiff1d(np.flatnonzero(met.counts > 0), fresh)
        kept = np.ones(len(met))
        if fresh.size:
            new = met.take(fresh)
            weights = self.edges.weights_of_new(new, self.net.radii_of(new))
            kept[fresh] = kept_shares(weights, labels[fresh], self.labels)
        if self.division is not None:  # else the clusters are components, which no edge of the graph leaves
            weights = self.edges.weights()
            vertices = met.nearest
            known = known[np.diff(weights.indptr)[vertices[known]] > 0]
            kept[known] = kept_shares(weights[vertices[known]], labels[known], self.labels)
        return float(np.where(labels == LEFT_OUT, 0.0, kept).mean())

    def _meet(self, X: Any) -> Neighbors:
        """Whom rows meet by the rule of the graph."""
        X = self.net.unit.inward_new(X)
        return self.net.joined(X, self.net.meet_by_rule(X))

    def _predict(self, met: Neighbors) -> Integers:
        nearest = met.nearest
        labels: Integers = np.where(nearest >= 0, self.labels[nearest], LEFT_OUT)
        if self.division is None:  # whoever is in a component is in its cluster
            return labels
        fresh = _unseen(met)
        if fresh.size:
            component, met = self.division.component, met.take(fresh)
            met = met.keep(component[met.indices] == component[met.nearest][met.rows])
            places = self.edges.place_new(met, self.net.radii_of(met), self.division)
            labels[fresh] = self.division.assignment(places)
        return labels


def _unseen(met: Neighbors) -> Integers:
    """The rows that meet somebody and are no training rows, which are at distance 0 from themselves."""
    some = np.flatnonzero(met.counts > 0)
    return np.asarray(some[met.distances[met.indptr[some]] > 0])

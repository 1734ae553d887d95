"""Rows and their neighbours: who chose whom, and whom a new row meets.

fit       rows -> distinct rows -> lists of neighbours; identical rows are one vertex
new row   its k nearest, or all within the radius; by the rule of the union graph also all who would choose it
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning, InputError
from gramfold.graph.affinity import Weights, Width, default_width, local_widths
from gramfold.graph.build import EdgeRule, build_graph, mutual
from gramfold.graph.connect import OnDisconnected
from gramfold.graph.given_weights import checked_affinity
from gramfold.graph.spanning_tree import spanning_tree
from gramfold.graph.without import without_choices, without_edges
from gramfold.neighbors.duplicates import Collapse, KnownRows, no_duplicates
from gramfold.neighbors.index import Index, VectorIndex, nearer_than, united
from gramfold.neighbors.metrics import Metric, MetricName, degree
from gramfold.neighbors.precomputed import WeightedIndex, check_distances
from gramfold.neighbors.search import build_index
from gramfold.neighbors.units import Unit
from gramfold.runtime.costs import COSTS, Costs
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Integers, Neighbors, Plain


class Neighborhood(Protocol):
    """What decides who is a neighbour: the parameters of that name."""

    n_neighbors: int
    radius: float | None
    metric: MetricName
    metric_params: Mapping[str, Any] | None
    search: Any
    on_disconnected: OnDisconnected


def degree_of_distances(hood: Neighborhood) -> int | None:
    """The power of the rows' unit that distances come in; None where nobody knows, or a transformer finds them."""
    return degree(hood.metric, hood.metric_params) if isinstance(hood.search, str) else None


def unit_of(X: Any, hood: Neighborhood) -> Unit:
    """In which rows are measured: 1 where nobody knows how distances follow it."""
    return Unit() if degree_of_distances(hood) is None else Unit.of_rows(X)


def graph_memory(n: int, n_neighbors: int) -> float:
    """Bytes of the lists both ways, their graph, and its factor, which at most is full.

    200 to 470 bytes a neighbour on rolls of 20,000 and 100,000 rows, 115 where all of 3,000 rows are neighbours.
    """
    neighbors = float(n) * min(n_neighbors, n)
    return 150.0 * neighbors + min(350.0 * neighbors, 24.0 * float(n) ** 2)


def check_radius(hood: Neighborhood, default: int) -> None:
    """Refuse a number of neighbours in addition to a radius, unless it is the default, which cannot be told apart."""
    if hood.radius is not None and hood.n_neighbors != default:
        raise InputError(
            f"n_neighbors={hood.n_neighbors} and radius={hood.radius:g} were both given, but only one of them can "
            f"define the neighbours: drop radius, or leave n_neighbors at its default ({default})."
        )


@dataclass(frozen=True)
class EnoughNeighbors:
    """Refuses rows with fewer neighbours than a method needs to say anything about them."""

    least: int
    name: str  # of the method
    n_components: int

    def of_settings(self, hood: Neighborhood) -> None:
        """Before any are found; a radius or a transformer has a number of its own."""
        if hood.radius is None and isinstance(hood.search, str):
            self._require(hood.n_neighbors, f"n_neighbors={hood.n_neighbors}")

    def of_graphs(self, graphs: tuple[Graph, ...]) -> None:
        """Of the rows of each component; one row by itself needs no map."""
        for graph in graphs:
            counts = graph.neighbors.counts
            few = int(np.argmin(counts))
            if len(graph) > 1:
                self._require(counts[few], f"row {graph.rows[few]} has {counts[few]} neighbours")

    def _require(self, count: int, found: str) -> None:
        if count < self.least:
            raise InputError(
                f"{found}, but {self.name} with n_components={self.n_components} needs at least {self.least} "
                f"neighbours of every row: use n_neighbors >= {self.least}, a larger radius, or fewer components."
            )


@dataclass(frozen=True, eq=False)
class Asking:
    """Distinct rows that ask for their neighbours among one another."""

    index: Index
    copies: Collapse  # which of the rows they are
    unit: Unit  # of the rows
    n_neighbors: int
    radius: float | None


Find = Callable[[Asking, Stages], Neighbors]


def found_here(asking: Asking, stages: Stages) -> Neighbors:
    """Their neighbours, by their own index."""
    return asking.index.own(asking.n_neighbors, asking.radius, stages)


@dataclass(frozen=True, eq=False)
class NeighborGraph(Plain):
    """See the module. Everything is in the unit of the rows that it was made of."""

    index: Index  # over the distinct rows
    neighbors: Neighbors  # whom each of them chose
    copies: Collapse  # which rows are the same
    n_neighbors: int
    radius: float | None
    on_disconnected: OnDisconnected
    unit: Unit
    degree: int | None  # of distances in the unit
    edges: EdgeRule = "union"
    dropped: Integers | None = None  # (m, 2) vertices of edges that were taken out of the graph

    @classmethod
    def of_weights(cls, W: Any, hood: Neighborhood, edges: EdgeRule, check: Callable[[int], None]) -> Self:
        """Of a graph that was given with the weights of its edges."""
        index = WeightedIndex.of(checked_affinity(W, W.shape[0], "X (weights='precomputed')"))
        check(index.size)
        lists = index.own(None, None)
        return cls(index, lists, no_duplicates(index.size), 0, None, hood.on_disconnected, Unit(), None, edges)

    @classmethod
    def of(
        cls,
        X: Any,
        hood: Neighborhood,
        *,
        check: Callable[[int], None],
        random_state: np.random.RandomState,
        n_jobs: int | None,
        stages: Stages,
        edges: EdgeRule = "union",
        find: Find = found_here,
        costs: Costs = COSTS,
    ) -> Self:
        """Of the rows of X; `check` is asked whether so many distinct rows are enough."""
        power, unit = degree_of_distances(hood), unit_of(X, hood)
        X = unit.inward(X)
        radius = None if hood.radius is None else float(unit.inward(float(hood.radius), power or 0))
        if isinstance(hood.metric, str) and hood.metric == "precomputed":
            check_distances(X)
        index, copies = build_index(
            X,
            metric=hood.metric,
            metric_params=hood.metric_params,
            search=hood.search,
            n_neighbors=hood.n_neighbors,
            radius=radius,
            n_jobs=n_jobs,
            random_state=random_state,
            costs=costs.search,
        )
        check(len(copies))
        neighbors = replace(find(Asking(index, copies, unit, hood.n_neighbors, radius), stages), recall=index.recall)
        return cls(index, neighbors, copies, hood.n_neighbors, radius, hood.on_disconnected, unit, power, edges)

    @property
    def metric(self) -> Metric | None:
        """By which rows are near; None where distances or edges were given."""
        return self.index.metric if isinstance(self.index, VectorIndex) else None

    @property
    def unit_of_distances(self) -> float:
        """What a distance of the user's is divided by."""
        return float(2.0 ** (self.unit.power * (self.degree or 0)))

    def whole(self) -> Graph:
        """The graph of the lists, with the edges that the rule selects; the edges of a tree are in its lists too."""
        lists, edges = self.neighbors, self.neighbors
        if self.edges.startswith("mutual"):
            edges = mutual(lists)
        if self.edges.endswith("mst"):
            tree = spanning_tree(self.index, lists)
            lists, edges = united(lists, tree), tree if self.edges == "mst" else united(edges, tree)
        graph = build_graph(lists, self.radii(), self.copies.multiplicity, self.copies.first, edges)
        if self.dropped is not None:
            kept = without_edges(graph.lengths, self.dropped), without_choices(graph.neighbors, self.dropped)
            graph = replace(graph, lengths=kept[0], neighbors=kept[1])
        return replace(graph, loops=self.index.loops) if isinstance(self.index, WeightedIndex) else graph

    def radii(self) -> Floats | None:
        """Neighbourhood radius of each vertex, (n,); None where the edges were given."""
        if self.index.given:
            return None
        if self.radius is not None:
            return np.full(self.index.size, self.radius)
        return self.neighbors.farthest

    def edge_width(self, graphs: tuple[Graph, ...], weights: Weights, width: float | str) -> Width:
        """σ of the edges of these graphs: by the largest (the first), or ("self-tuning") of each distinct row."""
        if weights != "gaussian":
            return "inverse" if weights == "precomputed" else None
        if width != "self-tuning":
            return default_width(graphs[0]) if width == "auto" else float(width) / self.unit_of_distances
        widths = np.full(self.index.size, np.nan)
        for graph in graphs:
            widths[graph.vertices] = local_widths(graph.neighbors, graph.radii)
        return widths

    # --- new rows

    def compacted(self, *, by_rule: bool, grams: bool) -> Self:
        """What new rows meet: by the rule of the graph or not, and with local Gram matrices of neighbours or without.

        Of the lists only how far they reach is asked, unless an approximate search walks along them.
        """
        less = replace(self.without("copies", "dropped"), index=self.index.compacted(grams=grams))
        if self.radius is not None and not self.index.given:  # it is that of every row
            return less.without("neighbors")
        return replace(less, neighbors=self.index.lists_for_new(self.neighbors) if by_rule else self.neighbors.last)

    def meet(self, X: Any) -> Neighbors:
        """The vertices that new rows meet: their nearest, or those within the radius."""
        return self._chosen(X, self._near(X))

    def meet_by_rule(self, X: Any) -> Neighbors:
        """The vertices that would share an edge with a new row if it were one more row of the graph."""
        if self.radius is not None or self.index.given or self.edges not in {"union", "union+mst"}:
            return self.meet(X)
        return self.index.joined(X, self.n_neighbors, self.neighbors)

    def _near(self, X: Any) -> Neighbors:
        if self.radius is not None and not self.index.given:
            return self.index.within(X, np.full(X.shape[0], self.radius), np.zeros(self.index.size))
        return self.index.nearest(X, self.n_neighbors)

    def _chosen(self, X: Any, near: Neighbors) -> Neighbors:
        """Those of them that are edges: mutual neighbours, and the edge by which a tree grows, the shortest."""
        chosen, radii = near, self.radii()
        if self.edges.startswith("mutual") and radii is not None:
            chosen = near.keep(near.distances <= nearer_than(radii)[near.indices])
        if not self.edges.endswith("mst"):
            return chosen
        some = np.flatnonzero(near.counts > 0)
        shortest = np.zeros(len(near.indices), dtype=bool)
        shortest[near.indptr[some]] = True
        tree = near.keep(shortest)
        if self.radius is not None and not self.index.given:
            tree = self.index.nearest(X, 1)
        return tree if self.edges == "mst" else united(chosen, tree)

    def homes(self, X: Any, met: Neighbors) -> Integers:
        """The nearest vertex of each new row; among several at distance 0 the one that equals the row."""
        if self.metric is None or not self.metric.loose:
            return met.nearest
        nearest, met_some = met.nearest.copy(), np.flatnonzero(met.counts > 0)
        doubtful = met_some[met.distances[met.indptr[met_some]] == 0]
        equal = self._known.find(self.metric.identity(self.metric.prepare(X[doubtful])))
        nearest[doubtful[equal >= 0]] = equal[equal >= 0]
        return nearest

    @cached_property
    def _known(self) -> KnownRows:
        assert isinstance(self.index, VectorIndex)
        return KnownRows(self.index.metric.identity(self.index.rows))

    def radii_of(self, met: Neighbors) -> Floats | None:
        """Neighbourhood radii of new rows with these neighbours; None where their edges were given."""
        if self.index.given:
            return None
        if self.radius is not None:
            return np.full(len(met), self.radius)
        last = np.minimum(met.indptr[:-1] + self.n_neighbors, met.indptr[1:]) - 1
        return np.where(met.counts > 0, met.distances[last], 0.0)

    def joined(self, X: Any, met: Neighbors) -> Neighbors:
        """Rows that meet nobody are handled as a component of the graph is: joined, left out or refused."""
        alone = np.flatnonzero(met.counts == 0)
        if not alone.size:
            return met
        found = (
            f"{alone.size} of {len(met)} new rows (first: row {alone[0]}) have no neighbours among the training rows"
        )
        if self.on_disconnected == "largest":
            return met
        if self.on_disconnected == "error" or self.index.given:
            change = "give each an edge" if self.index.given else "use a larger radius"
            raise DisconnectedGraphError(f"{found}, so they cannot be embedded: {change}, or leave them out.")
        more = "more neighbours" if self.radius is None else "a larger radius"
        warn(
            f"{found}; each was connected to its nearest one, so its coordinates are approximate: {more} may help.",
            DisconnectedGraphWarning,
        )
        nearest = self.index.nearest(X[alone], 1)
        return Neighbors.from_pairs(
            np.concatenate([met.rows, alone[nearest.rows]]),
            np.concatenate([met.indices, nearest.indices]),
            np.concatenate([met.distances, nearest.distances]),
            (len(met), met.n_vertices),
        )

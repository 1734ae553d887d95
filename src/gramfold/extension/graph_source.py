"""New rows on the map of a neighbour graph: each joins the component of its nearest vertex and is placed there."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from gramfold.errors import DisconnectedGraphWarning
from gramfold.extension.extrapolation import EUCLIDEAN, LIMIT, share_of_radius, warn_if_flown, warn_if_outside
from gramfold.extension.local_slopes import Slopes, local_slopes
from gramfold.extension.placement import AmongVertices, Known, NewRows, Part, widened
from gramfold.graph.components import Components
from gramfold.graph.over_rows import graph_over_rows, neighbors_over_rows
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.units import Unit
from gramfold.runtime.warning import warn
from gramfold.types import ROWS, Floats, Graph, Integers, Neighbors, Plain


@dataclass(frozen=True, eq=False)
class GraphSource(Plain):
    """Where the rows of a graph method come from, and how new rows meet them."""

    components: Components
    rows: Any = field(metadata=ROWS)  # the training rows, in the unit; None where X holds their distances or edges
    by_rule: bool  # whether a new row has the edges that the graph would give it, or only those to its nearest

    @cached_property
    def graph(self) -> Graph:
        """Of all components that were embedded, over the data rows."""
        vertex = self._vertex
        inside = (vertex >= 0) & (self.components.component[vertex] >= 0)
        return graph_over_rows(self.components.graphs, np.where(inside, self.components.first[vertex], -1))

    @cached_property
    def neighbors(self) -> Neighbors:
        """The nearest neighbours of each data row."""
        return neighbors_over_rows(self.components.net.neighbors, self.components.first, self._vertex)

    @property
    def dropped(self) -> Integers:
        """The data rows of edges that were taken out of the graph, (m, 2)."""
        return self.components.dropped

    @property
    def _vertex(self) -> Integers:
        """Of each data row, (n,); -1 where the graph does not have it."""
        return self.components.vertex_of(0 if self.rows is None else self.rows.shape[0])

    def compacted(self, parts: tuple[Part, ...]) -> Self:
        """The search index, and of the graph what placements read."""
        return replace(self.without("rows"), components=self._components_of(parts))

    def _components_of(self, parts: tuple[Part, ...]) -> Components:
        among: list[AmongVertices | None] = [part.placement for part in parts]  # None for a single point
        graphs = [
            graph.bare() if one is None else one.read_of(graph)
            for one, graph in zip(among, self.components.graphs, strict=True)
        ]
        grams = any(one is not None and one.reads_grams for one in among)
        net = self.components.net.compacted(by_rule=self.by_rule, grams=grams)
        return replace(self.components.without("subset"), net=net, graphs=tuple(graphs))

    @property
    def unit(self) -> Unit:
        """What rows are measured in."""
        return self.components.net.unit

    @property
    def metric(self) -> Metric | None:
        """By which rows are near; None where distances or edges were given."""
        return self.components.net.metric

    def place(self, X: Any, parts: tuple[Part, ...], known: Known, n_jobs: int | None) -> Floats:
        """Places (m, p) of new rows; `known` has those of the training rows, which they should be amid."""
        X = self.unit.inward_new(X)
        met = self.met(X)
        outside = self.outside_of(met)
        warn_if_outside(np.where(met.counts > 0, outside, 0.0), "rows")  # those without neighbours have no coordinates
        places = self.placed(X, met, parts, n_jobs)
        warn_if_flown(places[outside <= LIMIT], known())
        return places

    def outside(self, X: Any, n_jobs: int | None) -> Floats:
        """How far outside of the training rows these lie, (m,)."""
        return self.outside_of(self.components.net.index.nearest(self.unit.inward_new(X), 1))

    def met(self, X: Any) -> Neighbors:
        """Whom new rows, in the unit, meet."""
        net = self.components.net
        return net.joined(X, net.meet_by_rule(X) if self.by_rule else net.meet(X))

    def outside_of(self, met: Neighbors) -> Floats:
        """The distance of each new row to its nearest vertex, in units of the neighbourhood radius of that one."""
        net = self.components.net
        if net.index.weighted:  # an edge is an edge, whatever it weighs
            return np.where(met.counts > 0, 0.0, np.inf)
        radii = net.radii()
        radii = net.neighbors.farthest if radii is None else radii  # of edges that were given
        some = np.flatnonzero(met.counts > 0)
        outside = np.full(len(met), np.inf)
        outside[some] = share_of_radius(met.distances[met.indptr[some]], radii[met.nearest[some]])
        return outside

    def placed(self, X: Any, met: Neighbors, parts: tuple[Part, ...], n_jobs: int | None) -> Floats:
        """Places of new rows, in the unit, that meet these vertices."""
        return self.by_component(
            X, met, parts, lambda number, part, met, rows: self._place_in(number, part, met, rows, n_jobs)
        )

    def by_component(
        self, X: Any, met: Neighbors, parts: tuple[Part, ...], place: Callable[[int, Part, Neighbors, Any], Floats]
    ) -> Floats:
        """Places of new rows, each in the component of the nearest vertex that it meets."""
        places = np.full((len(met), len(parts[0].offset)), np.nan)
        component = self.component_of(X, met)
        for number, part in enumerate(parts):
            rows = np.flatnonzero(component == number)
            if rows.size:
                places[rows] = part.offset + place(number, part, met.take(rows), X[rows])
        if (component < 0).any():
            warn(
                f"{int((component < 0).sum())} of {len(met)} new rows belong to connected components that were not "
                "embedded (on_disconnected='largest'): their coordinates are NaN.",
                DisconnectedGraphWarning,
            )
        return places

    def _place_in(self, number: int, part: Part, met: Neighbors, X: Any, n_jobs: int | None) -> Floats:
        """Training rows take their own place; the others are placed among their neighbours in this component."""
        places: Floats = part.coordinates[self.components.number[self.components.net.homes(X, met)]].copy()
        fresh = np.flatnonzero(met.distances[met.indptr[:-1]] > 0)
        if fresh.size and part.kernel is not None:
            found = part.placement.place(self._new(number, met.take(fresh), X[fresh]), part, n_jobs)
            places[fresh] = widened(found, places.shape[1])
        return places

    def slopes(self, X: Any, parts: tuple[Part, ...], n_jobs: int | None) -> Slopes:
        """Derivatives (m, p, d) of the places of new rows, in the unit; NaN where a row has no place."""
        X = self.unit.inward_new(X)
        met = self.met(X)
        found, exact = np.full((len(met), len(parts[0].offset), X.shape[1]), np.nan), True
        component = self.component_of(X, met)
        for number, part in enumerate(parts):
            rows = np.flatnonzero(component == number)
            if not rows.size:
                continue
            if part.kernel is None:  # a single row
                found[rows] = 0.0
                continue
            new = self._new(number, met.take(rows), X[rows])
            slopes = part.placement.slopes(new, part, n_jobs)
            if slopes is None:
                exact, points = False, self.rows[new.graph.rows]
                slopes = local_slopes(new.rows, points, part.coordinates, self.metric or EUCLIDEAN, n_jobs)
            found[rows] = widened(slopes, found.shape[1])
        return Slopes(found, exact)

    def component_of(self, X: Any, met: Neighbors) -> Integers:
        """The component (m,) of the nearest vertex that each new row meets; -1 where it was not embedded."""
        nearest = self.components.net.homes(X, met)
        return np.where(nearest >= 0, self.components.component[nearest], -1)

    def _new(self, number: int, met: Neighbors, X: Any) -> NewRows:
        components, graph = self.components, self.components.graphs[number]
        met = met.keep(components.component[met.indices] == number).renumber(components.number, len(graph))
        return NewRows(X, met, graph, components.net.index, components.net.radii_of(met))

"""New rows on a map that is a function of the rows' own columns, and so defined everywhere.

A row needs no neighbours for its coordinates; where each of several components has a map, they decide which is used.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import ExtrapolationWarning, PrecomputedInputError
from gramfold.extension.carried_inverse import CarriedInverse
from gramfold.extension.extrapolation import LIMIT, Ball, Rim, Surroundings, corners, warn_if_flown, warn_if_outside
from gramfold.extension.graph_source import GraphSource
from gramfold.extension.local_slopes import Slopes
from gramfold.extension.placement import Known, Part, widened
from gramfold.kernels.basis import MixtureBasis
from gramfold.kernels.transformational import TransformationalMap
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.sparse_rows import as_sparse
from gramfold.neighbors.units import Unit
from gramfold.runtime.warning import warn
from gramfold.types import ROWS, Floats, Graph, Integers, LeftOut, Neighbors, Plain

_TAKEN_BACK = 0.05  # of the map's extent: less is hardly seen


def require_columns(name: str, precomputed: bool) -> None:
    """Refuse distances: such a map is a function of the rows themselves."""
    if precomputed:
        raise PrecomputedInputError(
            f"{name} computes coordinates from the columns of X, but metric='precomputed' has none: pass the rows "
            "themselves."
        )


@dataclass(frozen=True, eq=False)
class ContinuousPlacement(Plain):
    """y(x) = vᵀ z(x), clipped where that is far beyond the embedding of the training rows."""

    map: TransformationalMap
    reads_grams: ClassVar[bool] = False

    def place(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q), with a warning of rows that were clipped, or where nothing can be divided by u."""
        extended = self.map.extended(new)
        far = np.flatnonzero(extended.taken_back > _TAKEN_BACK)
        if far.size:
            warn(
                f"{far.size} of {len(extended.taken_back)} rows lie far outside of the training data. There the map "
                f"overshoots, by up to {extended.taken_back[far].max():.3g} times the size of the embedding, so their "
                "coordinates were clipped to the range of the nearby training rows and are not reliable: see "
                "extrapolation().",
                ExtrapolationWarning,
            )
        unlike = np.flatnonzero(extended.unlike)
        if unlike.size:
            warn(
                f"at {unlike.size} of {len(extended.unlike)} rows (first: row {unlike[0]}) the leading coordinate "
                "u(x), by which the embedding is divided, is close to 0 or negative, although it is positive at all "
                "training rows: their coordinates are unreliable. approximation='affine' avoids the division.",
                ExtrapolationWarning,
            )
        return extended.places

    def compacted(self, part: Part) -> Part:
        """The functions, their coefficients and bounds, and how large the map is."""
        gone = {"kernel": LeftOut("kernel_"), "spectrum": LeftOut("spectrum_")}
        placement = replace(self, map=replace(self.map, places=corners(self.map.places), **gone))  # type: ignore[arg-type]
        return replace(part.boxed().without("kernel", "spectrum"), placement=placement)

    def read_of(self, graph: Graph) -> Graph:
        """Only which component a new row belongs to."""
        return graph.bare()

    def slopes(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Derivatives (m, q, d) of the map."""
        return self.map.slopes(new)


@dataclass(frozen=True, eq=False)
class ContinuousSource(Plain):
    """Where the rows of such a method come from, and how new rows meet them."""

    unit: Unit
    rows: Any = field(metadata=ROWS)  # the training rows, in the unit
    ball: Ball  # about them
    metric: Metric | None  # by which rows are near
    joined: Graph | None  # over the data rows: the graph that the map is of, where it is not one of neighbours
    members: GraphSource | None  # the components of a neighbour graph
    rim: Rim | None = None  # what is left of the rows, where they were left out

    @classmethod
    def of(cls, members: GraphSource) -> Self:
        """Of a neighbour graph."""
        return cls(members.unit, members.rows, Ball.of(members.rows), members.metric, None, members)

    @property
    def graph(self) -> Graph:
        """Over the data rows."""
        graph = self.joined if self.members is None else self.members.graph
        assert graph is not None
        return graph

    @property
    def neighbors(self) -> Neighbors:
        """The nearest neighbours of each data row."""
        return self.graph.neighbors if self.members is None else self.members.neighbors

    @property
    def dropped(self) -> Integers:
        """The data rows of edges that were taken out of the graph, (m, 2)."""
        return np.empty((0, 2), dtype=np.intp) if self.members is None else self.members.dropped

    def place(self, X: Any, parts: tuple[Part, ...], known: Known, n_jobs: int | None) -> Floats:
        """Places (m, p) of new rows."""
        X = self.unit.inward_new(X)
        X = as_sparse(X) if self._sparse else X
        if self.members is not None and self._divided(parts):
            return self._place_by_component(self.members, X, parts, known, n_jobs)
        warn_if_outside(self.ball.outside(X, lambda: self.rim or self._surroundings(n_jobs)), "rows")
        return self.on_map(parts[0], X, n_jobs)

    def _place_by_component(
        self, members: GraphSource, X: Any, parts: tuple[Part, ...], known: Known, n_jobs: int | None
    ) -> Floats:
        met = members.met(X)
        outside = members.outside_of(met)
        warn_if_outside(outside, "rows")

        # training rows too: of several at distance 0 each has its own place
        places = members.by_component(X, met, parts, lambda _, part, __, rows: self.on_map(part, rows, n_jobs))
        warn_if_flown(places[outside <= LIMIT], known())
        return places

    def on_map(self, part: Part, X: Any, n_jobs: int | None) -> Floats:
        """Places of rows, in the unit, on the map of one component."""
        if part.placement is None:  # a single row
            return np.zeros((X.shape[0], len(part.offset)))
        return widened(part.placement.place(X, part, n_jobs), len(part.offset))

    def slopes(self, X: Any, parts: tuple[Part, ...], n_jobs: int | None) -> Slopes:
        """Derivatives (m, p, d) of the places of new rows, in the unit; NaN where a row has no place."""
        X = self.unit.inward_new(X)
        X = as_sparse(X) if self._sparse else X
        component = np.zeros(X.shape[0], dtype=np.intp)
        if self.members is not None and self._divided(parts):
            component = self.members.component_of(X, self.members.met(X))
        found = np.full((X.shape[0], len(parts[0].offset), X.shape[1]), np.nan)
        for number, part in enumerate(parts):
            rows = np.flatnonzero(component == number)
            if rows.size and part.placement is not None:
                found[rows] = widened(part.placement.slopes(X[rows], part, n_jobs), found.shape[1])
            else:  # a single row
                found[rows] = 0.0
        return Slopes(found, exact=True)

    def outside(self, X: Any, n_jobs: int | None) -> Floats:
        """How far outside of the training rows these lie, (m,)."""
        if self.members is not None:
            return self.members.outside(X, n_jobs)
        return self._surroundings(n_jobs)(self.unit.inward_new(X))

    def compacted(self, parts: tuple[Part, ...]) -> Self:
        """Without the rows; new rows meet neighbours only where these decide which of several maps is theirs."""
        members = self.members.compacted(parts) if self.members is not None and self._divided(parts) else None
        return replace(self.without("rows", "joined"), members=members, rim=Rim.of(self.ball, self.rows))

    def _divided(self, parts: tuple[Part, ...]) -> bool:
        """Whether some rows have another map than others, or none."""
        assert self.members is not None
        return len(parts) > 1 or bool((self.members.components.component < 0).any())

    @property
    def _sparse(self) -> bool:
        return issparse(self.rows) if self.rim is None else self.rim.sparse

    def _surroundings(self, n_jobs: int | None) -> Surroundings:
        return Surroundings(self.rows, n_jobs)


@dataclass(frozen=True, eq=False)
class CarriedBasis(Plain):
    """The inverse of a map of one component, from the responsibilities of its kernels."""

    basis: MixtureBasis
    ways: tuple[str, ...]  # that lead back through them
    everywhere: bool  # whether it is one rule for the whole map

    def make(self, way: str, model: Any, n_jobs: int | None) -> CarriedInverse | None:
        """The kernels carried onto the map, where that is asked for."""
        if way not in self.ways or len(model.parts) > 1:
            return None
        return CarriedInverse(self.basis.responsibilities, *model.distinct(), bounded=not self.everywhere)

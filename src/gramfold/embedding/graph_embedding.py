"""The engine of the methods that start from a neighbour graph."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from gramfold.embedding.kernel_embedding import KernelEmbedding
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece
from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning
from gramfold.extension.average import carried_reach
from gramfold.graph.build import build_graph
from gramfold.graph.connect import OnDisconnected, connect
from gramfold.neighbors.metrics import MetricName
from gramfold.neighbors.precomputed import check_distances
from gramfold.neighbors.search import build_index
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Graph, Integers, Neighbors


@dataclass(frozen=True)
class NewRows:
    """New rows and the vertices of one piece that they meet."""

    rows: Any
    met: Neighbors


@method
class GraphEmbedding(KernelEmbedding):
    """Engine of the methods that start from a neighbour graph."""

    n_neighbors: int = parameter(
        default=8,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Neighbours of each row in the graph; a number not below that of distinct rows is an error.",
        kw_only=False,
    )
    radius: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="If given, all rows within this distance are neighbours and `n_neighbors` is not used.",
    )
    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""A metric of scipy.spatial.distance, a function of two rows, or ``"precomputed"``: dense distances, or
        a sparse graph whose stored entries are the edges.""",
    )
    metric_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="More arguments of the metric."
    )
    neighbors: Any = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "exact", "approximate"}), HasMethods(["fit", "transform"])],
        words="""How neighbours are searched: "auto", "exact", "approximate", or a scikit-learn neighbours transformer.
        "auto" is exact unless that would take far longer than everything else, and then warns.""",
    )
    on_disconnected: OnDisconnected = parameter(
        default="bridge",
        allowed=[StrOptions({"bridge", "largest", "separate", "error"})],
        words="""What to do when the graph falls into pieces: join them by their shortest gaps, embed only the largest
        (the other rows NaN), embed each by itself and lay them side by side, or refuse.""",
    )
    random_state: Any = parameter(
        default=None, allowed=["random_state"], words="Chooses the sample on which approximate neighbours are judged."
    )

    _attributes: ClassVar[str] = """
    neighbors_ : Neighbors
        Whom each distinct row chose; `recall` where the search was approximate.
    graph_ : Graph
        The symmetric graph (of the largest piece).
    kept_ : ndarray of bool
        Rows that have a place on the map.
    """

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _accepts_sparse(self) -> bool:
        return self._precomputed  # a neighbour graph

    def _memory(self, n: int, itemsize: int) -> float:
        # lists both ways, their graph and a factor of it: 200 to 470 bytes a neighbour on rolls of 20,000 and 100,000
        return 500.0 * n * min(self.n_neighbors, n)

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        if self._precomputed:
            check_distances(X)
        with stages("neighbours"):
            self._index, collapse = build_index(
                X,
                metric=self.metric,
                metric_params=self.metric_params,
                neighbors=self.neighbors,
                n_neighbors=self.n_neighbors,
                radius=self.radius,
                n_jobs=self.n_jobs,
                random_state=check_random_state(self.random_state),
            )
            self._check_components(len(collapse))
            self.neighbors_ = replace(self._index.own(self.n_neighbors, self.radius, stages), recall=self._index.recall)
        with stages("graph"):
            graphs = connect(
                build_graph(self.neighbors_, self._reach(), collapse.multiplicity),
                self._index,
                self.on_disconnected,
            )
            graphs = [self._arranged(graph) for graph in graphs]
        self.graph_ = graphs[0]
        self._check_components(len(graphs[0]))
        # the piece of each vertex, and its number there
        self._piece_of = np.full(len(collapse), -1)
        self._number = np.full(len(collapse), -1)
        for piece, graph in enumerate(graphs):
            self._piece_of[graph.vertices] = piece
            self._number[graph.vertices] = np.arange(len(graph))
        self._row_number = self._number[collapse.vertex]
        self._first_rows = collapse.first
        pieces_of_rows = self._piece_of[collapse.vertex]
        return graphs, [np.flatnonzero(pieces_of_rows == piece) for piece in range(len(graphs))]

    def _arranged(self, graph: Graph) -> Graph:
        """The graph with its vertices in the order that the method's kernel is quickest in."""
        return graph

    def _reach(self) -> Floats | None:
        if self._index.given:
            return None
        if self.radius is not None:
            return np.full(self._index.size, float(self.radius))
        return self.neighbors_.farthest

    def _solve(self, source: Graph, rows: Integers, stages: Stages) -> Piece:
        piece = super()._solve(source, rows, stages)
        if piece.kernel is None or len(piece.kernel.mass) < len(source):
            return piece
        # the kernel of a graph is over its vertices; a user's is over data rows
        return replace(piece, kernel=replace(piece.kernel, rows=self._row_number[rows]))

    def _vertices_of(self, rows: Integers) -> Integers:
        return self._row_number[rows]

    # --- new points

    def _meet(self, X: Any) -> Neighbors:
        """The vertices that a new row meets: its nearest, or those within the radius."""
        if self.radius is not None and not self._index.given:
            reach = np.full(X.shape[0], float(self.radius))
            return self._index.within(X, reach, np.zeros(self._index.size))
        return self._index.nearest(X, self.n_neighbors)

    def _meet_by_rule(self, X: Any) -> Neighbors:
        """The vertices that would share an edge with a new row by the rule of the fitted graph."""
        reaches = self._reach()
        if reaches is None:
            return self._index.nearest(X, self.n_neighbors)
        if self.radius is not None:
            return self._index.within(X, np.full(X.shape[0], float(self.radius)), reaches)
        return self._index.within(X, carried_reach(self._index.nearest(X, self.n_neighbors), reaches), reaches)

    def _transform(self, X: Any) -> Floats:
        met = self._reach_out(X, self._meet(X))
        places = np.full((len(met), self.n_components), np.nan)
        piece_of = np.where(met.nearest >= 0, self._piece_of[met.nearest], -1)
        for number, piece in enumerate(self._pieces):
            rows = np.flatnonzero(piece_of == number)
            if rows.size:
                places[rows] = piece.offset + self._place_in(piece, number, met.take(rows), X[rows])
        if (piece_of < 0).any():
            warnings.warn(
                f"{int((piece_of < 0).sum())} of {len(met)} new rows belong to pieces of the graph that were not "
                "embedded (on_disconnected='largest') and have no place: they are NaN.",
                DisconnectedGraphWarning,
                stacklevel=3,
            )
        return places

    def _place_in(self, piece: Piece, number: int, met: Neighbors, X: Any) -> Floats:
        """Training rows take their own place; the others are placed among their neighbours in this piece."""
        own = self._number[met.nearest]
        places: Floats = piece.coordinates[own].copy()
        fresh = np.flatnonzero(met.distances[met.indptr[:-1]] > 0)
        if fresh.size and piece.kernel is not None:
            met = met.take(fresh)
            met = met.keep(self._piece_of[met.indices] == number).renumber(self._number, len(piece.coordinates))
            places[fresh] = self._place(piece, NewRows(X[fresh], met))
        return places

    def _reach_out(self, X: Any, met: Neighbors) -> Neighbors:
        """Rows that meet nobody are handled as a piece of the graph is: joined, left out or refused."""
        alone = np.flatnonzero(met.counts == 0)
        if not alone.size:
            return met
        found = f"{alone.size} of {len(met)} new rows (first: row {alone[0]}) have no training row within reach"
        if self.on_disconnected == "error" or self._index.given:
            raise DisconnectedGraphError(f"{found}, so they have no place: use a larger radius or leave them out.")
        if self.on_disconnected == "largest":
            return met
        warnings.warn(
            f"{found}; each was joined to its nearest one, so its place is rough: a larger radius may help.",
            DisconnectedGraphWarning,
            stacklevel=4,
        )
        nearest = self._index.nearest(X[alone], 1)
        return Neighbors.from_pairs(
            np.concatenate([met.rows, alone[nearest.rows]]),
            np.concatenate([met.indices, nearest.indices]),
            np.concatenate([met.distances, nearest.distances]),
            (len(met), met.n_vertices),
        )

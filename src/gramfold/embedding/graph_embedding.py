"""The engine of the methods that start from a neighbour graph."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramfold.embedding.degenerate import Data, all_distances, rows_by
from gramfold.embedding.kernel_embedding import KernelEmbedding
from gramfold.embedding.neighbor_graph import NeighborGraph
from gramfold.embedding.parameters import method
from gramfold.embedding.pieces import Piece
from gramfold.errors import DisconnectedGraphWarning
from gramfold.extension.extrapolation import LIMIT, share_of_reach, warn_if_flown, warn_if_outside
from gramfold.graph.build import build_graph
from gramfold.graph.connect import connect
from gramfold.neighbors.index import VectorIndex
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Integers, Neighbors


@dataclass(frozen=True)
class NewRows:
    """New rows and the vertices of one piece that they meet."""

    rows: Any
    met: Neighbors


@method
class GraphEmbedding(NeighborGraph, KernelEmbedding):
    """Engine of the methods that start from a neighbour graph."""

    _attributes: ClassVar[str] = """
    graph_ : Graph
        The symmetric graph (of the largest piece). Its vertices are distinct rows, in the method's own order:
        `graph_.rows` has the data row of each.
    kept_ : ndarray of bool
        Rows that have a place on the map.
    """

    @property
    def _degree(self) -> float | None:
        return None if self._degree_of_distances is None else 0.0  # a map of the graph, whatever its unit

    def _graphs(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        """The connected graphs of these rows, and the rows in each."""
        with stages("neighbours"):
            collapse = self._build_index(X, self.n_jobs)
            self._check_components(len(collapse))
            self._find_neighbors(stages)
        with stages("graph"):
            graphs = connect(
                build_graph(self.neighbors_, self._reach(), collapse.multiplicity, collapse.first),
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

    def _subset(self, X: Any) -> Integers | None:
        """Rows that the graph is built on, ascending, the others being placed as new ones; None: all."""
        return None

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        subset = self._subset(X)
        if subset is None:
            self._others = np.empty(0, dtype=np.intp)
            return self._graphs(X, stages)
        graphs, rows_of = self._graphs(X[subset], stages)
        # from places in the subset to data rows
        graphs = [replace(graph, rows=subset[graph.rows]) for graph in graphs]
        self.graph_ = graphs[0]
        self._others = np.setdiff1d(np.arange(X.shape[0]), subset)
        number = np.full(X.shape[0], -1)
        number[subset] = self._row_number
        self._row_number, self._first_rows = number, subset[self._first_rows]
        return graphs, [subset[rows] for rows in rows_of]

    def _arranged(self, graph: Graph) -> Graph:
        """The graph with its vertices in the order that the method's kernel is quickest in."""
        return graph

    def _solve(self, source: Graph, rows: Integers, stages: Stages) -> Piece:
        piece = super()._solve(source, rows, stages)
        if piece.kernel is None or len(piece.kernel.mass) < len(source):
            return piece
        # the kernel of a graph is over its vertices; a user's is over data rows
        return replace(piece, kernel=replace(piece.kernel, rows=self._row_number[rows]))

    def _vertices_of(self, rows: Integers) -> Integers:
        return self._row_number[rows]

    # --- whether the map shows the data

    def _to_compare(self, X: Any) -> Data | None:
        if isinstance(self._index, VectorIndex):
            return rows_by(self._index.metric, X)
        return all_distances(X) if self._precomputed else None

    def _remedy(self) -> str:
        now = f"n_neighbors (now {self.n_neighbors}" if self.radius is None else f"radius (now {self.radius:g}"
        return f"another {now}: too much joins what is far apart, too little loses the whole), {super()._remedy()}"

    # --- new points

    def _place_others(self, X: Any) -> None:
        if self._others.size:
            others = X[self._others]
            self.embedding_[self._others] = self._place_met(others, self._reach_out(others, self._meet(others)))

    def _transform(self, X: Any) -> Floats:
        met = self._reach_out(X, self._meet(X))
        outside = self._share_of_reach(met)
        warn_if_outside(outside, "rows")
        places = self._place_met(X, met)
        warn_if_flown(places[outside <= LIMIT], self._inner_map()[self.kept_])
        return places

    def _outside(self, X: Any) -> Floats:
        return self._share_of_reach(self._index.nearest(X, 1))

    def _share_of_reach(self, met: Neighbors) -> Floats:
        """How far each new row is from the nearest vertex it meets, as a share of how far that one reaches."""
        reach = self._reach()
        reach = self.neighbors_.farthest if reach is None else reach  # of edges that were given
        some = np.flatnonzero(met.counts > 0)
        outside = np.full(len(met), np.inf)
        outside[some] = share_of_reach(met.distances[met.indptr[some]], reach[met.nearest[some]])
        return outside

    def _place_met(self, X: Any, met: Neighbors) -> Floats:
        """Places of new rows that meet these vertices."""
        places = np.full((len(met), self.n_components), np.nan)
        piece_of = np.where(met.nearest >= 0, self._piece_of[met.nearest], -1)
        for number, piece in enumerate(self._pieces):
            rows = np.flatnonzero(piece_of == number)
            if rows.size:
                places[rows] = piece.offset + self._place_in(piece, number, met.take(rows), X[rows])
        if (piece_of < 0).any():
            warn(
                f"{int((piece_of < 0).sum())} of {len(met)} new rows belong to pieces of the graph that were not "
                "embedded (on_disconnected='largest') and have no place: they are NaN.",
                DisconnectedGraphWarning,
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

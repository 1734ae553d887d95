"""The engine of the methods whose map is a combination of functions of the rows, and so defined everywhere.

    y(x) = vᵀ z(x);   Z W Zᵀ v = λ Z D Zᵀ v          (kernels/transformational.py)

A method says which functions z (`_basis`) and on which graph. A new row needs no neighbours: its place is y(x).
"""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding.graph_embedding import GraphEmbedding
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece
from gramfold.embedding.way_back import Inverse
from gramfold.errors import ExtrapolationWarning, PrecomputedInputError, RankWarning
from gramfold.extension.carried_inverse import CarriedInverse
from gramfold.graph.affinity import affinity, default_width, inverse_lengths
from gramfold.graph.laplacian import degrees
from gramfold.kernels.basis import Basis
from gramfold.kernels.transformational import (
    Approximation,
    Problem,
    TransformationalMap,
    Vertices,
    solving_memory,
    transformational_map,
)
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blas_threads, one_blas_thread, thread_count
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Integers, Neighbors

_TAKEN_BACK = 0.05  # of the map's extent: less is hardly seen
_SMALL = 1_000  # functions up to which one thread solves as fast as several, and the same whatever their number


@dataclass(frozen=True)
class ContinuousPiece(Piece):
    """A piece with the map of all space that it defines; None for a single point."""

    map: TransformationalMap | None = None


@method
class ContinuousEmbedding(GraphEmbedding):
    """Engine of kernel eigenmaps and locality preserving projections; not used by itself."""

    approximation: Approximation = parameter(
        default="reweighted",
        allowed=[StrOptions({"reweighted", "affine", "stochastic", "raw"})],
        words="""How the constant is kept out of the map. "raw": the leading solution is dropped; "affine": the constant
        is put among the functions; "stochastic": raw coordinates divided by the leading one; "reweighted": the
        functions divided by it, and solved again, so that the constant is a solution exactly.""",
    )
    weights: Literal["inverse-distance", "binary", "gaussian"] = parameter(
        default="inverse-distance",
        allowed=[StrOptions({"inverse-distance", "binary", "gaussian"})],
        words="""What an edge of length d weighs: 1/d, 1, or exp(−d²/2s²) with s the root mean square length. For 1/d a
        length below a thousandth of the median counts as that.""",
    )
    equal_degrees: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="""Add weight to each vertex itself until all have the largest degree: neighbourhoods are taken to be of
        one size, and rows with heavy edges no longer drawn to the middle.""",
    )

    _attributes: ClassVar[str] = """
    leading_eigenvalue_ : float
        That of the solution that was dropped; 1 where it is the constant.
    leading_ripple_ : float
        Largest departure of the dropped coordinate from its mean, relative to the mean; 0 where it is the constant.
    """

    # --- what a method writes

    @abstractmethod
    def _basis(self, points: Floats, numbers: Integers) -> tuple[Basis, Integers]:
        """Functions for the rows `points[numbers]`, and an order of these in which neighbours are near each other."""

    @abstractmethod
    def _size(self, n: int) -> int:
        """Number of these functions for n rows."""

    @abstractmethod
    def _shares(self, way: str) -> Callable[[Floats], Any] | None:
        """Responsibilities of the kernels that lead back this way; None where they do not."""

    # --- fit

    @property
    def _degree(self) -> float | None:
        if self._degree_of_distances is None:
            return None
        # yᵀ D y = 1, and D has the unit of 1/d; stochastic coordinates are quotients of such
        weighed = self.weights == "inverse-distance" and self.approximation != "stochastic"
        return 0.5 * self._degree_of_distances if weighed else 0.0

    def _memory(self, n: int, itemsize: int) -> float:
        return self._graph_memory(n) + solving_memory(n, self._size(n))

    def _graph_memory(self, n: int) -> float:
        return 200.0 * n * min(self.n_neighbors, n)  # lists both ways and their graph; nothing is factored

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        if self._precomputed:
            raise PrecomputedInputError(
                f"{type(self).__name__} is a map of the rows' own columns and metric='precomputed' has none: pass the "
                "rows themselves."
            )
        graphs, rows = self._graphs(X, stages)
        self._others = np.empty(0, dtype=np.intp)
        self._points = X
        return graphs, rows

    def _affinity(self, graph: Graph) -> Any:
        if self.weights == "inverse-distance":
            return inverse_lengths(graph)
        return affinity(graph, default_width(graph) if self.weights == "gaussian" else None)

    def _degrees(self, weights: Any) -> Floats:
        own = degrees(weights) if isinstance(weights, csr_array) else weights.degrees
        return np.full_like(own, own.max()) if self.equal_degrees else own

    def _solve(self, source: Graph, rows: Integers, stages: Stages) -> Piece:
        nowhere = np.zeros(self.n_components)
        if len(source) == 1:
            return ContinuousPiece(source, None, None, np.zeros((1, self.n_components)), nowhere)
        with stages("kernel"):
            numbers = self._first_rows[source.vertices]
            basis, order = self._basis(self._points, numbers)
            weights = self._affinity(source)
            problem = Problem(Vertices(self._points, numbers, order), weights, self._degrees(weights))
        with stages("spectrum"), self._threads(min(basis.size, len(source))):
            found = transformational_map(
                problem, basis, self.n_components, self.approximation, self._row_number[rows], stages
            )
        if found.places.shape[1] < self.n_components:
            self._warn_of_few(found.places.shape[1], basis.size)
        coordinates = np.zeros((len(source), self.n_components))
        coordinates[:, : found.places.shape[1]] = found.places
        if source is self.graph_:  # the largest piece
            self._describe(basis, found)
        return ContinuousPiece(source, found.kernel, found.spectrum, coordinates, nowhere, found)

    def _assembled(self, X: Any, rows_of: list[Integers]) -> Floats:
        embedding = super()._assembled(X, rows_of)
        for piece, rows in zip(self._pieces, rows_of, strict=True):
            first = self._first_rows[piece.source.vertices[self._vertices_of(rows)]]
            # under some metrics rows that differ are one vertex, and the map has a place for each of them
            others = rows[first != rows]
            others = others[(X[others] != X[first[first != rows]]).any(axis=1)]
            if others.size:
                assert isinstance(piece, ContinuousPiece)
                embedding[others] = self._mapped(piece, X[others])[0] + piece.offset
        return embedding

    def _describe(self, basis: Basis, found: TransformationalMap) -> None:
        """Tell the user what was found."""
        self.leading_eigenvalue_, self.leading_ripple_ = found.leading, found.ripple

    def _warn_of_few(self, found: int, size: int) -> None:
        warn(
            f"the {size} functions of the map span {found} directions beside the constant and n_components="
            f"{self.n_components} were asked for: the last {self.n_components - found} columns of the map are zero.",
            RankWarning,
        )

    def _threads(self, size: int) -> Any:
        if size <= _SMALL:
            return one_blas_thread()
        return nullcontext() if self.n_jobs is None else blas_threads(thread_count(self.n_jobs))

    # --- new points

    def _transform(self, X: Any) -> Floats:
        if len(self._pieces) > 1 or not self.kept_.all():  # which piece a row belongs to, its neighbours tell
            return super()._transform(X)
        self._warn_of_outside(X)
        return self._place(self._pieces[0], X)

    def _place_in(self, piece: Piece, number: int, met: Neighbors, X: Any) -> Floats:
        return self._place(piece, X)  # training rows too: of several at distance 0 each has its own place

    def _place(self, piece: Piece, new: Any) -> Floats:
        assert isinstance(piece, ContinuousPiece)
        places, taken_back = self._mapped(piece, new)
        self._warn_of_taken_back(taken_back)
        return places

    def _mapped(self, piece: ContinuousPiece, rows: Floats) -> tuple[Floats, Floats]:
        """Places (m, p) of rows on the map of a piece, and how far they were taken back to it."""
        places = np.zeros((len(rows), self.n_components))
        if piece.map is None:  # of a single row
            return places, np.zeros(len(rows))
        extended = piece.map.extended(rows)
        places[:, : piece.map.places.shape[1]] = extended.places
        return places, extended.taken_back

    def _warn_of_taken_back(self, taken_back: Floats) -> None:
        far = np.flatnonzero(taken_back > _TAKEN_BACK)
        if far.size:
            warn(
                f"{far.size} of {len(taken_back)} rows are unlike all that the kernels of the map have seen, which "
                f"would have put them up to {taken_back[far].max():.3g} times its extent too far out: they were left "
                "at the edge of the places of their kernels' rows, so the answer is extrapolated: see extrapolation() "
                "for each of them.",
                ExtrapolationWarning,
            )

    def _make_way(self, way: str) -> Inverse:
        shares = self._shares(way) if len(self._pieces) == 1 else None
        if shares is None:
            return super()._make_way(way)
        return CarriedInverse(shares, *self._known(), bounded=not self._global_inverse)

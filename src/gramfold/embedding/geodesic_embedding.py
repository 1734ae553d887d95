"""The engine of the methods whose kernel is made of geodesics.

D_ij = shortest walk from i to j along the graph;    K = −½ H D² H
conformal: an edge has length |x_i − x_j| / √(M_i M_j), M_i the mean distance from i to its neighbours
landmarks: K over a few vertices only, and everybody placed by the walks to them
new point: d(x, j) = min over its neighbours i of |x − x_i| + D_ij
"""

from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.graph_embedding import GraphEmbedding, NewRows
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece
from gramfold.errors import ApproximationWarning
from gramfold.extension.walk import walk_and_project
from gramfold.graph.conformal import conformal_graph, conformal_steps
from gramfold.graph.geodesic import all_pairs, arranged, walks_from
from gramfold.kernels.gram import GramKernel, centered_gram, square_in_place
from gramfold.kernels.landmark import choose_landmarks, landmark_gram
from gramfold.runtime.memory import GIGABYTE, fits, largest_that_fits
from gramfold.runtime.progress import Stages
from gramfold.runtime.storage import array_in_file, check_room, most_room
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph

_AUTO_LANDMARKS = 2_000


@method
class GeodesicEmbedding(GraphEmbedding):
    """Engine of Isomap and its kin; not used by itself."""

    conformal: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="""Divide each edge by the mean neighbour distances at its ends, so that dense and sparse regions of an
        evenly stretched sheet look alike (C-Isomap).""",
    )
    landmarks: int | Literal["auto"] | None = parameter(
        default=None,
        allowed=[Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        words="""At most this many rows carry the kernel and the others are placed by their walks to them. None uses all
        rows; "auto" all where their matrix fits into memory, else 2,000, or as many as fit, with a warning.""",
    )
    landmark_choice: Literal["maxmin", "random"] = parameter(
        default="maxmin",
        allowed=[StrOptions({"maxmin", "random"})],
        words="Each landmark the row farthest from those already chosen, or any rows at random.",
    )

    storage: Literal["memory", "float32"] | PathLike[str] | str = parameter(
        default="memory",
        allowed=[str, PathLike],
        words="""Where the n × n walks are kept: in memory in the dtype of the rows, in memory in float32, or in a file
        in the folder named here, which the system pages in and out and which vanishes with the model.""",
    )

    _attributes: ClassVar[str] = """
    landmarks_ : ndarray of int or None
        Data rows that carry the kernel (of the largest piece), in its order; None where all do.
    """

    def _memory(self, n: int, itemsize: int) -> float:
        return self._memory_of(self._landmark_count(n, itemsize), n, itemsize)

    def _memory_of(self, count: int, n: int, itemsize: int) -> float:
        """Bytes that n rows take with so many landmarks."""
        walks = float(n) * count * (4 if self.storage == "float32" else itemsize)
        return (0.0 if self._in_file and count >= n else walks) + super()._memory(n, itemsize)

    def _forecast(self, n: int, itemsize: int) -> None:
        super()._forecast(n, itemsize)
        self._most_landmarks = self._landmark_count(n, itemsize)  # now: later the graph will have taken its part
        if self._in_file and self._most_landmarks >= n:
            check_room(self.storage, (n, n), self._dtype)  # now, not after the neighbours are found

    def _memory_advice(self, n: int, itemsize: int) -> list[str]:
        advice = []
        count = self._affordable(n, itemsize)
        if self.landmarks != "auto" and self._least_landmarks <= count < self._landmark_count(n, itemsize):
            need = self._memory_of(count, n, itemsize)
            advice.append(f"or use landmarks={count}, which needs {need / GIGABYTE:.1f} GB")
        file = float(n) ** 2 * itemsize
        if self.landmarks is None and not self._in_file and fits(super()._memory(n, itemsize)) and file < most_room():
            advice.append(f"or name a folder in storage=, where a file takes {file / GIGABYTE:.1f} GB")
        return advice

    @property
    def _least_landmarks(self) -> int:
        """Fewer have no map of so many dimensions."""
        return max(2, self.n_components + 1)

    def _affordable(self, n: int, itemsize: int) -> int:
        """The most landmarks that fit into memory, of as many as are worth their time."""
        return largest_that_fits(lambda count: self._memory_of(count, n, itemsize), min(n // 2, _AUTO_LANDMARKS))

    @property
    def _degree(self) -> float | None:
        # conformal lengths are relative to those of other edges
        return 0.0 if self.conformal and super()._degree is not None else self._degree_of_distances

    @property
    def _in_file(self) -> bool:
        return self.storage not in {"memory", "float32"}

    @property
    def _walk_dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32) if self.storage == "float32" else self._dtype

    def _room_for_walks(self, n: int) -> Floats | None:
        return array_in_file(self.storage, (n, n), self._walk_dtype) if self._in_file else None

    def _landmark_count(self, n: int, itemsize: int) -> int:
        if self.landmarks is None:
            return n
        if self.landmarks != "auto":
            return min(n, int(self.landmarks))
        if fits(self._memory_of(n, n, itemsize)):
            return n
        return max(self._least_landmarks, self._affordable(n, itemsize))

    def _arranged(self, graph: Graph) -> Graph:
        count = min(len(graph), self._most_landmarks)
        graph = conformal_graph(graph) if self.conformal else graph
        return arranged(graph, None if count >= len(graph) else count, self.n_jobs)

    def _kernel(self, graph: Graph, stages: Stages) -> GramKernel:
        n = len(graph)
        count = min(n, self._most_landmarks)
        if count >= n:
            walks = all_pairs(graph, self._walk_dtype, self.n_jobs, stages, self._room_for_walks(n))  # (n, n)
            # kept squared: one n × n matrix serves kernel and new points
            return centered_gram(square_in_place(walks), scale=-0.5, mass=graph.multiplicity)
        if self.landmarks == "auto":
            warn(
                f"the walks between {n:,} rows do not fit into memory, so {count:,} landmarks carry the map: pass "
                f"landmarks={count} to accept this.",
                ApproximationWarning,
            )
        chosen = choose_landmarks(
            self.landmark_choice,
            lambda vertex: self._index.distances_from(int(graph.vertices[vertex]))[graph.vertices],
            n,
            count,
            check_random_state(self.random_state),
            start=int(np.argmax(graph.neighbors.farthest)),  # the loneliest vertex, whatever the order of the rows
        )
        walks = walks_from(graph, chosen, self._walk_dtype, self.n_jobs, stages)  # (n, count)
        return landmark_gram(square_in_place(walks), chosen, graph.multiplicity)

    def _place(self, piece: Piece, new: NewRows) -> Floats:
        met = conformal_steps(new.met, piece.source) if self.conformal else new.met
        places = np.zeros((len(met), self.n_components))
        found = walk_and_project(met, piece.kernel, piece.spectrum, self.n_jobs)
        places[:, : found.shape[1]] = found
        return places

    @property
    def landmarks_(self) -> Any:
        """See the attributes."""
        kernel = self._pieces[0].kernel
        chosen = getattr(kernel, "landmarks", None)
        return None if chosen is None else self.graph_.rows[chosen]

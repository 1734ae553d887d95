"""Shortest paths as a kernel: from which vertices they are computed, where they are kept, and what they become.

all vertices: squared paths (n, n);    landmarks: squared paths (n, m) to a few, which carry the kernel
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from os import PathLike
from typing import Any, Literal, Protocol

import numpy as np

from gramfold.errors import ApproximationWarning, InputError
from gramfold.graph.components import Component
from gramfold.graph.conformal import conformal_graph
from gramfold.graph.geodesic import all_pairs, arranged, walks_from
from gramfold.graph.neighbor_graph import graph_memory
from gramfold.graph.streamed_walks import StreamedWalks, in_postorder, lanes_of
from gramfold.kernels.gram import GramKernel, square_in_place
from gramfold.kernels.landmarks import choose_landmarks, given_landmarks, landmark_count
from gramfold.kernels.mercer import Repair, mercer_gram
from gramfold.kernels.streamed import STREAM, StreamedMatrix, rows_of_strip, stream_advice, stream_memory, stream_width
from gramfold.runtime.memory import GIGABYTE, fits, largest_that_fits
from gramfold.runtime.progress import Stages
from gramfold.runtime.storage import array_in_file, check_room, most_room
from gramfold.runtime.threads import StopFlag, stop_flag
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Integers, Neighbors


class Geodesics(Protocol):
    """The parameters of that name, and the neighbours that the graph has."""

    n_neighbors: int
    n_components: int
    conformal: bool
    landmarks: Any
    landmark_choice: Literal["maxmin", "random"]
    storage: Any


@dataclass(frozen=True)
class SquaredPaths:
    """Of every vertex, to all of them or to some."""

    values: "Floats | StreamedPaths"  # (n, n) or (n, m)
    landmarks: Integers | None  # (m,) those vertices; None: all


@dataclass(frozen=True, eq=False)
class StreamedPaths(StreamedMatrix):
    """D² between all vertices, whose shortest paths are found anew for every product."""

    walks: StreamedWalks

    def __len__(self) -> int:
        return len(self.walks)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.walks.dtype

    def parts(self) -> list[slice]:
        return self.walks.parts()

    def strip(self, part: slice, stop: StopFlag) -> Iterator[tuple[slice, Floats]]:
        walks = self.walks.strip(part, stop)
        for rows in rows_of_strip(part):
            yield rows, square_in_place(walks[rows])

    def take(self, rows: Integers) -> Floats:
        return square_in_place(self.walks.from_vertices(rows, stop_flag()))

    def diagonal(self) -> Floats:
        return np.zeros(len(self))

    def ready(self) -> None:
        self.walks.ready()

    @property
    def at_once(self) -> int:
        """How many points may walk beside each other."""
        return lanes_of(len(self))

    def reached(self, steps: Neighbors, stop: StopFlag) -> Floats:
        """Squared walks (m, n) of a few points that step onto the graph."""
        return square_in_place(self.walks.of(steps, stop))


@dataclass(frozen=True)
class PathPlan:
    """How many landmarks there are at most, and where paths are kept: decided before anything is computed."""

    count: int
    given: Integers | None  # data rows that are landmarks, where they were named
    auto: bool  # whether the number was left to the memory
    choice: Literal["maxmin", "random"]
    conformal: bool
    storage: str | PathLike[str]
    dtype: np.dtype[Any]
    least: int  # landmarks that a map of so many dimensions needs
    n_jobs: int | None

    def arrange(self, graph: Graph) -> Graph:
        """The graph, conformal if asked for, with its vertices in the order that paths are quickest in."""
        graph = conformal_graph(graph) if self.conformal else graph
        graph = arranged(graph, None if self.count >= len(graph) else self.count, self.n_jobs)
        return in_postorder(graph) if self.storage == STREAM else graph

    def squared(self, part: Component, random_state: np.random.RandomState, stages: Stages) -> SquaredPaths:
        """The squared shortest paths of a component; kept squared, one matrix serves kernel and new points."""
        graph, n, n_jobs = part.graph, len(part), self.n_jobs
        chosen = self._landmarks(part, random_state)
        if chosen is None and self.storage == STREAM:
            bare = replace(graph.bare(), lengths=graph.lengths)
            walks = StreamedWalks(bare, single=self.dtype == np.float32)
            return SquaredPaths(StreamedPaths(stream_width(self.least - 1), walks), None)
        if chosen is None:
            room = array_in_file(self.storage, (n, n), self.dtype) if _in_file(self.storage) else None
            return SquaredPaths(square_in_place(all_pairs(graph, self.dtype, n_jobs, stages, room)), None)
        return SquaredPaths(square_in_place(walks_from(graph, chosen, self.dtype, n_jobs, stages)), chosen)

    def _landmarks(self, part: Component, random_state: np.random.RandomState) -> Integers | None:
        """Vertices that are landmarks; None: all."""
        n = len(part)
        if self.given is not None:
            chosen = np.unique(part.numbers[np.isin(part.rows, self.given)])
            if len(chosen) < min(self.least, n):
                raise InputError(
                    f"a connected component of {len(part.rows):,} rows contains only {len(chosen)} distinct landmarks, "
                    f"but its embedding needs at least {min(self.least, n)}: add landmarks in this component."
                )
            return None if len(chosen) == n else chosen
        if self.count >= n:
            return None
        if self.auto:
            warn(
                f"the shortest paths between {n:,} rows do not fit into memory, so {self.count:,} landmarks are used: "
                f"pass landmarks={self.count} to accept this.",
                ApproximationWarning,
            )
        # the most isolated vertex comes first, whatever the order of the rows
        start = int(np.argmax(part.graph.neighbors.farthest))
        return choose_landmarks(self.choice, part.distances_from, n, self.count, random_state, start=start)


@dataclass(frozen=True)
class PathMemory:
    """What shortest paths of n rows need."""

    settings: Geodesics
    n: int
    itemsize: int
    squares: int = 0  # float64 matrices of all landmarks that the kernel takes beside the paths while it is made
    most: int = 2_000  # landmarks that are worth their time, where the number is left to the memory

    @property
    def in_file(self) -> bool:
        """Whether they are kept in a file."""
        return _in_file(self.settings.storage)

    @property
    def streams(self) -> bool:
        """Whether those between all rows are computed anew for each product."""
        return bool(self.settings.storage == STREAM and self.landmarks() >= self.n)

    def bytes(self, count: int) -> float:
        """With so many landmarks, the graph aside."""
        walks = float(self.n) * count * (4 if self.settings.storage == "float32" else self.itemsize)
        if count >= self.n and self.settings.storage == STREAM:
            return stream_memory(self.n, *self._passes)
        return (0.0 if self.in_file and count >= self.n else walks) + self._squares(count)

    def _squares(self, count: int) -> float:
        return self.squares * 8.0 * min(self.n, count) ** 2

    def beside(self, n: int, itemsize: int) -> float:
        """Beside the graph of n rows of this itemsize, as many landmarks as the settings have."""
        other = replace(self, n=n, itemsize=itemsize)
        return other.bytes(other.landmarks())

    def landmarks(self) -> int:
        """As many as the settings have."""
        asked = self.settings.landmarks
        if asked is None:
            return self.n
        if not isinstance(asked, str):
            return min(self.n, landmark_count(asked))
        if fits(self._whole(self.n)):
            return self.n
        return max(self._least, self._affordable())

    def plan(self, dtype: np.dtype[Any], n_jobs: int | None) -> PathPlan:
        """For rows of this dtype. Made before the graph is, which takes its part of the memory."""
        settings, count, asked = self.settings, self.landmarks(), self.settings.landmarks
        named = not (asked is None or isinstance(asked, str | Integral))
        if self.in_file and count >= self.n:
            check_room(settings.storage, (self.n, self.n), dtype)  # now, not after the neighbours are found
        return PathPlan(
            count=count,
            given=given_landmarks(asked, self.n) if named else None,
            auto=isinstance(asked, str),
            choice=settings.landmark_choice,
            conformal=settings.conformal,
            storage=settings.storage,
            dtype=np.dtype(np.float32) if settings.storage == "float32" else dtype,
            least=self._least,
            n_jobs=n_jobs,
        )

    def advice(self) -> list[str]:
        """What else would fit, in words."""
        advice = []
        count, asked = self._affordable(), self.settings.landmarks
        if not isinstance(asked, str) and self._least <= count < self.landmarks():
            need = self._whole(count)
            advice.append(f"or use landmarks={count}, which needs {need / GIGABYTE:.1f} GB")
        file = float(self.n) ** 2 * self.itemsize
        if asked is None and not self.in_file and fits(self._graph + self._squares(self.n)) and file < most_room():
            advice.append(f"or name a folder in storage=, where a file takes {file / GIGABYTE:.1f} GB")
        if asked is None and not self.squares and self.settings.storage != STREAM:
            advice += stream_advice(self.n, *self._passes, self._graph)
        return advice

    @property
    def _passes(self) -> tuple[int, float]:
        """Where nothing is stored: vectors of a pass, and bytes that a strip holds for each row."""
        return stream_width(self.settings.n_components), lanes_of(self.n) * self.itemsize

    @property
    def _graph(self) -> float:
        return graph_memory(self.n, self.settings.n_neighbors)

    def _whole(self, count: int) -> float:
        return self.bytes(count) + self._graph

    @property
    def _least(self) -> int:
        """Fewer have no map of so many dimensions."""
        return max(2, self.settings.n_components + 1)

    def _affordable(self) -> int:
        """The most landmarks that fit into memory, of as many as are worth their time."""
        return largest_that_fits(self._whole, min(self.n // 2, self.most))


def path_gram(paths: SquaredPaths, mass: Floats, repair: Repair | None = None) -> GramKernel:
    """K = −½ H D² H over the vertices, or over the landmarks with what everybody is to them; repaired if asked."""
    if paths.landmarks is None:
        return mercer_gram(paths.values, repair, mass=mass)
    own = paths.values[paths.landmarks].astype(np.float64)
    own = 0.5 * (own + own.T)  # float32 rounds the two ways apart
    gram = mercer_gram(own, repair, mass=mass[paths.landmarks])
    return replace(gram, all_values=paths.values, landmarks=paths.landmarks)


def _in_file(storage: str | PathLike[str]) -> bool:
    return storage not in {"memory", "float32", STREAM}

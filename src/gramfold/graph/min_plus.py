"""Shortest walks by elimination in the (min, +) semiring.

With a fill-reducing order, removing vertex v joins its later neighbours a < b by
w(a, b) = min(w(a, b), w(v, a) + w(v, b)). Then from any sources: up along each source's path to the root of the
elimination tree, and one sweep down, d(v) = min over later neighbours u of d(u) + w(v, u). Between all vertices no way
up is needed: with the sources taken from the last to the first, the walks to all later vertices are known, and a sweep
settles the earlier ones.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from gramfold.direct.elimination import Elimination
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import StopFlag, blocks, run_blocks, stop_flag, thread_count
from gramfold.types import Floats, Graph, Integers, Neighbors

_PAIRS_PER_CALL = 2e8  # of the elimination: a fraction of a second
# Sources carried at once: enough vector registers to hide what a loop costs, few enough for the caches.
_LANES = 128
_LANES_STEP = 16
# Between all vertices: no power of two, or the columns of a tile would crowd into the same lines of the cache.
_TILE = 184
_TILES_PER_GROUP = 6  # whose walks among themselves are found by one thread, and the rest by all


@dataclass(frozen=True)
class EliminatedGraph:
    """The filled structure with its weights once every vertex is eliminated."""

    start: Integers  # (n + 1,)
    filled: Integers  # (fill,) later neighbours of each vertex
    weights: Floats  # (fill,)
    parent: Integers  # (n,) of the elimination tree
    stop: StopFlag

    @classmethod
    def of(cls, graph: Graph, elimination: Elimination, dtype: DTypeLike, stages: Stages) -> Self:
        """Eliminate every vertex."""
        from gramfold.graph.elimination_kernels import eliminate_supernodes, place_lengths

        start, filled = elimination.structure()
        weights = np.empty(len(filled), dtype=dtype)
        edges, stop = graph.lengths, stop_flag()
        place_lengths(edges.indptr, edges.indices, edges.data, start, filled, weights)
        heads = elimination.supernodes()
        owner = np.repeat(np.arange(len(heads) - 1, dtype=np.int32), np.diff(heads))
        pairs = np.concatenate(([0], np.cumsum(elimination.counts.astype(np.float64) ** 2 / 2)))
        calls = pairs[heads[:-1]] // _PAIRS_PER_CALL
        limits = [0, *(np.flatnonzero(np.diff(calls)) + 1).tolist(), len(heads) - 1]

        def work(part: slice) -> None:
            eliminate_supernodes(start, filled, weights, heads, owner, part.start, part.stop, stop)

        # each call needs the ones before it, so they go one by one, but in a thread that an interrupt can stop
        parts = [slice(low, high) for low, high in pairwise(limits)]
        run_blocks(work, parts, n_jobs=1, stages=stages, what="elimination", stop=stop)
        return cls(start, filled, weights, elimination.parent, stop)

    def walks_from(self, sources: Integers, out: Floats, n_jobs: int | None, stages: Stages) -> None:
        """Into out (n, len(sources))."""
        from gramfold.graph.sweep_kernels import sweep

        threads, count = thread_count(n_jobs), len(sources)
        rounds = -(-count // (_LANES * threads))  # of all threads at once, each with as many lanes as the others
        lanes = -(-count // (rounds * threads * _LANES_STEP)) * _LANES_STEP

        def work(part: slice) -> None:
            sweep(*self._structure, self.parent, sources[part], self.stop, self._room(lanes), out[:, part])

        run_blocks(work, blocks(count, lanes), n_jobs, stages=stages, what="geodesics", stop=self.stop)

    def all_pairs(self, out: Floats, n_jobs: int | None, stages: Stages) -> None:
        """Into out (n, n), which is symmetric to the bit."""
        from gramfold.graph.sweep_kernels import sweep_between

        def settle(tile: slice, bottom: int, top: int | None = None) -> None:
            top = tile.stop if top is None else top
            sweep_between(*self._structure, tile.start, tile.stop, top, bottom, self.stop, self._room(_TILE), out)

        groups = blocks(len(out), _TILE * _TILES_PER_GROUP)
        for group in stages.bar(reversed(groups), len(groups), "geodesics"):
            low = group.start
            tiles = [slice(low + tile.start, low + tile.stop) for tile in blocks(group.stop - low, _TILE)]
            within = tiles[::-1]  # from the last to the first
            run_blocks(partial(settle, bottom=low), within, n_jobs=1, stop=self.stop)
            if low:
                run_blocks(partial(settle, bottom=0, top=low), tiles, n_jobs, stop=self.stop)

    def strip(self, part: slice, stop: StopFlag) -> Floats:
        """Walks (part.stop, lanes) from the vertices of the part, a lane for each, to vertices 0 … part.stop − 1.

        Walks to the later ones are those of later strips. Of these only the few are passed through that lie on the way
        of an earlier vertex to the root.
        """
        sources = np.arange(part.start, part.stop)
        later = part.stop + np.flatnonzero(self.earliest[part.stop :] < part.stop)
        work = self._room(-(-len(sources) // _LANES_STEP) * _LANES_STEP)
        work[: part.stop] = np.inf
        work[later] = np.inf
        work[sources, sources - part.start] = 0
        return self._settled(work, np.concatenate([sources, later]), later[::-1], part.stop, stop)

    def walks_of(self, steps: Neighbors, stop: StopFlag) -> Floats:
        """Walks (n, lanes) of points that step onto the graph, a lane for each."""
        from gramfold.graph.strip_kernels import mark_ways

        n, passed = len(self.parent), np.zeros(len(self.parent), dtype=np.bool_)
        mark_ways(self.parent, steps.indices.astype(np.int64), passed)
        work = self._room(-(-len(steps) // _LANES_STEP) * _LANES_STEP)
        work[:] = np.inf
        work[steps.indices, steps.rows] = steps.distances  # each once in a list
        return self._settled(work, np.flatnonzero(passed), np.empty(0, dtype=np.int64), n, stop)

    def _settled(self, work: Floats, climb: Integers, later: Integers, top: int, stop: StopFlag) -> Floats:
        from gramfold.graph.strip_kernels import climb_and_descend

        climb_and_descend(*self._structure, climb, np.ascontiguousarray(later), top, stop, work)
        return work[:top]

    @cached_property
    def earliest(self) -> Integers:
        """The earliest vertex that has each on its way to the root, (n,)."""
        earliest = list(range(len(self.parent)))
        for v, u in enumerate(self.parent.tolist()):  # from the first to the last, so that those below come before
            if u >= 0:
                earliest[u] = min(earliest[u], earliest[v])
        return np.array(earliest)

    @property
    def _structure(self) -> tuple[Integers, Integers, Floats]:
        return self.start, self.filled, self.weights

    def _room(self, lanes: int) -> Floats:
        """Room for the walks of one sweep; made by NumPy, which asks for large pages."""
        return np.empty((len(self.parent), lanes), dtype=self.weights.dtype)

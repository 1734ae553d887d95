"""Shortest paths of small graphs in plain NumPy: the elimination of `min_plus` on a dense matrix, to the same bit.

Each entry is the smallest of the same sums, in whichever order they are compared; so are the paths of Dijkstra's
algorithm, which SciPy has.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from gramfold.direct.elimination import Elimination
from gramfold.runtime.plain import prefer_plain
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Integers

_VERTEX = 6e-5  # seconds: the calls of NumPy for one vertex, in elimination and sweep
_ENTRY = 3e-9  # seconds of a relaxed entry
_USUAL_FILL = 30  # later neighbours of a vertex
_STEPPED = 3e-9  # seconds of an entry of a path, for each neighbour


def plain_paths(n: int, n_sources: int) -> bool:
    """Whether paths from so many of n vertices are found sooner without compiled kernels."""
    seconds = n * _VERTEX + _ENTRY * _USUAL_FILL * float(n) * (n_sources / 2 + _USUAL_FILL)
    return prefer_plain("gramfold.graph.elimination_kernels", seconds, 4.0)


def plain_steps(entries: float) -> bool:
    """The same for one step before so many paths."""
    return prefer_plain("gramfold.graph.walk_kernels", _STEPPED * entries, 1.0)


@dataclass(frozen=True)
class PlainElimination:
    """The graph once every vertex is eliminated."""

    tails: list[Integers]  # later neighbours of each vertex, ascending
    weights: list[Floats]
    symbolic: Elimination

    @classmethod
    def of(cls, lengths: csr_array, dtype: DTypeLike, most: float) -> Self | None:
        """Eliminate the vertices in their order; None above `most` filled entries."""
        n = lengths.shape[0]
        dense = np.full((n, n), np.inf, dtype=dtype)
        rows = np.repeat(np.arange(n), np.diff(lengths.indptr))
        np.minimum.at(dense, (rows, lengths.indices), lengths.data.astype(dtype))
        tails: list[Integers] = []
        weights: list[Floats] = []
        filled = 0
        for v in range(n):
            own = dense[v, v + 1 :]
            tail = np.flatnonzero(own < np.inf)
            filled += len(tail)
            if filled > most:
                return None
            steps = own[tail]
            tail = tail + (v + 1)
            tails.append(tail)
            weights.append(steps)
            among = np.ix_(tail, tail)
            dense[among] = np.minimum(dense[among], steps[:, None] + steps)
        counts = np.array([len(tail) for tail in tails], dtype=np.int64)
        parent = np.array([tail[0] if len(tail) else -1 for tail in tails], dtype=np.int32)
        return cls(tails, weights, Elimination(lengths.indptr, lengths.indices, parent, counts))

    def all_pairs(self, out: Floats, n_jobs: int | None, stages: Stages) -> None:
        """Into out (n, n), which is symmetric to the bit."""
        n = len(self.tails)
        for v in stages.bar(range(n - 1, -1, -1), n, "geodesics"):
            out[v, v] = 0.0
            if v + 1 == n:
                continue
            tail, steps = self.tails[v], self.weights[v]
            later = slice(v + 1, n)
            found = np.min(out[tail, later] + steps[:, None], axis=0, initial=np.inf)
            out[v, later] = out[later, v] = found

    def walks_from(self, sources: Integers, out: Floats, n_jobs: int | None, stages: Stages) -> None:
        """Into out (n, len(sources))."""
        out[:] = np.inf
        out[sources, np.arange(len(sources))] = 0.0
        n = len(self.tails)
        for v in stages.bar(range(n), n, "geodesics"):  # up: to the later vertices
            tail, steps = self.tails[v], self.weights[v]
            out[tail] = np.minimum(out[tail], out[v] + steps[:, None])
        for v in range(n - 1, -1, -1):  # down
            tail, steps = self.tails[v], self.weights[v]
            if len(tail):
                np.minimum(out[v], (out[tail] + steps[:, None]).min(axis=0), out=out[v])


def step_then_walk(indptr: Integers, indices: Integers, steps: Floats, walks: Floats, out: Floats) -> None:
    """out[x, j] = (min over x's neighbours i of step(x, i) + walks[i, j])²."""
    for x in range(len(out)):
        near = slice(indptr[x], indptr[x + 1])
        out[x] = np.square(np.min(walks[indices[near]] + steps[near, None], axis=0, initial=np.inf))

"""Nested dissection: separators come last, so that eliminating one side never touches the other.

Breadth-first levels of a part, from a peripheral vertex, lie across it. In a band of levels in the middle a maximum
flow finds the smallest vertex separator, and both sides are divided again. On graphs of low intrinsic dimension
separators are small, and the filled structure stays sparse.
George, Liu, Computer Solution of Large Sparse Positive Definite Systems (1981), chapter 8.
"""

import math
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from gramfold.direct.permutation import renumbered
from gramfold.runtime.threads import run_blocks
from gramfold.types import Integers

_LEAF = 12  # smaller parts are not worth a cut
_LARGE = 50_000  # parts up to this size are cut to the end in one call


class Dissection:
    """Nested dissection of a symmetric graph without a diagonal, which is cut in two at first."""

    def __init__(self, graph: csr_array) -> None:
        from gramfold.direct.dissection_kernels import visit

        n = graph.shape[0]
        owner, level, queue, before = (np.zeros(n, dtype=np.int32) for _ in range(4))
        steps, path, tried = (np.zeros(2 * n, dtype=np.int32) for _ in range(3))
        visit(graph.indptr, graph.indices, owner, level, queue)
        self._visited = queue.copy()
        graph = renumbered(graph, self._visited)  # neighbours near each other in memory, which is faster
        self._found = np.arange(n, dtype=np.int32)
        edges = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
        self._work = edges, self._found, owner, level, queue, before, steps, path, tried
        self.sides = self._cut(slice(0, n))  # of the order; none where there are too few levels to cut

    @property
    def order(self) -> Integers:
        """(n,) one side, the other, the separator, neighbours near each other."""
        return self._visited[self._found]

    @property
    def separator(self) -> int:
        """Number of vertices in the first separator; all of them where nothing was cut.

        Eliminating both sides fills it in completely, so this predicts the densest block of any order.
        """
        return _separator(slice(0, len(self._found)), self.sides)

    def finish(self, n_jobs: int | None = None, widest: float = np.inf, *, large: int = _LARGE) -> Integers | None:
        """Cut both sides recursively: the vertices in the order of their elimination.

        None as soon as the separator of a part of more than `large` vertices takes more than `widest` times the root of
        its size.
        """
        parts, found, small = [slice(0, len(self._found))], [self.sides], []
        while parts:
            if any(map(partial(_is_wide, widest=widest), parts, found)):
                return None
            sides = [side for sides in found for side in sides]
            small += [part for part in sides if _size(part) <= large]
            parts = [part for part in sides if _size(part) > large]
            found = run_blocks(self._cut, parts, n_jobs)
        run_blocks(self._cut_to_leaves, small, n_jobs)
        return self.order.astype(np.intp)

    def _cut(self, part: slice) -> list[slice]:
        first, second = self._dissect(part, leaf=0, once=True)
        return [slice(part.start, first), slice(first, second)] if first < part.stop else []

    def _cut_to_leaves(self, part: slice) -> None:
        self._dissect(part, leaf=_LEAF, once=False)

    def _dissect(self, part: slice, leaf: int, *, once: bool) -> list[int]:
        from gramfold.direct.dissection_kernels import dissect

        ends = np.full(2, part.stop)
        dissect(*self._work, part.start, part.stop, leaf, once, ends)
        return ends.tolist()


def _size(part: slice) -> int:
    return int(part.stop - part.start)


def _separator(part: slice, sides: list[slice]) -> int:
    return _size(part) - sum(map(_size, sides))


def _is_wide(part: slice, sides: list[slice], widest: float) -> bool:
    return _separator(part, sides) > widest * math.sqrt(_size(part))

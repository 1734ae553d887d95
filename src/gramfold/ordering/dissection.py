"""Nested dissection: separators last, so that eliminating one side never touches the other.

A breadth-first level of a part, from a vertex at its rim, cuts it in two; both sides are cut again. On graphs of low
intrinsic dimension levels are short, and the filled structure stays sparse.
George, Liu, Computer Solution of Large Sparse Positive Definite Systems (1981), chapter 8.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramfold.runtime.threads import run_blocks
from gramfold.types import Integers

_LEAF = 24  # smaller parts are not worth a cut
_LARGE = 50_000  # parts up to this size are cut to the end in one call, each in a thread of its own


def nested_dissection(graph: csr_array, n_jobs: int | None = None) -> Integers:
    """The vertices in the order of their elimination; `graph` is symmetric, without a diagonal."""
    from gramfold.ordering.dissection_kernels import cut_once, dissect

    work, order = _work(graph)
    large, small = [(0, len(order))], []
    ends = np.empty(2, dtype=np.int64)
    while large:
        lo, hi = large.pop()
        if hi - lo <= _LARGE:
            small.append(slice(lo, hi))
            continue
        cut_once(*work, lo, hi, ends)
        first, second = int(ends[0]), int(ends[1])
        if first < hi:
            large += [(lo, first), (first, second)]
    run_blocks(lambda part: dissect(*work, part.start, part.stop, _LEAF), small, n_jobs)
    return order.astype(np.intp)


@dataclass(frozen=True)
class FirstCut:
    """The first cut of a connected graph."""

    separator: int  # how many vertices it takes; all of them where there are too few levels to cut
    order: Integers  # (n,) one side, the other, the separator, neighbours near each other


def first_cut(graph: csr_array) -> FirstCut:
    """Cut a connected graph in two.

    Eliminating what the separator parts fills it in wholly, so its size forecasts how dense the densest part of any
    order will be.
    """
    from gramfold.ordering.dissection_kernels import cut_once

    work, order = _work(graph)
    ends = np.empty(2, dtype=np.int64)
    cut_once(*work, 0, len(order), ends)
    return FirstCut(len(order) - int(ends[1]) if ends[0] < len(order) else len(order), order)


def _work(graph: csr_array) -> tuple[tuple[Integers, ...], Integers]:
    """What the kernels read and write, and of it the order."""
    n = graph.shape[0]
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    order = np.arange(n, dtype=np.int32)
    owner, level, queue = (np.zeros(n, dtype=np.int32) for _ in range(3))
    return (indptr, indices, order, owner, level, queue), order

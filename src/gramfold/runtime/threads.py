"""A pool of threads over blocks of work that release the interpreter's lock.

Results come back in block order, so that sums over them do not depend on the number of threads.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from gramfold.errors import InputError
from gramfold.runtime.progress import SILENT, Stages

Part = TypeVar("Part")
Result = TypeVar("Result")
StopFlag = NDArray[np.uint8]


def thread_count(n_jobs: int | None) -> int:
    """None and -1 mean every core this process may use, -2 all but one, and so on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise InputError("n_jobs=0 asks for no thread at all: use None for every core, or a positive number.")
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:  # noqa: ARG001  a new module may have brought a new library
    return ThreadpoolController()  # looks through every library that is loaded: milliseconds


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Linear algebra on so many threads."""
    with _libraries(len(sys.modules)).limit(limits=count, user_api="blas"):
        yield


def one_blas_thread() -> AbstractContextManager[None]:
    """Linear algebra on one thread: where the pool's own are enough, or matrices are small and threads only wait."""
    return blas_threads(1)


def stop_flag() -> StopFlag:
    """A flag that long kernels look at, so that an interrupt ends them at once."""
    return np.zeros(1, dtype=np.uint8)


def blocks(n: int, size: int) -> list[slice]:
    """Consecutive slices of at most `size` that cover range(n)."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def run_blocks(
    work: Callable[[Part], Result],
    parts: list[Part],
    n_jobs: int | None = None,
    *,
    stages: Stages = SILENT,
    what: str = "blocks",
    stop: StopFlag | None = None,
) -> list[Result]:
    """Run `work` on every part, mostly a slice, and return the results in their order.

    On an interrupt or an error the blocks not yet begun are dropped and `stop` is raised for those under way.
    """
    threads = min(thread_count(n_jobs), len(parts))
    if threads <= 1 and stop is None:
        return [work(part) for part in stages.bar(parts, len(parts), what)]
    pool = ThreadPoolExecutor(max(threads, 1))  # even one thread: the main one hears the interrupt meanwhile
    try:
        return list(stages.bar(pool.map(work, parts), len(parts), what))
    except BaseException:
        if stop is not None:
            stop[0] = 1
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)

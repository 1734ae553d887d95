"""A pool of threads over blocks of work that release the interpreter's lock.

Results come back in block order, so that sums over them do not depend on the number of threads.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from threading import Lock, get_ident, local
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from gramfold.errors import InputError
from gramfold.runtime.interrupts import uninterrupted
from gramfold.runtime.progress import SILENT, Stages

Part = TypeVar("Part")
Result = TypeVar("Result")
StopFlag = NDArray[np.uint8]
_MOST_THREADS = 1_024  # more than anybody has use for; libraries end the process at absurd numbers


def thread_count(n_jobs: Any) -> int:
    """None and -1 mean every core this process may use, -2 all but one, and so on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise InputError(f"n_jobs={n_jobs!r} is no number of threads: use None for every core, or a whole number.")
    if n_jobs == 0:
        raise InputError("n_jobs=0 asks for no thread at all: use None for every core, or a positive number.")
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else min(int(n_jobs), _MOST_THREADS)


@dataclass(frozen=True)
class _Libraries:
    """What is loaded, and of it the linear algebra that has one number of threads, or one for each calling thread."""

    loaded: ThreadpoolController
    of_process: ThreadpoolController
    of_thread: ThreadpoolController


@lru_cache(maxsize=1)
def _libraries(modules: int) -> _Libraries:  # noqa: ARG001  a new module may have brought a new library
    loaded = ThreadpoolController()  # looks through every library that is loaded: milliseconds
    blas = loaded.select(user_api="blas").lib_controllers
    # OpenBLAS on OpenMP, such as that of faiss
    of_thread = [library.filepath for library in blas if getattr(library, "threading_layer", None) == "openmp"]
    of_process = [library.filepath for library in blas if library.filepath not in of_thread]
    return _Libraries(loaded, loaded.select(filepath=of_process), loaded.select(filepath=of_thread))


@dataclass(eq=False)
class _Limit:
    """A limit that is asked for by a thread."""

    count: int
    thread: int


class _BlasLimits:
    """Limits on the threads of linear algebra that hold at present, in the process or in one of its threads.

    Limits of several threads, or one within another, may overlap: the smallest of them holds, and the last one out
    restores what was there before the first.
    """

    def __init__(self, scope: Literal["of_process", "of_thread"]) -> None:
        self._scope = scope
        self._lock = Lock()
        self._asked: list[_Limit] = []
        self._set: tuple[int, ThreadpoolController] | None = None
        self._before: list[tuple[ThreadpoolController, Any]] = []  # what restores; libraries loaded later come last

    def enter(self, limit: _Limit) -> None:
        """Ask for a limit."""
        with self._lock:
            self._asked.append(limit)
            self._hold()

    def leave(self, limit: _Limit) -> None:
        """Ask for it no longer."""
        with self._lock:
            if limit in self._asked:
                self._asked.remove(limit)
                self._hold()

    def before_fork(self) -> None:
        """Wait until nobody is setting a limit: a child would be left with half of it."""
        self._lock.acquire()

    def after_fork(self) -> None:
        """In the parent."""
        self._lock.release()

    def in_child(self) -> None:
        """Of all threads only the one that forked is there, so that nobody will let the limits of others go."""
        try:
            if self._asked:
                self._asked = [limit for limit in self._asked if limit.thread == get_ident()]
                self._hold()
        finally:
            self._lock.release()

    def _hold(self) -> None:
        """Set the smallest limit that is asked for."""
        if not self._asked:
            while self._before:
                limited, limiter = self._before.pop()
                with _all_may_set(limited):
                    limiter.restore_original_limits()
            self._set = None
            return
        libraries: ThreadpoolController = getattr(_libraries(len(sys.modules)), self._scope)
        state = min(limit.count for limit in self._asked), libraries
        if state == self._set:
            return
        with _all_may_set(libraries):
            limiter = libraries.limit(limits=state[0], user_api="blas")
        if self._set is None or libraries is not self._set[1]:
            self._before.append((libraries, limiter))
        self._set = state


@contextmanager
def _all_may_set(libraries: ThreadpoolController) -> Iterator[None]:
    """For threadpoolctl 3.8, which lets one thread set limits and ignores all others until that one is done."""
    held = [library for library in libraries.lib_controllers if hasattr(library, "clear_controlling_thread")]
    for library in held:
        library.clear_controlling_thread(force=True)
    yield
    for library in held:
        library.clear_controlling_thread(force=True)


class _OfThread(local):
    """What each thread has for itself."""

    def __init__(self) -> None:
        self.limits = _BlasLimits("of_thread")


_of_process, _of_thread = _BlasLimits("of_process"), _OfThread()
_LOADED_IN = os.getpid()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_of_process.before_fork,
        after_in_parent=_of_process.after_fork,
        after_in_child=_of_process.in_child,
    )


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Linear algebra on at most so many threads."""
    limit, own = _Limit(count, get_ident()), _of_thread.limits
    try:
        with uninterrupted():
            _of_process.enter(limit)
            own.enter(limit)
        yield
    finally:  # also where a library refused the number: it would be refused for ever
        with uninterrupted():
            own.leave(limit)
            _of_process.leave(limit)


def in_forked_child() -> bool:
    """Whether this process was forked from one that had loaded this module."""
    return os.getpid() != _LOADED_IN


@contextmanager
def openmp_threads() -> Iterator[None]:
    """Around calls of scikit-learn that run loops by OpenMP: on one thread in a forked child.

    A child has none of the threads that such loops of its parent have left waiting, and would wait for them for ever.
    Within the loops scikit-learn limits linear algebra to one thread; called in several threads at once it would leave
    it there, unless the limit is ours already.
    """
    with one_blas_thread():
        if not in_forked_child():
            yield
            return
        with _libraries(len(sys.modules)).loaded.limit(limits=1, user_api="openmp"):  # of the calling thread alone
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

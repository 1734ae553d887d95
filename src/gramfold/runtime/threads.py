"""Run blocks of work that release the interpreter's lock in a pool of threads.

Results are returned in block order, so that sums over them do not depend on the number of threads.

BLAS has one thread while an estimator works, and the pool runs blocks of products beside each other. Threads of
OpenBLAS spin until the slowest of them is done: where another process takes one core, each of thousands of small
products waits for its turn on that core, and a fit takes 10 to 30 times as long. Threads of the pool take the next
block when they are free, and none waits for another.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
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
from gramfold.runtime.progress import SILENT, Stages, beat, listened

Part = TypeVar("Part")
Result = TypeVar("Result")
StopFlag = NDArray[np.uint8]
# Entries of a matrix that a few vectors are multiplied with: 4 ms of work, from which on several threads pay, and the
# most of them in a block.
_ENTRIES_PER_THREAD, _ENTRIES_PER_TASK = 3e6, 2e6
_PATIENCE = 0.3  # seconds after which a block that is not done is said to be under way
_MOST_THREADS = 1_024  # more than any machine can use; some libraries abort the process for absurd numbers


class _Asked(local):
    """The number of threads that the estimator at work in a thread was asked for, and its pool, once it needed one.

    A pool takes 2 ms to start, as much as some of the blocks that a fit has thousands of.
    """

    count: int | None = None
    pool: ThreadPoolExecutor | None = None


_asked = _Asked()


def thread_count(n_jobs: Any) -> int:
    """Number of threads for `n_jobs`: -1 means every core of this process, -2 all but one, and so on.

    None is what the estimator at work was asked for, else every core.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return _asked.count or cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise InputError(f"n_jobs={n_jobs!r} is not a number of threads: use None for every core, or an integer.")
    if n_jobs == 0:
        raise InputError("n_jobs=0 is not a number of threads: use None for every core, or a positive integer.")
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else min(int(n_jobs), _MOST_THREADS)


@dataclass(frozen=True)
class _Libraries:
    """Loaded libraries, and among them BLAS with one number of threads per process, or one per calling thread."""

    loaded: ThreadpoolController
    of_process: ThreadpoolController
    of_thread: ThreadpoolController


@lru_cache(maxsize=1)
def _libraries(modules: int) -> _Libraries:  # noqa: ARG001  a new module may have brought a new library
    loaded = ThreadpoolController()  # scans every loaded library, which takes milliseconds
    blas = loaded.select(user_api="blas").lib_controllers
    # OpenBLAS on OpenMP, such as that of faiss
    of_thread = [library.filepath for library in blas if getattr(library, "threading_layer", None) == "openmp"]
    of_process = [library.filepath for library in blas if library.filepath not in of_thread]
    return _Libraries(loaded, loaded.select(filepath=of_process), loaded.select(filepath=of_thread))


@dataclass(eq=False)
class _Limit:
    """A limit that a thread has requested."""

    count: int
    thread: int


class _BlasLimits:
    """Current limits on the number of BLAS threads, of the process or of one of its threads.

    Of nested limits the innermost applies, and of those of several threads the smallest; never more threads than there
    were before the first. When the last one ends, that number is restored.
    """

    def __init__(self, scope: Literal["of_process", "of_thread"]) -> None:
        self._scope = scope
        self._lock = Lock()
        self._asked: list[_Limit] = []
        self._set: tuple[int, ThreadpoolController] | None = None
        self._before: list[tuple[ThreadpoolController, Any]] = []  # they restore it; libraries loaded later come last
        self._most = 1  # threads before the first limit

    def holds(self, limit: _Limit) -> bool:
        """Whether the innermost limit of its thread is the same."""
        with self._lock:
            mine = [known.count for known in self._asked if known.thread == limit.thread]
            known = getattr(_libraries(len(sys.modules)), self._scope)
            return bool(mine) and mine[-1] == limit.count and self._set is not None and self._set[1] is known

    def enter(self, limit: _Limit) -> None:
        """Request a limit."""
        with self._lock:
            self._asked.append(limit)
            self._hold()

    def leave(self, limit: _Limit) -> None:
        """Withdraw a limit."""
        with self._lock:
            if limit in self._asked:
                self._asked.remove(limit)
                self._hold()

    def before_fork(self) -> None:
        """Wait until no limit is being set, so that a child does not inherit half of it."""
        self._lock.acquire()

    def after_fork(self) -> None:
        """Release the lock in the parent."""
        self._lock.release()

    def in_child(self) -> None:
        """Drop the limits of other threads: a child has only the thread that forked, and they would never end."""
        try:
            if self._asked:
                self._asked = [limit for limit in self._asked if limit.thread == get_ident()]
                self._hold()
        finally:
            self._lock.release()

    def _hold(self) -> None:
        """Apply the smallest of the limits that the threads are in."""
        if not self._asked:
            while self._before:
                limited, limiter = self._before.pop()
                with _all_may_set(limited):
                    limiter.restore_original_limits()
            self._set = None
            return
        libraries: ThreadpoolController = getattr(_libraries(len(sys.modules)), self._scope)
        if self._set is None:
            self._most = max((library.num_threads for library in libraries.lib_controllers), default=1)
        innermost = {limit.thread: limit.count for limit in self._asked}  # the last of each thread
        state = min(self._most, *innermost.values()), libraries
        if state == self._set:
            return
        with _all_may_set(libraries):
            limiter = libraries.limit(limits=state[0], user_api="blas")
        if self._set is None or libraries is not self._set[1]:
            self._before.append((libraries, limiter))
        self._set = state


@contextmanager
def _all_may_set(libraries: ThreadpoolController) -> Iterator[None]:
    """Let all threads set limits: threadpoolctl 3.8 lets one do so and ignores all others until it is done."""
    held = [library for library in libraries.lib_controllers if hasattr(library, "clear_controlling_thread")]
    for library in held:
        library.clear_controlling_thread(force=True)
    yield
    for library in held:
        library.clear_controlling_thread(force=True)


class _OfThread(local):
    """Limits of each thread."""

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
    """Give BLAS `count` threads, or as many as it has outside of all limits if that is fewer."""
    limit, own = _Limit(count, get_ident()), _of_thread.limits
    try:
        # where nothing is set, nothing can be left half done
        with nullcontext() if _of_process.holds(limit) and own.holds(limit) else uninterrupted():
            _of_process.enter(limit)
            own.enter(limit)
        yield
    finally:  # also where a library refused the number, which would otherwise be refused for ever
        with uninterrupted():
            own.leave(limit)
            _of_process.leave(limit)


def in_forked_child() -> bool:
    """Whether this process was forked from one that had loaded this module."""
    return os.getpid() != _LOADED_IN


@contextmanager
def openmp_threads(entries: float = np.inf) -> Iterator[None]:
    """Context for scikit-learn functions that use OpenMP: in a forked child they run on one thread.

    So they do where they touch few entries in each pass: threads of OpenMP spin until the slowest is done, and beside
    other work each of thousands of short loops waits for its turn.

    OpenMP keeps the threads of earlier loops waiting. They do not exist in a forked child, which would wait for them
    for ever. Within such loops scikit-learn limits BLAS to one thread; called from several threads at once it would not
    restore the number, unless the limit is set here already.
    """
    with one_blas_thread():
        if not in_forked_child() and entries >= _ENTRIES_PER_THREAD:
            yield
            return
        with _libraries(len(sys.modules)).loaded.limit(limits=1, user_api="openmp"):  # of the calling thread only
            yield


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread, where the threads of the pool are enough or matrices are small."""
    return blas_threads(1)


@contextmanager
def at_work(n_jobs: int | None) -> Iterator[None]:
    """Within it an estimator works: with so many threads of the pool, and one of BLAS."""
    before = dict(vars(_asked))
    vars(_asked).update(count=thread_count(n_jobs), pool=None)
    try:
        with one_blas_thread():
            yield
    finally:
        if _asked.pool is not None:
            _asked.pool.shutdown()
        vars(_asked).clear()
        vars(_asked).update(before)


def stop_flag() -> StopFlag:
    """Flag that long kernels check, so that an interrupt ends them at once."""
    return np.zeros(1, dtype=np.uint8)


def blocks(n: int, size: int) -> list[slice]:
    """Consecutive slices of at most `size` that cover range(n)."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def in_blocks(work: Callable[[slice], None], n: int, entries: float, n_jobs: int | None = None) -> None:
    """Run `work` on slices of range(n), in several threads where it touches so many entries that this pays."""
    if entries < _ENTRIES_PER_THREAD:
        work(slice(0, n))
    else:
        with one_blas_thread():
            run_blocks(work, blocks(n, max(1, int(n * _ENTRIES_PER_TASK // entries))), n_jobs)


def run_blocks(
    work: Callable[[Part], Result],
    parts: list[Part],
    n_jobs: int | None = None,
    *,
    stages: Stages = SILENT,
    what: str = "blocks",
    stop: StopFlag | None = None,
) -> list[Result]:
    """Run `work` on every part, mostly a slice, and return the results in the order of the parts.

    On an interrupt or an error the blocks not yet begun are dropped and `stop` is raised for those under way.
    """
    threads = thread_count(n_jobs)
    if min(threads, len(parts)) <= 1 and stop is None:
        return [work(part) for part in stages.bar(parts, len(parts), what)]
    with _pool(threads, len(parts)) as pool:  # even for one thread, so that the main thread can receive an interrupt
        begun: list[Future[Result]] = []
        try:
            begun.extend(pool.submit(work, part) for part in parts)
            return [_result(block) for block in stages.bar(begun, len(parts), what)]
        except BaseException:
            if stop is not None:
                stop[0] = 1
            raise
        finally:
            for block in begun:
                block.cancel()
            wait(begun)


def _result(block: Future[Result]) -> Result:
    """What a block gives, once it is done; who listens is told meanwhile that work goes on, and can end it."""
    while listened() and not wait([block], _PATIENCE).done:
        beat(0)
    return block.result()


@contextmanager
def _pool(threads: int, most: int) -> Iterator[ThreadPoolExecutor]:
    """The pool of the estimator at work in this thread, else one for the occasion."""
    if threads == _asked.count:
        _asked.pool = _asked.pool or ThreadPoolExecutor(threads)
        yield _asked.pool
        return
    with ThreadPoolExecutor(max(1, min(threads, most))) as pool:
        yield pool

"""The one decorator for compiled kernels. Importing this module loads numba: rooms do so inside `fit`.

A kernel works on one block (at most about 100 ms) without the interpreter's lock; `run_blocks` spreads the
blocks over threads. Never `parallel=True` (it breaks after a fork and sums differently by thread count) and
never `fastmath` (it breaks infinities).

Machine code is kept on disk with a digest of its bytes. Code that was damaged there, or cannot be kept, is compiled
again, with one warning: numba itself raises whatever its unpickler does, and runs damaged machine code. Where compiling
takes more than a second, one line says so, once on each machine.
"""

import logging
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from hashlib import sha256
from pathlib import Path
from threading import Lock, Timer
from time import perf_counter
from typing import Any

import numpy as np

from gramfold.errors import CompileCacheWarning
from gramfold.runtime.interrupts import uninterrupted
from gramfold.runtime.warning import warn

with uninterrupted():  # imported in part, numba cannot be imported again
    import numba
    import numba.core.caching
    import numba.core.serialize

log = logging.getLogger("gramfold")
# for plain Python: compiled code never warns of a float that overflows or is NaN, and raises on a division by 0
_as_compiled = np.errstate(over="ignore", invalid="ignore", divide="raise")
_numba: Any = numba.core  # typed in part: its cache is not
_TOLD: set[str] = set()  # troubles with the cache that were warned of: one warning each in a process, for all kernels


def kernel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile `function` when it is first called, and keep the machine code on disk for the next process.

    With NUMBA_DISABLE_JIT=1 it stays plain Python, so that a debugger can step into it.
    """
    if _numba.config.DISABLE_JIT:
        return _as_compiled(function)
    dispatcher = _dispatcher(function)
    told: set[Any] = set()  # signatures compiled here, each said once however many threads waited for it

    @wraps(function)
    def run(*arrays: Any) -> None:
        known = len(dispatcher.signatures)
        started = perf_counter()
        try:
            dispatcher(*arrays)
        except BaseException:
            _wait.end()
            raise
        if len(dispatcher.signatures) > known:
            compiled = dispatcher.stats.cache_misses.keys() - told  # the others came from disk
            told.update(compiled)
            if compiled:
                log.info(
                    "compiled %s (%.1f s, including the first call; cached on this machine)",
                    function.__name__,
                    perf_counter() - started,
                )

    return run


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that kernels call and that is too long to be copied into each of them."""
    return numba.njit(nogil=True)(function)


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """A small function that kernels call; compiled into each of them."""
    return numba.njit(inline="always")(function)


def _dispatcher(function: Callable[..., None]) -> Any:
    dispatcher: Any = numba.njit(nogil=True)(function)
    try:
        dispatcher._cache = _CheckedCache(function)  # noqa: SLF001 - as `enable_caching` does with numba's own
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _tell(
            "no cache folder for compiled code is writable, so the code is compiled again in each process: set "
            "NUMBA_CACHE_DIR to a writable folder.",
            "no folder",
        )
    return dispatcher


class DamagedCacheError(Exception):
    """What was kept on disk is not what was written there."""


class _WithDigest(_numba.caching.CompileResultCacheImpl):
    """Compiled code as bytes, and their digest: damaged code may load, and then end the process when it runs."""

    def reduce(self, cres: Any) -> Any:
        code = _numba.serialize.dumps(super().reduce(cres))
        return sha256(code).digest(), code

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        if len(payload) != 2:
            return None  # as numba writes it, without a digest: compiled again
        digest, code = payload
        if sha256(code).digest() != digest:
            raise DamagedCacheError("its checksum does not match")
        return super().rebuild(target_context, pickle.loads(code))


class _CheckedCache(_numba.caching.FunctionCache):
    """A cache that is never a reason to fail: what it cannot give is compiled."""

    _impl_class = _WithDigest

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            kept = super().load_overload(sig, target_context)
        except Exception as error:  # noqa: BLE001 - damaged bytes make an unpickler raise anything
            found = f"{type(error).__name__}: {error}"
        else:
            if kept is None:
                _wait.begin(self.cache_path)
            return kept
        try:
            self.flush()  # the index forgets it, so that what is compiled now takes its place
        except OSError as error:
            self.disable()
            self._tell_of_writing(error)
        _tell(
            f"the cached compiled code in '{self.cache_path}' is damaged ({found}) and is compiled again. No action is "
            "needed; if this warning recurs, delete that folder.",
            "damaged",
        )
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        _wait.end()
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self._tell_of_writing(error)

    def _tell_of_writing(self, error: OSError) -> None:
        _tell(
            f"compiled code could not be cached in '{self.cache_path}' ({error.strerror or error}), so it is compiled "
            "again in each process: free disk space, or set NUMBA_CACHE_DIR to another folder.",
            "not kept",
        )


class _Wait:
    """The user's wait for compiled code: above a second it is explained, once on each machine."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._spent, self._begun = 0.0, 0.0
        self._timer: Timer | None = None

    def begin(self, folder: str) -> None:
        """A kernel is about to be compiled."""
        with self._lock:
            if self._timer is None and self._spent < _PATIENCE:
                self._begun = perf_counter()
                self._timer = Timer(_PATIENCE - self._spent, self._explain, [_beside_all(Path(folder)) / _EXPLAINED])
                self._timer.daemon = True
                self._timer.start()

    def end(self) -> None:
        """It is compiled."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
                self._spent += perf_counter() - self._begun

    def _explain(self, mark: Path) -> None:
        with self._lock:
            self._spent = _PATIENCE
        if mark.exists():
            return
        log.warning(
            "gramfold is compiling code for this machine, which takes a few seconds and happens once: it is kept in "
            "'%s'.",
            mark.parent,
        )
        with suppress(OSError):  # then it is explained again by the next process, which compiles again too
            mark.touch()


def _beside_all(folder: Path) -> Path:
    """A folder that all kernels share, from that of one: beside the package, or where numba has a folder for each."""
    return Path(__file__).parents[1] / "__pycache__" if folder.name == "__pycache__" else folder.parent


_PATIENCE = 1.0  # seconds
_EXPLAINED = "gramfold-compiles.told"
_wait = _Wait()


def _tell(sentence: str, trouble: str) -> None:
    if trouble not in _TOLD:
        _TOLD.add(trouble)
        warn(sentence, CompileCacheWarning)

"""The one decorator for compiled kernels. Importing this module loads numba: rooms do so inside `fit`.

A kernel works on one block (at most about 100 ms) without the interpreter's lock; `run_blocks` spreads the
blocks over threads. Never `parallel=True` (it breaks after a fork and sums differently by thread count) and
never `fastmath` (it breaks infinities).
"""

import logging
import warnings
from collections.abc import Callable
from functools import wraps
from time import perf_counter
from typing import Any

import numba

from gramfold.errors import CompileCacheWarning

log = logging.getLogger("gramfold")


def kernel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile `function` when it is first called, and keep the machine code on disk for the next process."""
    dispatcher = _dispatcher(function)
    told: set[Any] = set()  # signatures compiled here, each said once however many threads waited for it

    @wraps(function)
    def run(*arrays: Any) -> None:
        known = len(dispatcher.signatures)
        started = perf_counter()
        dispatcher(*arrays)
        if len(dispatcher.signatures) > known:
            compiled = dispatcher.stats.cache_misses.keys() - told  # the others came from disk
            told.update(compiled)
            if compiled:
                log.info(
                    "compiled %s (%.1f s with its first block, once per machine)",
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
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        warnings.warn(
            "no folder is writable for compiled code, so it is compiled anew in each process: "
            "set NUMBA_CACHE_DIR to a folder that is.",
            CompileCacheWarning,
            stacklevel=2,
        )
        return numba.njit(nogil=True)(function)

"""Memory forecast: raise an error before the work begins if it would not fit."""

import math
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from gramfold.errors import MemoryForecastError

GIGABYTE = 1e9
# The rest is left for the interpreter, the solver's vectors and other processes.
USABLE_SHARE = 0.9
_LASTS = 0.1  # seconds for which an answer of the system's is good: asking takes as long as reading a small table
# Of a container: limit, bytes used, and bytes of files that give way when memory is asked for (cgroup 2 and 1).
_CGROUP = Path("/sys/fs/cgroup")
_CGROUP_FILES = [
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
]


def available_memory() -> float:
    """Bytes that this process may still take: the least of what machine, container and its own limit leave."""
    return _available(time.monotonic() // _LASTS)


@lru_cache(maxsize=1)
def _available(moment: float) -> float:  # noqa: ARG001  asked of the system once in a moment
    import psutil

    return min(float(psutil.virtual_memory().available), _container_memory(), _below_own_limit())


def _container_memory() -> float:
    for *files, reclaimable in _CGROUP_FILES:
        try:
            limit, used, stat = ((_CGROUP / file).read_text().strip() for file in files)
        except OSError:
            continue
        if limit.isdigit():  # not "max"
            freed = dict(line.split() for line in stat.splitlines()).get(reclaimable, 0)
            return max(0.0, float(limit) - float(used) + float(freed))
    return math.inf


def _below_own_limit() -> float:
    """Of the address space that the process was limited to (ulimit -v); the system refuses what is beyond."""
    if sys.platform == "win32":
        return math.inf
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return math.inf
    import psutil

    return max(0.0, float(limit) - float(psutil.Process().memory_info().vms))


def fits(need: float) -> bool:
    """Whether this many bytes fit in memory."""
    return need <= USABLE_SHARE * available_memory()


def largest_that_fits(need: Callable[[int], float], at_most: int, free: float | None = None) -> int:
    """Largest n up to `at_most` whose `need(n)` fits in memory; `need` grows with n."""
    budget = USABLE_SHARE * (available_memory() if free is None else free)
    low, high = 0, at_most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if need(middle) <= budget else (low, middle - 1)
    return low


def require_memory(
    name: str,
    need: Callable[[int], float],
    n: int,
    advice: str = "and embed the other rows with transform()",
    instead: Callable[[], list[str]] = list,
    least: int = 2,
    fewer: str = "fit on at most {:,} rows",
) -> None:
    """Raise an error if `need(n)` bytes do not fit, with what would fit.

    It suggests a number of rows, if at least `least` fit, as `fewer` says, with `advice` on the others, and what
    `instead` returns.
    """
    wanted, free = need(n), available_memory()
    if wanted <= USABLE_SHARE * free:
        return
    rows = largest_that_fits(need, n, free)
    few = f"{fewer.format(rows)} ({need(rows) / GIGABYTE:.1f} GB) {advice}"
    raise MemoryForecastError(
        f"{name} on {n:,} rows needs {wanted / GIGABYTE:.1f} GB, but only {free / GIGABYTE:.1f} GB are free: "
        + ", ".join([few if rows >= least else f"not even {least:,} rows fit, so free some memory", *instead()])
        + ".",
        wanted,
    )


_LESS = (
    "pass fewer rows, float32 instead of float64, or a read-only memory map (numpy.load(..., mmap_mode='r')), which is "
    "not copied"
)


def require_room(size: float, what: str, change: str = _LESS) -> None:
    """Raise an error if this many bytes for `what` do not fit; `change` says what to do."""
    free = available_memory()
    if size > USABLE_SHARE * free:
        raise MemoryForecastError(
            f"{what} needs {size / GIGABYTE:.1f} GB, but only {free / GIGABYTE:.1f} GB are free: {change}.", size
        )

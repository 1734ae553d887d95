"""Forecast of memory: what would not fit is refused before the work begins."""

import math
from collections.abc import Callable
from pathlib import Path

from gramfold.errors import MemoryForecastError

GIGABYTE = 1e9
# Room left for the interpreter, the solver's vectors and everybody else on the machine.
USABLE_SHARE = 0.9
_CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> float:
    """Bytes that this process may still take: the machine's free memory, or its container's if less."""
    import psutil

    return min(float(psutil.virtual_memory().available), _container_memory())


def _container_memory() -> float:
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
        stat = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
    except OSError:
        return math.inf
    # files read lately count as used, and give way when memory is asked for
    return max(0, int(limit) - used + int(stat.get("inactive_file", 0))) if limit.isdigit() else math.inf


def largest_that_fits(need: Callable[[int], float], at_most: int, free: float | None = None) -> int:
    """Largest n up to `at_most` whose `need(n)` fits in memory; `need` grows with n."""
    budget = USABLE_SHARE * (available_memory() if free is None else free)
    low, high = 0, at_most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if need(middle) <= budget else (low, middle - 1)
    return low


def require_memory(name: str, need: Callable[[int], float], n: int) -> None:
    """Raise, naming the number of rows that would fit, when `need(n)` bytes do not."""
    wanted, free = need(n), available_memory()
    if wanted <= USABLE_SHARE * free:
        return
    fits = largest_that_fits(need, n, free)
    raise MemoryForecastError(
        f"{name} on {n:,} rows needs {wanted / GIGABYTE:.1f} GB and {free / GIGABYTE:.1f} GB are free: "
        f"fit on at most {fits:,} rows ({need(fits) / GIGABYTE:.1f} GB) and place the others with transform()"
        ", or pass float32 rows, which need half."
    )

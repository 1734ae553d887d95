"""Forecast of memory: what would not fit is refused before the work begins."""

from collections.abc import Callable
from pathlib import Path

from gramfold.errors import MemoryForecastError

GIGABYTE = 1e9
# Room left for the interpreter, the solver's vectors and everybody else on the machine.
USABLE_SHARE = 0.9
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CGROUP_USED = Path("/sys/fs/cgroup/memory.current")


def available_memory() -> float:
    """Bytes that this process may still take: the machine's free memory, or its container's if less."""
    import psutil

    available = float(psutil.virtual_memory().available)
    if _CGROUP_LIMIT.is_file() and _CGROUP_USED.is_file():
        limit = _CGROUP_LIMIT.read_text().strip()
        if limit.isdigit():
            available = min(available, int(limit) - int(_CGROUP_USED.read_text()))
    return available


def largest_that_fits(need: Callable[[int], float], at_most: int) -> int:
    """Largest n up to `at_most` whose `need(n)` fits in memory; `need` grows with n."""
    budget = USABLE_SHARE * available_memory()
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
    fits = largest_that_fits(need, n)
    raise MemoryForecastError(
        f"{name} on {n:,} rows needs {wanted / GIGABYTE:.1f} GB and {free / GIGABYTE:.1f} GB are free: "
        f"fit on at most {fits:,} rows ({need(fits) / GIGABYTE:.1f} GB) and place the others with transform()"
        ", or pass float32 rows, which need half."
    )

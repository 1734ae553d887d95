"""Measures of a map: all of them together beside the neighbour search that they share, and their peak of memory.

Each runs in a process of its own, which tells its seconds and its peak of memory. `python -m benchmarks
judging:million` is the run of a million rows.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.timing import Race

_COLUMNS = 10
_MANY, _MOST_GIGABYTES = 100_000, 2.0
_MILLION, _MOST_OF_A_MILLION = 1_000_000, 6.0
_MOST_TIMES = 3.0  # the time of the search


def races() -> Iterator[Race]:
    """Rows of a Gaussian, with two of its columns as their map."""
    yield _judging(_MANY, _MOST_GIGABYTES)


def million() -> Iterator[Race]:
    """The same of a million rows."""
    yield _judging(_MILLION, _MOST_OF_A_MILLION)


def judge(n: int) -> None:
    """Seconds of the measures and of both searches, and gigabytes."""
    from gramfold.diagnostics import Judged, measures

    rng = np.random.default_rng(0)
    small = rng.standard_normal((500, _COLUMNS))
    measures(small, small[:, :2], small[:, 0] > 0)  # compiled code warm
    rows = rng.standard_normal((n, _COLUMNS))
    started = time.perf_counter()
    judged = Judged(rows, rows[:, :2], search="exact")
    for lists in (judged.in_data, judged.on_map):
        assert len(lists) == n
    searched = time.perf_counter()
    measures(judged, labels=rng.integers(10, size=n))
    ended = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)
    print(json.dumps([ended - searched, searched - started, peak]))


def _judging(n: int, most: float) -> Race:
    code = f"from benchmarks.judging import judge; judge({n})"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    measured, searched, peak = json.loads(told.stdout)
    found = Race(
        f"13 measures of a map, {n:,} × {_COLUMNS}, 1,000 rows drawn, {peak:.2f} GB (peer: its neighbour searches)",
        [measured],
        [searched],
        "",
    )
    met = measured <= _MOST_TIMES * searched and peak <= most
    return found.judged(f"≤ {_MOST_TIMES:g}x the search, ≤ {most:g} GB", met)

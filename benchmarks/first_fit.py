"""The first fit on a machine: what compiling adds, in a fresh process with an empty cache of compiled code."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.estimators import names
from benchmarks.timing import Race
from gramfold.datasets import make_swiss_roll

_N = 1_000
_MORE = 2.0  # seconds that compiling may add
_COMMAND = 4.0  # seconds of a whole `gramfold embed`, compiling included
_FIT = (
    "import warnings; warnings.simplefilter('ignore')\n"
    "from benchmarks.estimators import prepared\n"
    "model, X, more = prepared({name!r}, {n})\n"
    "model.fit(X, **more)\n"
)


def races(*only: str) -> Iterator[Race]:
    """The command line, then every exported estimator, or those named."""
    if not only:
        yield from command()
    yield from _fits(only or names(), runs=3)


def quick() -> Iterator[Race]:
    """The command line and three estimators."""
    yield from command(runs=1)
    yield from _fits(("PCA", "KernelPCA", "Isomap"), runs=1)


def once(*only: str) -> Iterator[Race]:
    """One run of each."""
    yield from _fits(only or names(), runs=1)


def command(runs: int = 3) -> Iterator[Race]:
    """`gramfold embed` of a table in a file, with its defaults."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.csv"
        np.savetxt(rows, make_swiss_roll(_N, random_state=0).points, delimiter=",", header="x,y,z", comments="")
        embed = [sys.executable, "-m", "gramfold", "embed", str(rows), "--out", str(Path(folder) / "map.csv")]
        job = f"`gramfold embed`, csv of {_N:,} rows, nothing compiled (peer: the same with compiled code on disk)"
        timed = _empty_and_full(job, embed, runs)
    yield timed.judged(f"≤ {_COMMAND:g} s in all", statistics.median(timed.ours) <= _COMMAND)


def _fits(chosen: Iterable[str], runs: int) -> Iterator[Race]:
    for name in chosen:
        job = f"{name}, n={_N:,}, a process in which nothing is compiled (peer: the same with compiled code on disk)"
        timed = _empty_and_full(job, [sys.executable, "-c", _FIT.format(name=name, n=_N)], runs)
        told = f"difference ≤ {_MORE:g} s: {timed.extra:.2f} s{_more_cpu(timed)}"
        yield timed.judged(told, timed.extra <= _MORE)


def _empty_and_full(job: str, process: list[str], runs: int) -> Race:
    times: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            for kept, kept_cpu in zip(times, cpu, strict=True):  # the first run fills what the second reads
                started, started_cpu = time.perf_counter(), _cpu_of_children()
                subprocess.run(process, check=True, env=environment, stdout=subprocess.DEVNULL)
                kept.append(time.perf_counter() - started)
                kept_cpu.append(_cpu_of_children() - started_cpu)
    return Race(job, *times, "", cpu=cpu if all(cpu[0]) else ([], []))  # Windows does not count it


def _cpu_of_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def _more_cpu(timed: Race) -> str:
    empty, full = timed.cpu
    return f", {statistics.median(empty) - statistics.median(full):.2f} s of CPU time" if empty else ""

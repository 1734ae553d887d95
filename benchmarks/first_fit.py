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
    yield from _fits(only or names(), runs=1)


def quick() -> Iterator[Race]:
    """The command line and three estimators."""
    yield from command(runs=1)
    yield from _fits(("PCA", "KernelPCA", "Isomap"), runs=1)


def thrice(*only: str) -> Iterator[Race]:
    """Three runs of each."""
    yield from _fits(only or names(), runs=3)


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
        yield timed.judged(f"difference ≤ {_MORE:g} s: {timed.extra:.2f} s", timed.extra <= _MORE)


def _empty_and_full(job: str, process: list[str], runs: int) -> Race:
    empty, full = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            for kept in (empty, full):  # the first run fills what the second reads
                started = time.perf_counter()
                subprocess.run(
                    process, check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache}, stdout=subprocess.DEVNULL
                )
                kept.append(time.perf_counter() - started)
    return Race(job, empty, full, "")

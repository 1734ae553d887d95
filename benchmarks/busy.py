"""Fits beside as many spinning processes as there are cores, against the same fits alone.

With every core taken twice, a fit gets half of the machine: twice the time is fair. More is lost where threads wait
for one another.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.data import fashion_mnist
from benchmarks.estimators import names, prepared
from benchmarks.timing import Race

_SIZES = (1_000, 5_000)
_IMAGES = 10_000
_MOST = 3.0  # times as long as alone
_FELT = 0.05  # seconds: shorter fits are not judged
_LONG = 5.0  # seconds: longer fits are run less often
_RUNS, _LONG_RUNS = 9, 3
_LIMIT = 60.0  # seconds of one fit alone; beside spinning processes five times as many
# a word when it has started; it ends by itself if the benchmark is killed
_SPIN = """
import os
parent = os.getppid()
print("spinning", flush=True)
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


def races(*only: str) -> Iterator[Race]:
    """Every exported estimator, or those named, at both sizes; then images, where they are present."""
    for n in _SIZES:
        yield from _races(only or names(), n)
    if not only:
        yield from images()


def quick(*only: str) -> Iterator[Race]:
    """1,000 rows."""
    yield from _races(only or ("Isomap", "KernelPCA", "LaplacianEigenmaps"), _SIZES[0])


def images() -> Iterator[Race]:
    """Fashion-MNIST."""
    if fashion_mnist(1) is None:
        yield Race("fits of Fashion-MNIST: the images are absent", [], [], "none")
        return
    yield from _races(("Isomap", "KernelPCA", "LaplacianEigenmaps"), _IMAGES)


def _races(chosen: Iterable[str], n: int) -> Iterator[Race]:
    for name in chosen:
        data = "Fashion-MNIST" if n == _IMAGES else "roll"
        job = f"{name}, {data} n={n:,}, beside {os.cpu_count()} spinning processes (peer: alone)"
        yield _race(job, name, n)


def _race(job: str, name: str, n: int) -> Race:
    busy: list[float] = []
    alone: list[float] = []
    with _Worker(name, n) as worker:
        first = worker.fit(_LIMIT)  # compiled code loads here
        if first is None:
            return Race(f"{job}: left out, its first fit takes more than {_LIMIT:g} s", [], [], "none")
        runs = _LONG_RUNS if first > _LONG else _RUNS
        for _ in range(runs):
            quiet = worker.fit(_LIMIT)
            with spinning():
                loud = worker.fit(5 * _LIMIT)
            if quiet is None or loud is None:
                return Race(f"{job}: left out, a fit takes more than {_LIMIT:g} s", busy, alone, "none")
            alone.append(quiet)
            busy.append(loud)
    timed = Race(job, busy, alone, "")
    times = statistics.median(busy) / statistics.median(alone)
    if statistics.median(alone) < _FELT:
        return Race(job, busy, alone, f"none, shorter than {_FELT * 1000:g} ms ({times:.1f} times)")
    return timed.judged(f"≤ {_MOST:g} times ({times:.1f})", times <= _MOST)


@contextmanager
def spinning() -> Iterator[None]:
    """As many processes as cores that compute without end; all of them are ended."""
    started: list[subprocess.Popen[str]] = []
    try:
        for _ in range(os.cpu_count() or 1):  # one by one: those that started are ended if the next does not
            started.append(subprocess.Popen([sys.executable, "-c", _SPIN], stdout=subprocess.PIPE, text=True))  # noqa: PERF401
        for process in started:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise RuntimeError("a spinning process ended before it spun.")
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


class _Worker:
    """A process that fits when it is told to, so that a fit that takes too long can be ended."""

    def __init__(self, name: str, n: int) -> None:
        self._command = [sys.executable, "-m", "benchmarks.busy", name, str(n)]

    def __enter__(self) -> "_Worker":
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ask("ready?", None)  # imports and rows are not timed
        return self

    def fit(self, limit: float) -> float | None:
        """Seconds of one fit, or None if they are more than `limit`."""
        told = self._ask("fit", limit)
        return None if told is None else float(told)

    def _ask(self, word: str, limit: float | None) -> str | None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        ended = threading.Event()

        def end() -> None:
            ended.set()
            self._process.kill()

        alarm = threading.Timer(limit or threading.TIMEOUT_MAX, end)
        alarm.daemon = True
        alarm.start()
        try:
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()
            told = self._process.stdout.readline()
        finally:
            alarm.cancel()
        if told:
            return told
        if ended.is_set():
            return None
        raise RuntimeError(f"the process of {' '.join(self._command[-2:])} ended by itself: its error stands above.")

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def _work(name: str, n: int) -> None:
    """What a worker does: a line with the seconds of a fit for each line that it reads."""
    import warnings

    warnings.simplefilter("ignore")
    model: Any
    if n == _IMAGES:
        model, X, more = prepared(name, 1)[0], fashion_mnist(n), {}
    else:
        model, X, more = prepared(name, n)
    for line in sys.stdin:
        started = time.perf_counter()
        if line.strip() == "fit":
            model.fit(X, **more)
        print(time.perf_counter() - started, flush=True)


if __name__ == "__main__":
    _work(sys.argv[1], int(sys.argv[2]))

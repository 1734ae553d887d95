"""One fit: its seconds, its memory, its warnings, and what it says if it fails."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gramfold.comparison.entrants import Entrant, require_reading
from gramfold.diagnostics.judged import read_places
from gramfold.diagnostics.refits import Told, own_rows
from gramfold.errors import InputError
from gramfold.types import Floats

_EVERY = 0.01  # seconds between looks at the memory in use
_MEGABYTE = 1e6


@dataclass(eq=False)
class Run:
    """A fit that ended, well or not; or a finished map, which took no time."""

    name: str
    model: Any = None
    places: Floats | None = None
    seconds: float = float("nan")
    megabytes: float = float("nan")
    failure: str = ""
    told: Told = field(default_factory=Told)


def run(entrant: Entrant, X: Any, n: int, metric: Any) -> Run:
    """Fit it. Anything that it raises, but an interrupt, is kept as a sentence."""
    if entrant.places is not None:
        return Run(entrant.name, places=entrant.places)
    found = Run(entrant.name)
    watch, started = Watch(), time.perf_counter()
    try:
        require_reading(entrant.model, metric)
        rows = own_rows(entrant.model, X)
        started = time.perf_counter()
        with found.told.hearing(), watch.watching():
            places = read_places(entrant.model.fit_transform(rows))
        if len(places) != n:
            raise InputError(f"its map has {len(places)} rows for the {n} rows of X.")  # noqa: TRY301 - as any other
    except Exception as error:  # noqa: BLE001 - whatever a guest raises is its own
        found.failure = sentence_of(error)
    else:
        found.model, found.places = entrant.model, places
    found.seconds, found.megabytes = time.perf_counter() - started, watch.megabytes
    return found


def sentence_of(error: Exception) -> str:
    """What an error says, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


class Watch:
    """How far the memory of this process rises above where it was, in megabytes.

    A thread looks at it every few milliseconds. Compiled code that holds the interpreter keeps the thread from looking,
    so the system's own record of the largest is read too, where there is a new one.
    """

    def __init__(self) -> None:
        self.megabytes = float("nan")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the block."""
        import psutil

        process, done = psutil.Process(), threading.Event()
        before, record = process.memory_info().rss, _record()
        highest = before

        def look() -> None:
            nonlocal highest
            while not done.wait(_EVERY):
                highest = max(highest, process.memory_info().rss)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            ended = _record()
            highest = max(highest, process.memory_info().rss, ended if ended > record else 0)
            self.megabytes = (highest - before) / _MEGABYTE


def _record() -> int:
    """The most bytes that this process ever held; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

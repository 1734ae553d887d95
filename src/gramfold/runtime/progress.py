"""Time the stages of a fit, and report them on standard error if verbose."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
_HANDLER = "gramfold stages"


class Stages:
    """Time each named stage; if verbose, report its start and end and show progress bars."""

    def __init__(self, verbose: int | bool = 0, name: str = "gramfold") -> None:
        self.verbose = bool(verbose) and sys.stderr is not None and not sys.stderr.closed  # None: closed at the start
        self.name = name
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time the block under this name."""
        self.say(f"{stage} ...")
        started = time.perf_counter()
        try:
            with self._log_shown():
                yield
        finally:
            spent = time.perf_counter() - started
            self.seconds[stage] = self.seconds.get(stage, 0.0) + spent
        self.say(f"{stage}: {spent:.2f} s")

    def say(self, text: str) -> None:
        """Write one line if verbose."""
        if self.verbose:
            sys.stderr.write(f"[{self.name}] {text}\n")
            sys.stderr.flush()

    @contextmanager
    def _log_shown(self) -> Iterator[None]:
        """If verbose, also show the package's log, such as the compilation of a kernel."""
        log, handler = logging.getLogger("gramfold"), logging.StreamHandler()
        handler.name = _HANDLER
        if not self.verbose or any(other.name == _HANDLER for other in log.handlers):  # by a stage around this one
            yield
            return
        handler.setFormatter(logging.Formatter(f"[{self.name}] %(message)s"))
        level = log.level
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        try:
            yield
        finally:
            log.removeHandler(handler)
            log.setLevel(level)

    def bar(self, items: Iterable[Item], total: int, what: str) -> Iterable[Item]:
        """Iterate over the items, with a progress bar if verbose."""
        if not self.verbose:
            return items
        from tqdm import tqdm

        shown: Iterable[Item] = tqdm(items, total=total, desc=f"[{self.name}] {what}", leave=False)
        return shown


SILENT = Stages()

"""The stages of a fit: timed always, told on standard error when the user asks for it."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
_HANDLER = "gramfold stages"


class Stages:
    """Times each named stage; with `verbose` also says when it starts and shows bars in long loops."""

    def __init__(self, verbose: int | bool = 0, name: str = "gramfold") -> None:
        self.verbose = bool(verbose) and sys.stderr is not None  # None: closed
        self.name = name
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time what happens inside under this name."""
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
        """Write one line when verbose."""
        if self.verbose:
            sys.stderr.write(f"[{self.name}] {text}\n")
            sys.stderr.flush()

    @contextmanager
    def _log_shown(self) -> Iterator[None]:
        """While verbose, what the rooms log (a kernel compiled, say) is told too."""
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
        """The same items, behind a progress bar when verbose."""
        if not self.verbose:
            return items
        from tqdm import tqdm

        shown: Iterable[Item] = tqdm(items, total=total, desc=f"[{self.name}] {what}", leave=False)
        return shown


SILENT = Stages()

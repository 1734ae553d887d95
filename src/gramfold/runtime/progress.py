"""Time the stages of a fit, and tell how far they are: on standard error if verbose, and to the user's callback.

A stage is begun by `Stages`, and what runs within it counts its steps: `bar` where their number is known, `beat` in a
loop that nobody counts. Both reach the innermost stage of the thread that they run in. The threads of a pool are in
none, so the callback is called only by the thread that called `fit`.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import local
from typing import Any, TypeVar

from gramfold.errors import InputError

Item = TypeVar("Item")
Progress = Callable[[str, int, int | None], Any]  # stage, steps done, steps in all; None: not known
_HANDLER = "gramfold stages"
_PAUSE = 0.1  # seconds between two steps that are told: what an eye follows, and a slow callback of 1 ms costs 1%


class _Now(local):
    """What is under way in a thread."""

    innermost: "_Running | None" = None


_now = _Now()


class Stages:
    """Time each named stage; if asked, report its start and end and how far it is."""

    def __init__(self, verbose: int | bool = 0, name: str = "gramfold", progress: Progress | None = None) -> None:
        if progress is not None and not callable(progress):
            raise InputError(
                f"progress={progress!r} cannot be called: pass a function of (stage, done, total), or None."
            )
        self.verbose = bool(verbose) and sys.stderr is not None and not sys.stderr.closed  # None: closed at the start
        self.name = name
        self.progress = progress
        self.seconds: dict[str, float] = {}
        self.told_at = 0.0  # when the last start or step was told: at the end of the callback, which may be slow
        self.left: list[_Running] = []  # loops that ended before their last item, which is still to be told
        self.raised: BaseException | None = None  # by the callback: whoever catches it on the way does not go on

    @property
    def told(self) -> bool:
        """Whether anybody listens."""
        return self.verbose or self.progress is not None

    def __call__(self, stage: str) -> "_Stage":
        """Time the block under this name."""
        return _Stage(self, stage)

    def say(self, text: str) -> None:
        """Write one line if verbose."""
        if not self.verbose:
            return
        running = _now.innermost
        if running is not None and running.shown is not None:
            running.shown.clear()  # the line takes its place; the bar comes back with its next step
        sys.stderr.write(f"[{self.name}] {text}\n")
        sys.stderr.flush()

    @contextmanager
    def log_shown(self) -> Iterator[None]:
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
        """Iterate over the items, and tell after each how many are done."""
        if self.told:
            return self._counted(items, total, what)
        return items if _now.innermost is None else beats(items)

    def _counted(self, items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
        with _Running.of(self, what, total) as running:
            for item in items:
                yield item
                running.step()

    def call(self, stage: str, done: int, total: int | None) -> None:
        """Call the callback; what it raises ends the fit."""
        if self.raised is not None:
            raise self.raised
        if self.progress is None:
            return
        around, _now.innermost = _now.innermost, None  # a fit within the callback is none of this one's steps
        try:
            while self.left:
                ended = self.left.pop(0)
                self.progress(ended.name, *ended.all_done)
            self.progress(stage, done, total)
        except BaseException as error:
            self.raised = error
            raise
        finally:
            _now.innermost = around
            self.told_at = time.monotonic()


class _Stage:
    """A stage as a context.

    It is no generator, which would turn a StopIteration that the callback raises into a RuntimeError.
    """

    def __init__(self, stages: Stages, name: str) -> None:
        self.stages, self.name = stages, name

    def __enter__(self) -> None:
        self.stages.say(f"{self.name} ...")
        self.started = time.perf_counter()
        self.inner = ExitStack()
        try:
            self.inner.enter_context(self.stages.log_shown())
            self.inner.enter_context(_Running.of(self.stages, self.name))
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    def __exit__(self, *error: Any) -> None:
        stages, name = self.stages, self.name
        try:
            self.inner.__exit__(*error)
        finally:
            spent = time.perf_counter() - self.started
            stages.seconds[name] = stages.seconds.get(name, 0.0) + spent
            if stages.raised is not None and stages.raised is not error[1]:
                raise stages.raised  # what others have made of it, or have not heard
        if error[0] is None:
            stages.say(f"{name}: {spent:.2f} s")


class _Running:
    """A stage, or a loop within it, that has begun and not yet ended."""

    def __init__(self, stages: Stages, name: str, total: int | None) -> None:
        self.around: _Running | None = _now.innermost
        self.stages: Stages = stages
        self.total, self.done = total, 0
        inside = self.around is not None and self.around.stages is stages
        self.name: str = f"{self.around.name}: {name}" if inside and self.around is not None else name
        self.shown: Any = None  # the bar on standard error

    @classmethod
    @contextmanager
    def of(cls, stages: Stages, name: str, total: int | None = None) -> Iterator["_Running"]:
        """Within the block it is under way."""
        running = cls(stages, name, total)
        if not stages.told:
            yield running
            return
        try:
            if total is not None:
                running._show()
            stages.told_at = time.monotonic()
            stages.call(running.name, 0, total)
            _now.innermost = running
            yield running
        except GeneratorExit:  # a loop was left, where what the callback raises would be lost: it is called later
            stages.left.append(running)
            raise
        finally:
            running._end()
        stages.call(running.name, *running.all_done)

    @property
    def all_done(self) -> tuple[int, int]:
        """Steps done and in all, at the end."""
        total = max(self.done, 1) if self.total is None else self.total
        return total, total

    def step(self, steps: int = 1) -> None:
        """So many more steps are done; 0 says that work goes on."""
        self.done += steps
        now = time.monotonic()
        if now - self.stages.told_at < _PAUSE or (self.total is not None and self.done >= self.total):
            return
        self.stages.told_at = now
        self._show()
        self.stages.call(self.name, self.done, self.total)

    def _show(self) -> None:
        """Draw the bar, if verbose."""
        if not self.stages.verbose:
            return
        if self.shown is None:
            from tqdm import tqdm

            self.shown = tqdm(total=self.total, desc=f"[{self.stages.name}] {self.name}", leave=False)
        self.shown.n = self.done
        self.shown.refresh()

    def _end(self) -> None:
        """Whatever is within it has ended too, also a loop that an error has left and nobody has closed."""
        inner = _now.innermost
        while inner is not None and inner is not self:
            inner = inner.around
        if inner is self:
            _now.innermost = self.around
        if self.shown is not None:
            self.shown.close()


def beat(steps: int = 1) -> None:
    """So many more steps are done of whatever is under way in this thread; 0 says that work goes on."""
    running = _now.innermost
    if running is not None:
        running.step(steps if running.total is None else 0)  # a bar counts its own items


def beats(items: Iterable[Item]) -> Iterator[Item]:
    """Iterate over the items, a step of whatever is under way for each."""
    for item in items:
        yield item
        beat()


def current_stages() -> Stages:
    """The stages of which one is under way in this thread."""
    running = _now.innermost
    return SILENT if running is None else running.stages


def listened() -> bool:
    """Whether anybody listens to what is under way in this thread."""
    return _now.innermost is not None


SILENT = Stages()

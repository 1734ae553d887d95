"""Short blocks of code that an interrupt must not leave half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the block has ended. Only the main thread receives it; in others this does nothing."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:  # None: not set from Python
        yield
        return
    pressed = False

    def remember(number: int, frame: Any) -> None:  # noqa: ARG001 - as Python calls it
        nonlocal pressed
        pressed = True

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            signal.raise_signal(signal.SIGINT)

"""Warnings that point at the line of code that called gramfold."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import sklearn

import gramfold
from gramfold.errors import GramfoldWarning

# Our own files, scikit-learn's (which wraps `transform` for set_output), and with-blocks: they only pass calls on.
_PASSING = (str(Path(gramfold.__file__).parent), str(Path(sklearn.__file__).parent), contextlib.__file__)


# what is warned of in the block that a thread is in; None outside of any
_remembering: ContextVar[list[str] | None] = ContextVar("_remembering", default=None)


@contextmanager
def remembered_warnings() -> Iterator[list[str]]:
    """The warnings of this block (and thread), whatever else becomes of them."""
    heard: list[str] = []
    token = _remembering.set(heard)
    try:
        yield heard
    finally:
        _remembering.reset(token)


# whether anybody would hear a warning: not on a worker of a cluster
_is_heard: ContextVar[bool] = ContextVar("_is_heard", default=True)


@contextmanager
def unheard() -> Iterator[None]:
    """No warnings from this block (and thread), and no work done for them."""
    token = _is_heard.set(False)
    try:
        yield
    finally:
        _is_heard.reset(token)


def is_heard() -> bool:
    """Whether a warning would reach anybody, and what only decides about one is worth its time."""
    return _is_heard.get()


def warn(message: str, category: type[GramfoldWarning]) -> None:
    """Issue a warning at the line of code that called gramfold."""
    if not is_heard():
        return
    heard = _remembering.get()
    if heard is not None:
        heard.append(f"{category.__name__}: {message}")
    level, frame = 1, sys._getframe()  # noqa: SLF001  the one way to look at the stack without reading source files
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PASSING):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)

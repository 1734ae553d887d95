"""Files that are read more than once: still what they were when they were opened, and readable at all.

A file is known by its size and the time of its last change.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gramfold.errors import InputError


def fingerprint(path: Path) -> tuple[int, int]:
    """Size and time of the last change; an error where the file cannot be seen."""
    try:
        found = path.stat()
    except OSError as error:
        from gramfold.distributed.running import HERE, where

        who = where()
        change = "check the file, or the link" if who == HERE else "its path must be the same on all machines"
        raise InputError(f"'{path}' cannot be seen by {who} ({error.strerror}): {change}.") from error
    return found.st_size, found.st_mtime_ns


def require_unchanged(path: Path, mark: Sequence[int]) -> None:
    """Raise an error if the file is not what it was: a mapped file that is cut short would end Python itself."""
    if list(fingerprint(path)) != list(mark):
        raise InputError(f"'{path}' was changed while it was read: do the same again when nobody writes to it.")


@contextmanager
def readable(path: Path, kind: type[InputError] = InputError) -> Iterator[None]:
    """Within it whatever a damaged file makes its reader raise is one error of this kind."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise kind(f"'{path}' is not a readable {path.suffix} file (it may be truncated): save it again.") from error


def mapped(path: Path, kind: type[InputError] = InputError) -> np.ndarray:
    """The array of a .npy file, mapped into memory."""
    with readable(path, kind):
        found = np.load(path, mmap_mode="r")
        if not isinstance(found, np.ndarray):
            raise ValueError("an archive of several arrays")  # noqa: TRY004  told as what cannot be read
        return found

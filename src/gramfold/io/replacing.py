"""Write a file all at once: a reader sees the old one or the new one, never a part."""

import errno
import os
import secrets
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from gramfold.errors import InputError

# What ends a process at once unless it asks for a last word; SIGHUP is not known on Windows.
_ENDING_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_ANYBODY_MAY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name to write to; what was written takes the place of `path` at the end.

    Parameters
    ----------
    path : str or path
        The file to make or replace. A symbolic link stays one, and the file that it leads to is replaced; an existing
        file's permissions are kept. A pipe or a character device is not replaced: the bytes are written to it.

    Yields
    ------
    Path
        The temporary name, with the ending of `path` itself, in the folder of the file (for a pipe or a device, in one
        of its own). It is removed if the block raises or the process is told to end; `path` is then untouched.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "note.txt") as draft:
    ...         _ = draft.write_text("whole")
    ...     (Path(folder) / "note.txt").read_text()
    'whole'
    """
    check_folder(path)
    path = Path(path)
    to_stream = path.exists() and not path.is_file()
    target = path.resolve()
    folder = Path(mkdtemp()) if to_stream else target.parent
    # Not tempfile: its files are private to the user, and the result should have the usual permissions.
    draft = folder / f".gramfold-{secrets.token_hex(8)}{path.suffix}"

    def clean() -> None:
        draft.unlink(missing_ok=True)
        if to_stream:
            shutil.rmtree(folder, ignore_errors=True)

    with _told_to_end(clean):
        try:
            yield draft
            if to_stream:
                with draft.open("rb") as whole, path.open("wb") as stream:
                    shutil.copyfileobj(whole, stream)
            else:
                if target.exists():
                    shutil.copymode(target, draft)
                draft.replace(target)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                f"'{path}' could not be written ({reason}): free the space or choose another place."
            ) from error
        finally:
            clean()


@contextmanager
def _told_to_end(clean: Callable[[], None]) -> Iterator[None]:
    """Clean before a signal ends the process; where the program has a handler of its own, that one is left to work."""
    ours = (
        [number for number in _ENDING_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
        if threading.current_thread() is threading.main_thread()  # others cannot set handlers
        else []
    )

    def end(number: int, frame: Any) -> None:  # noqa: ARG001 - as Python calls it
        clean()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)  # and so end as the sender expects

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a file that could not be made: callable before the work whose result it will hold.

    Parameters
    ----------
    path : str or path
        The file to be written.
    """
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError(f"'{path}' is a folder: give the name of a file to write.")
    if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        raise InputError(f"'{path}' is a disk or a socket, not a file: give the name of a file to write.")
    # of root the system says that it may write everywhere; a file without any leave to write is meant to stay
    if mode is not None and not (mode & _ANYBODY_MAY_WRITE and os.access(path, os.W_OK)):
        raise InputError(f"'{path}' is write-protected: allow writing to it, or choose another name.")
    if mode is not None and not stat.S_ISREG(mode):
        return  # written to where it is
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise InputError(f"'{path}' cannot be written, there is no folder '{folder}': make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"'{path}' cannot be written, the folder is not yours to write in: choose another.")


def _mode(path: str | os.PathLike[str]) -> int | None:
    """Kind and permissions of what the name leads to, None where there is nothing."""
    try:
        return Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        found = "it leads back to itself" if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"'{path}' cannot be written ({found}): choose another name.") from error
    except ValueError as error:  # a zero byte
        raise InputError(f"{os.fspath(path)!r} is no name of a file ({error}): choose another.") from error

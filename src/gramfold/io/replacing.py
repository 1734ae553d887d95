"""Replace files atomically: a reader sees the old file or the new one, never a partial one."""

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
from typing import Any, BinaryIO

from gramfold.errors import InputError
from gramfold.runtime.destinations import check_folder

# Signals that end a process at once unless it handles them; Windows has no SIGHUP.
_ENDING_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} if hasattr(errno, "EDQUOT") else {errno.ENOSPC, errno.EFBIG}


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Provide a temporary file that replaces `path` when the block ends.

    Parameters
    ----------
    path : str or path-like
        File to create or replace. If it is a symbolic link, the file that it points to is replaced. Permissions of an
        existing file are kept. A pipe or a character device is written to, not replaced.

    Yields
    ------
    Path
        Path of the temporary file. It has the same ending as `path` and is in the same folder (for a pipe or a device,
        in a temporary folder). If the block raises or the process is terminated, it is removed and `path` is unchanged.

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
            with _refused_by_system(path):
                yield draft
                if to_stream:
                    with draft.open("rb") as whole, path.open("wb") as stream:
                        shutil.copyfileobj(whole, stream)
                else:
                    if target.exists():
                        shutil.copymode(target, draft)
                    draft.replace(target)
        finally:
            clean()


@contextmanager
def replacing_stream(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Provide a stream of bytes that becomes the file when the block ends, and is on the disk then.

    As `replacing`, but where the system can, the new file has no name until it is whole: a process that is killed
    leaves nothing behind.

    Parameters
    ----------
    path : str or path-like
        File to create or replace.

    Yields
    ------
    BinaryIO
        The stream.
    """
    check_folder(path)
    target = Path(path).resolve()
    with _refused_by_system(Path(path)):
        unnamed = _unnamed(target)
    if unnamed is None:
        with replacing(path) as draft, draft.open("wb") as stream:
            yield stream
            _settle(stream)
        return
    with _refused_by_system(Path(path)), os.fdopen(unnamed, "wb") as stream:
        yield stream
        _settle(stream)
        if target.exists():
            os.fchmod(stream.fileno(), stat.S_IMODE(target.stat().st_mode))
        _name(stream, target)


def _unnamed(target: Path) -> int | None:
    """A new file without a name in the folder of this one; None where the system has none, or there is no file."""
    if not hasattr(os, "O_TMPFILE") or not Path("/proc/self/fd").is_dir():
        return None
    if target.exists() and not target.is_file():
        return None  # a pipe or a device
    try:
        return os.open(target.parent, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError as error:
        if error.errno in {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}:  # as file systems say it
            return None
        raise


def _settle(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _name(stream: BinaryIO, target: Path) -> None:
    """Give a file without a name this one; where there is one, by way of another name, since only that can replace."""
    held = f"/proc/self/fd/{stream.fileno()}"
    folder = os.open(target.parent, os.O_RDONLY)  # with a folder Python follows the link in /proc, without it does not
    try:
        os.link(held, target, src_dir_fd=folder)
    except FileExistsError:
        draft = target.parent / f".gramfold-{secrets.token_hex(8)}{target.suffix}"
        try:
            os.link(held, draft, src_dir_fd=folder)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)  # where it could not replace, or the key was pressed
    finally:
        os.close(folder)


@contextmanager
def _refused_by_system(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        advice = "free disk space or choose" if error.errno in _FULL else "choose"
        raise InputError(f"'{path}' could not be written ({reason}): {advice} another folder.") from error


@contextmanager
def _told_to_end(clean: Callable[[], None]) -> Iterator[None]:
    """Clean up before a signal ends the process; a signal handler that the program has set is kept."""
    ours = (
        [number for number in _ENDING_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
        if threading.current_thread() is threading.main_thread()  # others cannot set handlers
        else []
    )

    def end(number: int, frame: Any) -> None:  # noqa: ARG001 - as Python calls it
        clean()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)  # end the process as the signal would

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)

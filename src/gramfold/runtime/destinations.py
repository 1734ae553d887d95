"""Whether a file can be written: asked before a long computation, and before anything heavy is imported."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

from gramfold.errors import InputError

_PAGES = (".html", ".htm")
_ANYBODY_MAY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise an error if the file cannot be written.

    Parameters
    ----------
    path : str or path-like
        File that will be written.
    """
    _require_name(path)
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError(f"'{path}' is a folder: give the name of a file to write.")
    if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        raise InputError(f"'{path}' is a block device or a socket, not a file: give the name of a file to write.")
    # os.access allows root everything; a file without any write permission is protected all the same
    if mode is not None and not (mode & _ANYBODY_MAY_WRITE and os.access(path, os.W_OK)):
        raise InputError(f"'{path}' is write-protected: allow writing to it, or choose another name.")
    if mode is not None and not stat.S_ISREG(mode):
        return  # written to, not replaced
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise InputError(f"'{path}' cannot be written: there is no folder '{folder}'. Create it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"'{path}' cannot be written: its folder is not writable. Choose another folder.")


def check_page(path: str | os.PathLike[str]) -> None:
    """The same of a page for a browser.

    Parameters
    ----------
    path : str or path-like
        File that will be written.
    """
    _require_name(path)
    mode = _mode(path)
    if not Path(path).name.lower().endswith(_PAGES) and (mode is None or stat.S_ISREG(mode)):
        raise InputError(f"'{path}' does not end in .html, by which browsers know a page: choose such a name.")
    check_folder(path)


def _require_name(path: Any) -> None:
    """Refuse what names no file, whatever it is."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes) or not os.fspath(path):
        raise InputError(f"path={path!r} is not the name of a file: pass the path of a file to write.")


def _mode(path: str | os.PathLike[str]) -> int | None:
    """File type and permissions of the path, None if it does not exist."""
    try:
        return Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        found = "symbolic links form a loop" if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"'{path}' cannot be written ({found}): choose another name.") from error
    except ValueError as error:  # a zero byte
        raise InputError(f"{os.fspath(path)!r} is not a valid file name ({error}): choose another.") from error

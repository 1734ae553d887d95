"""Write a file all at once: a reader sees the old one or the new one, never a part."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gramfold.errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name to write to, in the same folder; what was written takes the place of `path` at the end.

    Parameters
    ----------
    path : str or path
        The file to make or replace. A symbolic link is followed, an existing file's permissions are kept.

    Yields
    ------
    Path
        The temporary name, with the ending of `path`. Removed if the block raises; `path` is then untouched.

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
    target = Path(path).resolve()
    # Not tempfile: its files are private to the user, and the result should have the usual permissions.
    draft = target.with_name(f".{target.stem[:100]}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield draft
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"'{path}' could not be written ({reason}): free the space or choose another place."
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a file that could not be made: callable before the work whose result it will hold.

    Parameters
    ----------
    path : str or path
        The file to be written.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise InputError(f"'{path}' is a folder: give the name of a file to write.")
    if not target.parent.is_dir():
        raise InputError(f"'{path}' cannot be written, there is no folder '{target.parent}': make it first.")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"'{path}' cannot be written, the folder is not yours to write in: choose another.")

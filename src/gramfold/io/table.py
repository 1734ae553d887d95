"""A table of numbers with named columns, from a file and to a file."""

import errno
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.errors import InputError
from gramfold.io import arrays, arrow, text
from gramfold.io.numerals import Numerals
from gramfold.io.replacing import check_folder, replacing
from gramfold.io.selection import Contents, Selection, require_finite, require_labels
from gramfold.io.signatures import refuse_another_kind

Work = TypeVar("Work")

READERS: dict[str, Callable[[Path, Selection], Contents]] = {
    ".csv": text.read,
    ".tsv": text.read,
    ".txt": text.read,
    ".npy": arrays.read_npy,
    ".npz": arrays.read_npz,
    ".parquet": arrow.read,
    ".feather": arrow.read,
}
WRITERS: dict[str, Callable[[Path, NDArray[Any], Sequence[str]], None]] = {
    ".csv": text.write,
    ".tsv": text.write,
    ".txt": text.write,
    ".npy": arrays.write_npy,
    ".npz": arrays.write_npz,
    ".parquet": arrow.write,
    ".feather": arrow.write,
}


@dataclass(frozen=True)
class Table:
    """Numbers with named columns.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        float32 where every column was float32, else float64; finite, or NaN where gaps were asked for.
    names : list of str
        One per column; x0, x1, … where the file names none.
    source : Path
        The file they came from.
    labels : ndarray of shape (n,) or None
        The column that was asked for as labels: numbers where all of them are, else words.
    """

    values: NDArray[np.floating]
    names: list[str]
    source: Path
    labels: NDArray[Any] | None = None


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    skip: Sequence[str] | None = None,
    gaps: bool = False,
    labels: str | None = None,
    header: bool | None = None,
    decimal: str = ".",
    thousands: str | None = None,
) -> Table:
    r"""Read a table of numbers; the ending of the name says what the file is.

    Parameters
    ----------
    path : str or path
        A ``.csv``, ``.tsv`` or ``.txt`` file (a header is recognised; columns are separated by commas,
        semicolons, tabs, bars or, in ``.txt``, blanks), a ``.npy`` or ``.npz`` array, or a ``.parquet`` or
        ``.feather`` file (these need ``pip install "gramfold[tables]"``). True and False are read as 1 and 0.
    columns : sequence of str, optional
        Only these columns, in this order.
    skip : sequence of str, optional
        Not these columns.
    gaps : bool, default=False
        Whether values may be missing; they become NaN.
    labels : str, optional
        The column that says what each row is, in words or numbers. It is left out of the values, and none may be
        missing. In a ``.npz`` file it may also be an array of its own beside the table.
    header : bool, optional
        Of a text file, whether its first line holds the names of the columns. Without it that is told by looking:
        words are names; years above other numbers are taken for names too, with a warning.
    decimal : {".", ","}, default="."
        Of a text file, the mark before the fraction.
    thousands : {",", ".", "'", " ", "_"}, optional
        Of a text file, what stands between thousands: 1,234,567.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        The file is missing or empty, or a wanted column holds text, unwanted gaps or infinite values, or labels are
        missing. The message names the first place.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     people = Path(folder) / "people.csv"
    ...     _ = people.write_text("name,height,weight\nAda,1.7,60\nEmmy,1.6,55\n")
    ...     table = read_table(people, skip=["name"])
    >>> table.names
    ['height', 'weight']
    >>> table.values
    array([[ 1.7, 60. ],
           [ 1.6, 55. ]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     people = Path(folder) / "people.csv"
    ...     _ = people.write_text("name,height,weight\nAda,1.7,60\nEmmy,1.6,55\n")
    ...     read_table(people, labels="name").labels.tolist()
    ['Ada', 'Emmy']
    """
    path = Path(path)
    read = _by_ending(READERS, path, "read")
    numerals = Numerals(decimal, thousands)
    if not is_text(path) and (header is not None or not numerals.plain):
        raise InputError(
            f"'{path}' is a {path.suffix} file, which has no first line and no written numbers: leave out header, "
            "decimal and thousands."
        )
    _require_file(path)
    selection = Selection(_as_names(columns, "columns"), _as_names(skip, "skip"), gaps, labels, header, numerals)
    try:
        refuse_another_kind(path)
        found = read(path, selection)
    except OSError as error:
        raise InputError(f"'{path}' could not be read ({error.strerror or error}): check that it is yours.") from error
    if not len(found.values):
        raise InputError(f"'{path}' has columns but no rows: a table needs at least one row.")
    require_finite(found.values, found.names, f"'{path}'", gaps=gaps)
    if labels is not None:
        assert found.labels is not None
        require_labels(found.labels, labels, f"'{path}'")
    return Table(found.values, found.names, path, found.labels)


def write_table(path: str | os.PathLike[str], values: ArrayLike, names: Sequence[str]) -> None:
    """Write a table; the ending of the name says what the file becomes. An existing file is replaced.

    The file appears whole or not at all: it is written under another name in the same folder first.

    Parameters
    ----------
    path : str or path
        Ends in ``.csv``, ``.tsv``, ``.txt``, ``.npy``, ``.npz``, ``.parquet`` or ``.feather``. Numbers are
        written so that reading gives the same bits back. ``.npy`` has no place for the names.
    values : array-like of shape (n, d)
        Missing values are allowed, and written as ``nan``.
    names : sequence of str
        One per column, all different.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(Path(folder) / "map.csv", [[0.1, 2.0]], ["isomap0", "isomap1"])
    ...     print((Path(folder) / "map.csv").read_text())
    isomap0,isomap1
    0.1,2.0
    """
    path = Path(path)
    write = _by_ending(WRITERS, path, "written")
    values = np.asarray(values)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InputError(f"{len(names)} names were given for values of shape {values.shape}: one name per column.")
    if len(set(names)) < len(names):
        raise InputError("Two columns have the same name: give each its own.")
    with replacing(path) as draft:
        write(draft, values, list(names))


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether a file of this name is read as text.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    bool
        True for ``.csv``, ``.tsv`` and ``.txt``.
    """
    return READERS.get(Path(path).suffix.lower()) is text.read


def check_destination(path: str | os.PathLike[str]) -> None:
    """Refuse a file that `write_table` could not write: callable before the work whose result it will hold.

    Parameters
    ----------
    path : str or path
        The file to be written.
    """
    path = Path(path)
    if _by_ending(WRITERS, path, "written") is arrow.write:
        arrow.require_pyarrow(path)
    check_folder(path)


def _require_file(path: Path) -> None:
    """Refuse a name that leads to nothing, or to no file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"There is no file '{path}': check the name and the folder.") from error
    except OSError as error:
        reason = "it leads back to itself" if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"'{path}' cannot be read ({reason}): check the name.") from error
    except ValueError as error:  # a zero byte
        raise InputError(f"{str(path)!r} is no name of a file ({error}): check the name.") from error
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"'{path}' is a folder: give the name of a file in it.")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(
            f"'{path}' is a pipe or a device, and a table is read more than once: save it to a file first."
        )
    if found.st_size == 0:
        raise InputError(f"'{path}' is empty: a table needs at least one row.")


def _by_ending(known: dict[str, Work], path: Path, verb: str) -> Work:
    ending = path.suffix.lower()
    if ending not in known:
        found = f"ends in '{path.suffix}'" if ending else "has no ending"
        raise InputError(f"'{path}' {found}, which cannot be {verb}: use one of {', '.join(known)}.")
    return known[ending]


def _as_names(names: Sequence[str] | None, word: str) -> Sequence[str] | None:
    # a lone string is a sequence of letters, which is never what was meant
    if isinstance(names, str):
        raise InputError(f"{word}='{names}' is one string: give a list of names, {word}=['{names}'].")
    return names

"""Read and write tables of numbers with named columns."""

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
from gramfold.io.selection import Contents, Ids, Selection, require_finite, require_labels
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
WRITERS: dict[str, Callable[[Path, NDArray[Any], Sequence[str], Ids | None], None]] = {
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
    """Table of numbers with named columns.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        Data, without the label column. float32 if every column of the file is float16 or float32, else float64. Values
        are finite, or NaN where one is missing and `missing=True`. Objects if `text=True`: numbers, strings, and None
        where a value is missing.
    names : list of str
        Column names; x0, x1, … if the file has none.
    source : Path
        File that the table was read from.
    labels : ndarray of shape (n,) or None
        Label of each row, if a label column was requested: numbers if all labels are numbers, else strings.
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
    missing: bool = False,
    labels: str | None = None,
    header: bool | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    text: bool = False,
) -> Table:
    r"""Read a table of numbers from a file; the ending of the file name sets the format.

    Parameters
    ----------
    path : str or path-like
        A ``.csv``, ``.tsv`` or ``.txt`` file, a ``.npy`` or ``.npz`` array, or a ``.parquet`` or ``.feather`` file. In
        text files columns are separated by commas, semicolons, tabs, vertical bars or, in ``.txt``, blanks. Parquet
        and Feather need ``pip install "gramfold[tables]"``. True and False are read as 1 and 0.
    columns : sequence of str, optional
        Names of the columns to read, in this order. By default all columns are read.
    skip : sequence of str, optional
        Names of columns to leave out.
    missing : bool, default=False
        Whether missing values are allowed. If True they become NaN, if False they raise an error.
    labels : str, optional
        Name of the column that holds the label of each row, a string or a number. It is not among the values, and no
        label may be missing. In a ``.npz`` file it may also be a separate 1-D array.
    header : bool, optional
        Whether the first line of a text file holds the column names. By default this is detected: a line with words
        is a header, a line of numbers is data. Numbers that look like column names, such as years, give a warning.
    decimal : {".", ","}, default="."
        Decimal separator of a text file.
    thousands : {",", ".", "'", " ", "_"}, optional
        Thousands separator of a text file, as in 1,234,567. By default there is none.
    text : bool, default=False
        Whether columns may hold text and gaps, for ``metric="gower"``. A column of numbers alone is read as numbers,
        any other as strings; the values are objects.

    Returns
    -------
    Table
        Values, column names, source file and labels.

    Raises
    ------
    InputError
        If the file is missing, empty or damaged; if a selected column holds text, infinite values or, unless `missing`,
        missing values; or if a label is missing. The message gives the column and the line or row.

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
            f"'{path}' is a {path.suffix} file, but header, decimal and thousands apply to text files only: leave them "
            "out."
        )
    _require_file(path)
    selection = Selection(
        _as_names(columns, "columns"), _as_names(skip, "skip"), missing, labels, header, numerals, words=text
    )
    try:
        refuse_another_kind(path)
        found = read(path, selection)
    except OSError as error:
        raise InputError(f"'{path}' could not be read ({error.strerror or error}): check its permissions.") from error
    if not len(found.values):
        raise InputError(f"'{path}' has columns but no rows: a table needs at least one row.")
    if found.values.dtype != object:  # whose numbers the metric checks
        require_finite(found.values, found.names, f"'{path}'", missing=missing or text)
    if labels is not None:
        assert found.labels is not None
        require_labels(found.labels, labels, f"'{path}'")
    return Table(found.values, found.names, path, found.labels)


def names_in(path: Path, *, header: bool | None = None, decimal: str = ".", thousands: str | None = None) -> list[str]:
    """Names of all columns of a file, without its rows; none for arrays, which have none."""
    read = _by_ending(READERS, path, "read")
    _require_file(path)
    refuse_another_kind(path)
    if is_text(path):
        return text.names_of(path, Selection(header=header, numerals=Numerals(decimal, thousands)))
    return arrow.names_of(path) if read is arrow.read else []


def dates_in(path: Path, name: str) -> NDArray[Any] | None:
    """A column of dates of a file that keeps types, as strings as text files have them; None for any other."""
    _require_file(path)
    return arrow.dates_of(path, name) if READERS.get(path.suffix.lower()) is arrow.read else None


def first_unnamed(
    path: Path, *, header: bool | None = None, decimal: str = ".", thousands: str | None = None
) -> str | None:
    """What the first column of a file that was read is called, where it has no name, as an index; else None."""
    if not is_text(path):
        return None
    return text.first_unnamed(path, Selection(header=header, numerals=Numerals(decimal, thousands)))


def ids_in(
    path: Path, name: str, *, header: bool | None = None, decimal: str = ".", thousands: str | None = None
) -> Ids:
    """The column that names the rows of a file that was read, as it is written: 007 is not 7."""
    if is_text(path):
        words = text.words_of(path, Selection(header=header, numerals=Numerals(decimal, thousands)), name)
    elif READERS[path.suffix.lower()] is arrow.read:
        words = arrow.words_of(path, name)
    else:
        found = read_table(path, labels=name).labels
        assert found is not None  # they were asked for
        words = [str(value) for value in found.tolist()]
    require_labels(np.array(words, dtype=np.str_), name, f"'{path}'")
    return Ids(name, words)


def write_table(
    path: str | os.PathLike[str], values: ArrayLike, names: Sequence[str], *, ids: Ids | None = None
) -> None:
    """Write a table to a file; the ending of the file name sets the format.

    An existing file is replaced. The file appears whole or not at all: it is first written under a temporary name
    in the same folder.

    Parameters
    ----------
    path : str or path-like
        File name that ends in ``.csv``, ``.tsv``, ``.txt``, ``.npy``, ``.npz``, ``.parquet`` or ``.feather``. Reading
        the file returns exactly the same numbers. A ``.npy`` file does not hold the column names.
    values : array-like of shape (n, d)
        Data. Missing values (NaN) are written as ``nan``.
    names : sequence of str
        Column names, all different.
    ids : Ids, optional
        A column with the name of each row, which stands before the others; a separate array in a ``.npz`` file. A
        ``.npy`` file cannot hold it.

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
        raise InputError(
            f"{len(names)} names were given for values of shape {values.shape}: pass a 2-D array "
            "and one name per column."
        )
    check_ids(path, names, None if ids is None else ids.name)
    if len(set(names)) < len(names):
        raise InputError("Two columns have the same name: give each column a different name.")
    with replacing(path) as draft:
        write(draft, values, list(names), ids)


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether a file of this name is read as text.

    Parameters
    ----------
    path : str or path-like
        Name of the file.

    Returns
    -------
    bool
        True for ``.csv``, ``.tsv`` and ``.txt``.
    """
    return READERS.get(Path(path).suffix.lower()) is text.read


def check_destination(path: str | os.PathLike[str]) -> None:
    """Raise an error if `write_table` cannot write this file; call it before a long computation.

    Parameters
    ----------
    path : str or path-like
        File that will be written.
    """
    path = Path(path)
    if _by_ending(WRITERS, path, "written") is arrow.write:
        arrow.require_pyarrow(path)
    check_folder(path)


def check_ids(path: Path, names: Sequence[str], by: str | None) -> None:
    """Raise an error if a file with these columns cannot also hold the column `by`, which names the rows."""
    if by is None:
        return
    if path.suffix.lower() == ".npy":
        raise InputError(f"'{path}' holds numbers only, and no column '{by}': choose a name that ends in .csv.")
    # the last two are no arrays, but arguments of numpy.savez
    taken = ("X", "names", "file", "allow_pickle") if path.suffix.lower() == ".npz" else names
    if by in taken:
        raise InputError(f"'{path}' has another column '{by}', which names the rows: choose another name for it.")


def _require_file(path: Path) -> None:
    """Raise an error if the path is not a regular file with content."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"There is no file '{path}': check the name and the folder.") from error
    except OSError as error:
        reason = "symbolic links form a loop" if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"'{path}' cannot be read ({reason}): check the name.") from error
    except ValueError as error:  # a zero byte
        raise InputError(f"{str(path)!r} is not a valid file name ({error}): check the name.") from error
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"'{path}' is a folder: give the name of a file in it.")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(
            f"'{path}' is a pipe or a device, but a table must be read more than once: save it to a file first."
        )
    if found.st_size == 0:
        raise InputError(f"'{path}' is empty: a table needs at least one row.")


def _by_ending(known: dict[str, Work], path: Path, verb: str) -> Work:
    ending = path.suffix.lower()
    if ending not in known:
        found = (
            f"ends in '{path.suffix}', which cannot be {verb}" if ending else "has no ending, so its format is unknown"
        )
        raise InputError(f"'{path}' {found}: use one of {', '.join(known)}.")
    return known[ending]


def _as_names(names: Sequence[str] | None, word: str) -> Sequence[str] | None:
    # a single string is a sequence of letters, which is never meant
    if isinstance(names, str):
        raise InputError(f"{word}='{names}' is a single string: give a list of names, {word}=['{names}'].")
    return names

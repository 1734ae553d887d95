"""Read and write tables of numbers with named columns."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gramfold.errors import InputError
from gramfold.io import arrays, arrow, excel, h5ad, text
from gramfold.io.codes import without_codes
from gramfold.io.columns import Columns
from gramfold.io.content import PACKED_ENDINGS, STANDARD_INPUT, Content, content_of, unknown_ending
from gramfold.io.folder import read_folder, several_files
from gramfold.io.reading import Format, Reading
from gramfold.io.replacing import replacing
from gramfold.io.selection import Ids, Selection, require_finite, require_labels
from gramfold.io.signatures import WORKBOOKS
from gramfold.io.text import refuse_index
from gramfold.runtime.destinations import check_folder

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
ARROW = (".parquet", ".feather", ".arrow", ".pq", ".ipc", ".arrows")
READERS: dict[str, Callable[[Content, Selection], Columns]] = {
    **dict.fromkeys(TEXT, text.read),
    ".npy": arrays.read_npy,
    ".npz": arrays.read_npz,
    **dict.fromkeys(ARROW, arrow.read),
    **dict.fromkeys(WORKBOOKS, excel.read),
    ".h5ad": h5ad.read,
}
WRITTEN = (*TEXT, ".npy", ".npz", *ARROW, ".xlsx", ".h5ad")


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
    reading : Reading or None
        How the file was read: encoding, separator, …; ``str(reading)`` is one line.
    """

    values: NDArray[np.floating]
    names: list[str]
    source: Path
    labels: NDArray[Any] | None = None
    reading: Reading | None = None


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    skip: Sequence[str] | None = None,
    missing: bool = False,
    labels: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    array: str | None = None,
    text: bool = False,
    na: Sequence[str | float] | None = None,
) -> Table:
    r"""Read a table of numbers from a file; the ending of the file name sets the format.

    Parameters
    ----------
    path : str or path-like
        Text (``.csv``, ``.tsv``, ``.txt``, also compressed: ``.csv.gz``, ``.bz2``, ``.xz``, ``.zst``), an array
        (``.npy``, ``.npz``), an Arrow file (``.parquet``, ``.feather``, ``.arrow``), a folder or a pattern of Parquet
        files (``parts/*.parquet``), an Excel workbook (``.xlsx``), an ``.h5ad`` file of anndata, or a folder of
        pictures, which are rows. ``-`` is standard input. Workbooks, ``.h5ad`` and pictures need
        ``pip install "gramfold[tables]"``. True and False are read as 1 and 0.
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
    decimal : {".", ","}, optional
        Decimal separator of a text file. By default it is guessed, as are the next three; ``Table.reading`` says how
        the file was read.
    thousands : {",", ".", "'", " ", "_"}, optional
        Thousands separator of a text file, as in 1,234,567.
    separator : {",", ";", "\t", "|", " "}, optional
        Mark between two columns of a text file; a blank means any number of blanks.
    encoding : str, optional
        Encoding of a text file, as Python calls it. The guess is UTF-8 or UTF-16, and Windows-1252 if it is neither.
    sheet : str or int, optional
        Sheet of a workbook, by its name or its number from 0. By default the first.
    array : str, optional
        Array of a ``.npz`` file; or of an ``.h5ad`` file, as ``"X"``, ``"layers/counts"`` or ``"obsm/X_pca"``.
    text : bool, default=False
        Whether columns may hold text and gaps, for ``metric="gower"``. A column of numbers alone is read as numbers,
        any other as strings; the values are objects.
    na : sequence of str or float, optional
        Values that stand for missing ones, such as -999, beside empty cells, ``NA``, ``nan``, ``?`` and the like.

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
    form = Format(header, decimal, thousands, separator, encoding, sheet, array, _as_words(na))
    selection = Selection(_as_names(columns, "columns"), _as_names(skip, "skip"), labels, form)
    path = Path(path)
    found = _opened(path, selection)
    kept = selection.positions(found.names, f"'{path}'", found.aside)
    if not found.n_rows:
        raise InputError(f"'{path}' has columns but no rows: a table needs at least one row.")
    values = found.mixed(kept) if text else found.table_of(kept)
    lines = found.lines
    if lines is not None:
        refuse_index(found, selection, kept)
    if values.dtype != object:  # whose numbers the metric checks
        where = None if lines is None else lambda row, j: lines.where(row, kept[j])
        require_finite(values, [found.names[j] for j in kept], f"'{path}'", missing=missing or text, where=where)
    found_labels = None
    if labels is not None:
        found_labels = labels_of(found, labels)
    return Table(values, [found.names[j] for j in kept], path, found_labels, found.reading)


def read_columns(path: str | os.PathLike[str], **how: Any) -> Columns:
    """Read all columns of a file, whatever they hold.

    Parameters
    ----------
    path : str or path-like
        File, as `read_table` takes it.
    **how
        `header`, `decimal`, `thousands`, `separator`, `encoding`, `sheet`, `array` and `na`, as `read_table` takes
        them.

    Returns
    -------
    Columns
        Names, what each column holds, its values, and how the file was read.
    """
    return _opened(Path(path), Selection(form=Format(**how), everything=True))


def names_in(path: Path, **how: Any) -> list[str]:
    """Names of all columns of a file, without its rows; none for arrays, which have none."""
    if several_files(path) is not None:
        return read_columns(path, **how).names
    content = _content(path)
    if content.ending in TEXT:
        return text.layout(content, Format(**how)).names
    if content.ending in ARROW:
        return arrow.names_of(content)
    return [] if content.ending in (".npy", ".npz") else read_columns(path, **how).names


def dates_in(path: Path, name: str) -> NDArray[Any] | None:
    """A column of dates of a file that keeps types, as strings as text files have them; None for any other."""
    if several_files(path) is None and _content(path).ending not in ARROW:
        return None
    found = _opened(path, Selection(columns=[name]))
    if found.kind(found.place(name)) != "date":
        return None
    return np.array([word or None for word in found.words(name)], dtype=object)


def first_unnamed(path: Path, **how: Any) -> str | None:
    """What the first column of a file that was read is called, where it has no name, as an index; else None."""
    if not is_text(path):
        return None
    found = text.layout(_content(path), Format(**how))
    return found.names[0] if found.unnamed_first else None


def ids_in(path: Path, name: str, **how: Any) -> Ids:
    """The column that names the rows of a file that was read, as it is written: 007 is not 7."""
    found = _opened(path, Selection(labels=name, everything=True, form=Format(**how)))
    j = found.place(name)
    words = found.words_at(j) if found.lines is None else found.lines.labels(j)
    require_labels(np.array(words, dtype=np.str_), name, f"'{path}'")
    return Ids(name, words)


def write_table(
    path: str | os.PathLike[str],
    values: ArrayLike,
    names: Sequence[str],
    *,
    ids: Ids | None = None,
    beside: Mapping[str, ArrayLike] | None = None,
) -> None:
    """Write a table to a file; the ending of the file name sets the format.

    An existing file is replaced. The file appears whole or not at all: it is first written under a temporary name
    in the same folder.

    Parameters
    ----------
    path : str or path-like
        File name that ends in ``.csv``, ``.tsv``, ``.txt``, ``.npy``, ``.npz``, ``.parquet``, ``.feather``, ``.arrow``,
        ``.arrows`` (a stream), ``.xlsx`` or ``.h5ad``. Text may also be compressed: ``.csv.gz``, ``.bz2``, ``.xz``,
        ``.zst``. Reading the file returns exactly the same numbers. A ``.npy`` file does not hold the column names.
    values : array-like of shape (n, d)
        Data. Missing values (NaN) are written as ``nan``.
    names : sequence of str
        Column names, all different.
    ids : Ids, optional
        A column with the name of each row, which stands before the others; a separate array in a ``.npz`` file. A
        ``.npy`` file cannot hold it.
    beside : mapping from str to array-like of shape (n,), optional
        More columns, of numbers, strings or dates, which stand behind the others; as `ids` in arrays.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(Path(folder) / "map.csv", [[0.1, 2.5]], ["isomap0", "isomap1"], beside={"kind": ["tall"]})
    ...     print((Path(folder) / "map.csv").read_text())
    isomap0,isomap1,kind
    0.1,2.5,tall
    """
    path = Path(path)
    ending, compression = _ending_to_write(path)
    values = np.asarray(values)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InputError(
            f"{len(names)} names were given for values of shape {values.shape}: pass a 2-D array "
            "and one name per column."
        )
    more = {name: np.asarray(column) for name, column in (beside or {}).items()}
    for by in (*(() if ids is None else (ids.name,)), *more):
        check_ids(path, names, by)
    every = [*(() if ids is None else (ids.name,)), *names, *more]
    if len(set(every)) < len(every):
        raise InputError("Two columns have the same name: give each column a different name.")
    first = {} if ids is None else {ids.name: ids.typed()}
    with replacing(path) as draft:
        if ending == ".npy":
            arrays.write_npy(draft, values)
        elif ending == ".npz":
            arrays.write_npz(draft, values, names, {**first, **more})
        elif ending == ".h5ad":
            h5ad.write(draft, values, names, first, more)
        else:
            columns = {**first, **{name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names)}, **more}
            _write_columns(draft, columns, ending, compression)


def _write_columns(draft: Path, columns: Mapping[str, NDArray[Any]], ending: str, compression: str | None) -> None:
    import pyarrow as pa

    if ending == ".xlsx":
        excel.write(draft, columns)
        return
    # objects as pyarrow sees them: strings, None where one is missing
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    if ending in TEXT:
        text.write(draft, table, ending, compression)
    else:
        arrow.write(draft, table, ending)


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether a file of this name is read as text.

    Parameters
    ----------
    path : str or path-like
        Name of the file.

    Returns
    -------
    bool
        True for ``.csv``, ``.tsv`` and ``.txt``, compressed or not, and for text from standard input.
    """
    path = Path(path)
    ending = _content(path).ending if str(path) == STANDARD_INPUT else _named(path).suffix.lower()
    return ending in TEXT


def check_destination(path: str | os.PathLike[str]) -> None:
    """Raise an error if `write_table` cannot write this file; call it before a long computation.

    Parameters
    ----------
    path : str or path-like
        File that will be written.
    """
    path = Path(path)
    if _ending_to_write(path)[0] == ".h5ad":
        h5ad.require_h5py(path)
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


def _opened(path: Path, selection: Selection) -> Columns:
    try:
        several = several_files(path)
        if several is not None:
            found = read_folder(path, several, selection)
        else:
            content = _content(path)
            found = READERS[content.ending](content, selection)
    except OSError as error:
        raise InputError(f"'{path}' could not be read ({error.strerror or error}): check its permissions.") from error
    return without_codes(found, selection.form.na) if selection.form.na else found


def _content(path: Path) -> Content:
    return content_of(path, tuple(READERS))


def labels_of(found: Columns, name: str) -> NDArray[Any]:
    """Label of each row, numbers if all are, else strings; an error if one is missing."""
    j = found.place(name)
    lines = found.lines
    if lines is not None and found.kind(j) not in ("number", "nothing"):
        return np.array(lines.labels(j), dtype=np.str_)
    if lines is not None and found.arrays[j].null_count:
        lines.labels(j)  # raises, with the line
    labels = found.labels(j)
    require_labels(labels, name, f"'{found.source}'")
    return labels


def _named(path: Path) -> Path:
    """File name without the ending of its compression."""
    return Path(path.stem) if path.suffix.lower() in PACKED_ENDINGS else path


def _ending_to_write(path: Path) -> tuple[str, str | None]:
    """Format and compression by the name of a file."""
    ending, compression = _named(path).suffix.lower(), PACKED_ENDINGS.get(path.suffix.lower())
    if ending not in WRITTEN:
        raise unknown_ending(path, WRITTEN, "written")
    if compression is not None and ending not in TEXT:
        raise InputError(
            f"'{path}' would be packed twice: leave out {path.suffix}, only text is compressed by its name."
        )
    return ending, compression


def _as_words(na: Sequence[str | float] | None) -> Sequence[str] | None:
    if isinstance(na, str | float | int):
        raise InputError(f"na={na!r} is a single value: give a list of values, na=[{na!r}].")
    return None if na is None else [str(value) for value in na]


def _as_names(names: Sequence[str] | None, word: str) -> Sequence[str] | None:
    # a single string is a sequence of letters, which is never meant
    if isinstance(names, str):
        raise InputError(f"{word}='{names}' is a single string: give a list of names, {word}=['{names}'].")
    return names

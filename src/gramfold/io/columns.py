"""All columns of a file, whatever they hold, and the numbers of those that hold numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError
from gramfold.io.mixed import as_column, side_by_side
from gramfold.io.reading import Reading
from gramfold.io.selection import Selection, leave_out, listed, shortened

if TYPE_CHECKING:
    from gramfold.io.lines import Lines

_ROWS_AT_A_TIME = 4096  # of a table that is filled column by column: they stay in the cache
NUMBER, FLAG, DATE, TEXT, NOTHING, OTHER = "number", "flag", "date", "text", "nothing", "other"


@dataclass(frozen=True, eq=False)
class Columns:
    r"""Columns of a file.

    Parameters
    ----------
    source : Path
        File that was read.
    names : list of str
        Names of all columns; x0, x1, … if the file has none.
    arrays : mapping from int to pyarrow.ChunkedArray
        Columns that were read, by position.
    matrix : ndarray of shape (n, d) or None
        The first d columns, where the file has them as one array.
    aside : list of str
        Names of columns that are no data unless they are asked for: an index of pandas, ids and labels that a file has
        beside its array.
    reading : Reading
        How the file was read; ``str(reading)`` is one line.

    Examples
    --------
    >>> import tempfile
    >>> from gramfold.io import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     people = Path(folder) / "people.csv"
    ...     _ = people.write_text("id;name;born;height\n007;Ada;1815-12-10;1,7\n008;Emmy;1882-03-23;NA\n")
    ...     columns = read_columns(people)
    >>> columns.kinds
    {'id': 'number', 'name': 'text', 'born': 'date', 'height': 'number'}
    >>> print(columns.reading)
    text in UTF-8, separated by semicolons, decimal comma
    >>> columns.numbers(["height"])
    array([[1.7],
           [nan]])
    >>> columns.words("id")
    ['007', '008']
    """

    source: Path
    names: list[str]
    reading: Reading
    arrays: Mapping[int, Any] = field(repr=False)
    matrix: NDArray[Any] | None = field(default=None, repr=False)
    aside: Sequence[str] = ()
    lines: "Lines | None" = field(default=None, repr=False)  # of text: where a value stands, and as what
    picture: tuple[int, ...] | None = None  # height, width and colours of rows that are pictures

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.matrix) if self.matrix is not None else len(next(iter(self.arrays.values()), ()))

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds: number, flag (true and false), date, text, nothing, or other."""
        return {name: self.kind(j) for j, name in enumerate(self.names) if j in self.arrays or self._in_matrix(j)}

    def kind(self, j: int) -> str:
        """What the column at a position holds."""
        return NUMBER if self._in_matrix(j) else kind_of(self.arrays[j].type)

    def place(self, name: str) -> int:
        """Position of a column; an error if there is none, or if there are several of this name."""
        place = self._places.get(name)
        if place is None:
            (place,) = Selection(columns=[name]).positions(self.names, f"'{self.source}'")  # raises
        return place

    def numbers(self, names: Sequence[str] | None = None) -> NDArray[Any]:
        """Numbers of these columns, by default of all that hold numbers; NaN where one is missing, (n, d)."""
        if names is None:
            aside = set(self.aside)
            kept = [j for j, name in enumerate(self.names) if name not in aside and self.kind(j) in (NUMBER, FLAG)]
        else:
            kept = [self.place(name) for name in names]
        return self.table_of(kept)

    def column(self, name: str) -> NDArray[Any]:
        """One column: float64, datetime64, or strings as objects, None where one is missing."""
        j = self.place(name)
        if self.kind(j) in (NUMBER, FLAG):
            return self.table_of([j])[:, 0]
        if self.kind(j) == DATE:
            return _dates(self.arrays[j])
        return as_column([None if word == "" else word for word in self.words(name)])

    def words(self, name: str) -> list[str]:
        """One column as it is written, 007 is not 7; empty where a value is missing."""
        j = self.place(name)
        return self.words_at(j)

    def words_at(self, j: int) -> list[str]:
        """The column at a position as it is written; empty where a value is missing."""
        if self.lines is not None:
            return self.lines.words(j)
        values = self._matrix_column(j).tolist() if self._in_matrix(j) else self.arrays[j].to_pylist()
        return ["" if value is None or value != value else _written(value) for value in values]

    def mixed(self, kept: Sequence[int]) -> NDArray[Any]:
        """Numbers, text and gaps of these columns as objects, (n, d)."""
        return side_by_side([self._objects(j) for j in kept])

    def table_of(self, kept: Sequence[int]) -> NDArray[Any]:
        """Numbers of the columns at these positions; float32 if all are float16 or float32, else float64."""
        if self.matrix is not None and all(self._in_matrix(j) for j in kept):
            whole = list(kept) == list(range(self.matrix.shape[1]))
            dtype = np.float32 if self.matrix.dtype in (np.float16, np.float32) else np.float64
            return np.ascontiguousarray(self.matrix if whole else self.matrix[:, kept], dtype=dtype)
        odd = [j for j in kept if self.kind(j) not in (NUMBER, FLAG)]
        if self.lines is not None:
            self.lines.require_numbers(self, kept)
        elif odd:
            raise _no_numbers(self, odd, len(kept))
        import pyarrow as pa

        columns = [self._matrix_column(j) if self._in_matrix(j) else _as_floats(self.arrays[j]) for j in kept]
        kinds = [None if self._in_matrix(j) else self.arrays[j].type for j in kept]
        narrow = all(kind is not None and (pa.types.is_float32(kind) or pa.types.is_float16(kind)) for kind in kinds)
        values = np.empty((self.n_rows, len(kept)), dtype=np.float32 if narrow else np.float64)
        for start in range(0, len(values), _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            for j, column in enumerate(columns):
                values[rows, j] = column[rows]
        return values

    def labels(self, j: int) -> NDArray[Any]:
        """Labels as strings, or as float64 if they are numbers; a missing label is an empty string or NaN."""
        kind = self.kind(j)
        if kind == NUMBER or (kind == FLAG and self.lines is None):
            return self.table_of([j])[:, 0].astype(np.float64)
        if kind != TEXT and self.lines is None:
            raise InputError(
                f"In '{self.source}', column '{self.names[j]}' holds {_in_words(self.arrays[j].type)}: labels must be "
                "strings or numbers. Choose another column."
            )
        return np.array([word.strip() for word in self.words_at(j)], dtype=np.str_)

    @cached_property
    def _places(self) -> dict[str, int]:
        """Positions of the columns whose names no other has."""
        counts = Counter(self.names)
        return {name: j for j, name in enumerate(self.names) if counts[name] == 1}

    def _objects(self, j: int) -> NDArray[Any]:
        kind = self.kind(j)
        if self._in_matrix(j):
            return as_column(self._matrix_column(j).tolist())
        if self.lines is None:
            if kind in (DATE, OTHER):
                raise _no_numbers(self, [j], len(self.arrays))
            return as_column(self.arrays[j].to_pylist())
        if kind in (NUMBER, NOTHING):
            return as_column(self.arrays[j].cast("double", safe=False).to_pylist())  # long integers are rounded
        return as_column([word or None for word in self.lines.known_words(j)])

    def _in_matrix(self, j: int) -> bool:
        return self.matrix is not None and j < self.matrix.shape[1]

    def _matrix_column(self, j: int) -> NDArray[Any]:
        assert self.matrix is not None
        return self.matrix[:, j]


def kind_of(kind: Any) -> str:
    """What a column of this type of Arrow holds."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
        return TEXT if kind_of(kind) in (TEXT, NUMBER) else kind_of(kind)
    if types.is_boolean(kind):
        return FLAG
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return NUMBER
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return TEXT
    if types.is_temporal(kind):
        return OTHER if types.is_duration(kind) else DATE
    return NOTHING if types.is_null(kind) else OTHER


def _as_floats(column: Any) -> NDArray[Any]:
    """Missing values become NaN, booleans 0 and 1; large integers are rounded."""
    import pyarrow as pa

    if not (pa.types.is_floating(column.type) and column.null_count == 0):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy())


def _dates(column: Any) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_time(column.type):
        return as_column([None if value is None else str(value) for value in column.to_pylist()])
    kind = pa.timestamp("us")
    return np.asarray(column.cast(kind, safe=False).to_numpy())


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _in_words(kind: Any) -> str:
    """Plain name of the values of a type."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return "categories"
    if types.is_duration(kind):
        return "durations"
    if types.is_nested(kind):
        return "lists"
    return {TEXT: "text", DATE: "dates or times", NOTHING: "only missing values"}.get(kind_of(kind), str(kind))


def _no_numbers(columns: Columns, odd: Sequence[int], n_columns: int) -> InputError:
    """Error for columns that are not numeric, with the kind and the first value of each."""
    names = [columns.names[j] for j in odd]
    found = [f"'{shortened(columns.names[j])}' ({_told(columns.arrays[j])})" for j in odd]
    word, verb, them = ("column", "is", "it") if len(found) == 1 else ("columns", "are", "them")
    advice = f"leave {them} out ({leave_out(names)})" if len(found) < n_columns else f"save {them} as numbers"
    return InputError(f"In '{columns.source}', {word} {listed(found)} {verb} not numeric: {advice}.")


def _told(column: Any) -> str:
    kind = _in_words(column.type)
    try:
        first = next((value.as_py() for value in column if value.is_valid), None)
    except (OverflowError, ValueError):  # a date outside the range of Python
        first = None
    return kind if first is None else f"{kind}: '{shortened(str(first))}'"

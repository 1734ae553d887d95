"""INPUT as columns of any kind: which are data, which name, colour or label the rows, and which hold text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Columns, Ids

_FEWEST = 2  # rows of a map
_MOSTLY_NUMBERS = 0.5  # share of cells that are none, up to which a column is measured and has wrong cells


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of INPUT that may be data, and those of them that are not."""

    table: Any  # pyarrow.Table
    aside: dict[str, str]  # why not
    places: list[int]  # of the columns in the file


def frame_of(
    found: "Columns",
    columns: Sequence[str] | None,
    skip: Sequence[str] | None,
    others: Sequence[str],
    mixed: bool | None,
) -> Frame:
    """Columns that may be data, without `others`; text stands aside, unless `mixed` rows are read (None: perhaps)."""
    import pyarrow as pa

    from gramfold.advice.looks import TEXT
    from gramfold.io.selection import Selection

    source = f"'{found.source}'"
    not_data = [name for name in dict.fromkeys(others) if columns is None or name not in columns]
    _require_own_names(found)
    places = Selection(columns, [*(skip or []), *not_data]).positions(found.names, source, found.aside)
    if found.n_rows < _FEWEST:
        rows = "one row" if found.n_rows else "columns but no rows"
        raise InputError(f"{source} has {rows}: a map needs at least two.")
    odd = [j for j in places if found.kind(j) not in ("number", "flag", "nothing")]
    text = [j for j in odd if found.kind(j) == "text"]
    if columns is not None and (refused := [j for j in odd if not (mixed and j in text)]):
        found.table_of(refused)  # raises: they were asked for
    aside = {found.names[j]: TEXT for j in text} if mixed is False else {}
    if not mixed:
        _look_at_cells(found, text, places)
    if columns is None and 0 in places:
        aside |= _index(found)
    table = pa.table({found.names[j]: _array(found, j, words=mixed is not False and j in text) for j in places})
    return Frame(table, aside, places)


def _require_own_names(found: "Columns") -> None:
    from gramfold.cli.options import require_own_names
    from gramfold.io import Table

    require_own_names(Table(None, found.names, found.source))  # type: ignore[arg-type]


def _array(found: "Columns", j: int, words: bool) -> Any:
    import pyarrow as pa

    if words and found.lines is not None:
        return pa.array([word or None for word in found.lines.known_words(j)])
    if j in found.arrays:
        return found.arrays[j]
    return pa.array(found.table_of([j])[:, 0])


def _index(found: "Columns") -> dict[str, str]:
    """A first column without a name, if it numbers or names the rows, and why it is no data."""
    from gramfold.io.text import refuse_short_header, unnamed_index

    if unnamed_index(found):
        return {found.names[0]: "it has no name and holds distinct integers, as an index does"}
    if found.kind(0) == "number":
        refuse_short_header(found)
    return {}


def _look_at_cells(found: "Columns", text: Sequence[int], places: Sequence[int]) -> None:
    """Raise an error for a column that is text for the sake of a few cells; warn of one that may be numbers."""
    from gramfold.cli.written_numbers import warn_of_number_like
    from gramfold.io.mixed import as_column

    if found.lines is None:
        return
    for j in text:
        _, share = found.lines.odd(j, found.arrays[j])
        if share <= _MOSTLY_NUMBERS:
            found.lines.require_numbers(found, [j, *(other for other in places if found.kind(other) == "number")])
        cells = [cell for cell in found.arrays[j].unique().to_pylist() if cell is not None]
        warn_of_number_like(found.source, {found.names[j]: as_column(cells)})


def ids_of(found: "Columns", name: str | None) -> "Ids | None":
    """The column that names the rows, as it is written; None if none is named."""
    import numpy as np

    from gramfold.io import Ids
    from gramfold.io.selection import require_labels

    if name is None:
        return None
    j = found.place(name)
    words = found.words_at(j) if found.lines is None else found.lines.labels(j)
    require_labels(np.array(words, dtype=np.str_), name, f"'{found.source}'")
    return Ids(name, words)


def classes_of(found: "Columns", name: str | None) -> Any:
    """The column of classes, numbers if all are, else strings; None if none is named."""
    from gramfold.io.table import labels_of

    return None if name is None else labels_of(found, name)


def kept_beside(found: "Columns", keep: Sequence[str] | None, ids: str | None) -> dict[str, Any]:
    """Columns that are written behind the coordinates, as they are; `all`: every column but the ids."""
    names = [name for name in found.names if name != ids] if keep == ["all"] else (keep or [])
    places = {name: found.place(name) for name in names if name != ids}
    as_written = [j for j in places.values() if _is_written(found, j)]
    words = {} if found.lines is None else found.lines.words_of(as_written)
    return {name: _as_it_is(found, j, words.get(j)) for name, j in places.items()}


def _is_written(found: "Columns", j: int) -> bool:
    """Whether a column of a text file is kept as it is written: 007 is not 7."""
    return found.lines is not None and (found.kind(j) in ("text", "date", "flag") or _is_whole(found.arrays.get(j)))


def _is_whole(array: Any) -> bool:
    import pyarrow as pa

    return array is not None and pa.types.is_integer(array.type) and not array.null_count


def _as_it_is(found: "Columns", j: int, words: list[str] | None) -> Any:
    import numpy as np

    from gramfold.io import Ids

    if _is_whole(found.arrays.get(j)):
        return np.asarray(found.arrays[j].to_numpy()) if words is None else Ids(found.names[j], words).typed()
    if words is not None and found.lines is not None:
        return np.array([word or None for word in found.lines.known(words)], dtype=object)
    return found.column(found.names[j])

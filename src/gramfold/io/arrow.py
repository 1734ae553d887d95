"""Read and write Parquet and Feather files with pyarrow, an optional dependency that is imported on first use."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError, MissingExtraError
from gramfold.io.mixed import as_column, side_by_side
from gramfold.io.selection import Contents, Ids, Selection, leave_out, listed, shortened

Found = TypeVar("Found")
FIRST_VERSION = b"FEA1"  # of Feather, whose schema cannot be read separately


def read(path: Path, selection: Selection) -> Contents:
    """Read only the selected columns; a pandas index is not data unless it is selected by name."""
    pa = require_pyarrow(path)
    schema = _parsed(lambda: _schema(path), path)
    all_names = _parsed(lambda: schema.names, path)  # which may fail to decode
    kept = selection.positions(all_names, f"'{path}'", index=_pandas_index(schema))
    names = [all_names[j] for j in kept]
    odd = [j for j in kept if not _is_number(schema.field(j).type) and not (selection.words and _is_word(schema, j))]
    if odd:
        raise _no_numbers(_parsed(lambda: _columns(path, schema, odd), path), len(kept), path)
    label = [] if selection.labels is None else [all_names.index(selection.labels)]
    table = _parsed(lambda: _columns(path, schema, [*kept, *label]), path)
    labels = None if selection.labels is None else _labels(table.column(len(kept)), selection, path)
    if selection.words:
        return Contents(side_by_side([as_column(table.column(j).to_pylist()) for j in range(len(kept))]), names, labels)
    kinds = [table.schema.field(j).type for j in range(len(kept))]
    narrow = all(pa.types.is_float32(kind) or pa.types.is_float16(kind) for kind in kinds)
    values = np.empty((table.num_rows, len(names)), dtype=np.float32 if narrow else np.float64)
    for j in range(len(kept)):
        # missing values become NaN, which `read_table` reports; booleans become 0 and 1; large integers are rounded
        values[:, j] = table.column(j).cast(pa.float64(), safe=False).to_numpy()
    return Contents(values, names, labels)


def names_of(path: Path) -> list[str]:
    """Names of all columns, without reading the rows."""
    require_pyarrow(path)
    return _parsed(lambda: list(_schema(path).names), path)


def words_of(path: Path, name: str) -> list[str]:
    """Values of one column as strings, of a file that was read; empty where one is missing."""
    schema = _schema(path)
    places = Selection(columns=[name]).positions(schema.names, f"'{path}'")
    column = _parsed(lambda: _columns(path, schema, places), path).column(0)
    return ["" if value is None else str(value).strip() for value in column.to_pylist()]


def dates_of(path: Path, name: str) -> NDArray[Any] | None:
    """Values of one column of dates or times as strings, None where one is missing; None for other columns."""
    from pyarrow import types

    require_pyarrow(path)
    schema = _parsed(lambda: _schema(path), path)
    (place,) = Selection(columns=[name]).positions(_parsed(lambda: schema.names, path), f"'{path}'")
    kind = schema.field(place).type
    if not types.is_temporal(kind) or types.is_duration(kind):
        return None
    return np.array([word or None for word in words_of(path, name)], dtype=object)


def write(path: Path, values: NDArray[Any], names: Sequence[str], ids: Ids | None = None) -> None:
    """Write one column per name, in the precision of the values."""
    pa = require_pyarrow(path)
    first = {} if ids is None else {ids.name: ids.typed()}
    table = pa.table({**first, **{name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names)}})
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)
    else:
        import pyarrow.feather

        pyarrow.feather.write_feather(table, path)


def require_pyarrow(path: Path) -> Any:
    """Import pyarrow, or raise an error with the command that installs it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is a {path.suffix} file and needs pyarrow, which is not installed: "
            'run `pip install "gramfold[tables]"`, or use a .csv file.'
        ) from error
    return pa


def _parsed(parse: Callable[[], Found], path: Path) -> Found:
    try:
        return parse()
    except Exception as error:  # damaged bytes make a parser raise anything
        raise InputError(
            f"'{path}' is not a readable {path.suffix} file (it may be truncated): save it again."
        ) from error


def _schema(path: Path) -> Any:
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_schema(path)
    import pyarrow.feather

    with path.open("rb") as stream:
        if stream.read(len(FIRST_VERSION)) == FIRST_VERSION:
            return pyarrow.feather.read_table(path).schema
    with pyarrow.OSFile(str(path)) as stream, pyarrow.ipc.open_file(stream) as file:
        return file.schema


def _columns(path: Path, schema: Any, positions: list[int]) -> Any:
    """Read these columns in this order, and validate them."""
    names = [schema.names[j] for j in positions]
    unique = len(set(schema.names)) == len(schema.names)
    wanted = names if unique else None
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        # a single file: a folder above it named a=1 is not a column (Hive partitioning)
        with pyarrow.parquet.ParquetFile(path) as file:
            table = file.read(columns=wanted)
    else:
        import pyarrow.feather

        table = pyarrow.feather.read_table(path, columns=wanted)
    table = table.select([table.schema.get_field_index(name) for name in names] if unique else positions)
    table.validate(full=True)
    return table


def _labels(column: Any, selection: Selection, path: Path) -> NDArray[Any]:
    """Labels as strings, or as float64 if they are numbers; a missing label is an empty string or NaN."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):  # as pandas writes its categories
        column = column.cast(column.type.value_type)
    if _is_text(column.type):
        return np.array(["" if word is None else word.strip() for word in column.to_pylist()], dtype=np.str_)
    if not _is_number(column.type):
        raise InputError(
            f"In '{path}', column '{selection.labels}' holds {_in_words(column.type)}: labels must be strings or "
            "numbers. Choose another column."
        )
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy())


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return any(is_kind(kind) for is_kind in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_word(schema: Any, j: int) -> bool:
    """Whether a column holds text, or categories of text or numbers, or nothing."""
    from pyarrow import types

    kind = schema.field(j).type
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return _is_text(kind) or types.is_null(kind) or _is_number(kind)


def _in_words(kind: Any) -> str:
    """Plain name of the values of a type."""
    from pyarrow import types

    if _is_text(kind):
        return "text"
    if types.is_dictionary(kind):
        return "categories"
    if types.is_duration(kind):
        return "durations"
    if types.is_temporal(kind):
        return "dates or times"
    if types.is_null(kind):
        return "only missing values"
    return "lists" if types.is_nested(kind) else str(kind)


def _pandas_index(schema: Any) -> list[str]:
    """Columns that the pandas metadata lists as the index; none without valid metadata."""
    try:
        noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except ValueError:
        return []
    index = noted.get("index_columns") if isinstance(noted, dict) else None
    # a RangeIndex is stored as a dictionary and has no column
    return [name for name in index if isinstance(name, str)] if isinstance(index, list) else []


def _no_numbers(odd: Any, n_columns: int, path: Path) -> InputError:
    """Error for columns that are not numeric, with the kind and the first value of each."""
    found = [f"'{shortened(name)}' ({_told(odd.column(j))})" for j, name in enumerate(odd.schema.names)]
    word, verb, them = ("column", "is", "it") if len(found) == 1 else ("columns", "are", "them")
    advice = (
        f"leave {them} out ({leave_out(odd.schema.names)})" if len(found) < n_columns else f"save {them} as numbers"
    )
    return InputError(f"In '{path}', {word} {listed(found)} {verb} not numeric: {advice}.")


def _told(column: Any) -> str:
    kind = _in_words(column.type)
    try:
        first = next((value.as_py() for value in column if value.is_valid), None)
    except (OverflowError, ValueError):  # a date outside the range of Python
        first = None
    return kind if first is None else f"{kind}: '{shortened(str(first))}'"

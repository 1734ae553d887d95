"""Parquet and feather, through pyarrow (an extra, imported when first needed)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError, MissingExtraError
from gramfold.io.selection import Contents, Selection, leave_out, quoted


def read(path: Path, selection: Selection) -> Contents:
    """The wanted columns, read alone; a pandas index is row labels, not data, unless asked for by name."""
    pa = require_pyarrow(path)
    try:
        schema, load = _open(path)
        kept = selection.positions(schema.names, f"'{path}'", index=_pandas_index(schema))
        _refuse_text([schema.field(j) for j in kept], path)
        names = [schema.names[j] for j in kept]
        table = load([*names, *([] if selection.labels is None else [selection.labels])])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, EOFError) as error:
        raise InputError(f"'{path}' is not a readable {path.suffix} file: write it again.") from error
    kinds = [table.schema.field(name).type for name in names]
    narrow = all(pa.types.is_float32(kind) or pa.types.is_float16(kind) for kind in kinds)
    values = np.empty((table.num_rows, len(names)), dtype=np.float32 if narrow else np.float64)
    for j, name in enumerate(names):
        column = table.column(name)
        # gaps come back as NaN, which the reader of tables then names; booleans become 0 and 1
        values[:, j] = column.cast(pa.float64()).to_numpy()
    return Contents(values, names, None if selection.labels is None else _labels(table, selection.labels, path))


def write(path: Path, values: NDArray[Any], names: Sequence[str]) -> None:
    """One column per name, in the precision of the values."""
    pa = require_pyarrow(path)
    table = pa.table({name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names)})
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)
    else:
        import pyarrow.feather

        pyarrow.feather.write_feather(table, path)


def require_pyarrow(path: Path) -> Any:
    """The pyarrow module, or one sentence on how to get it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is a {path.suffix} file, and pyarrow, which reads and writes those, is not installed: "
            'run `pip install "gramfold[tables]"`, or use a .csv file.'
        ) from error
    return pa


def _open(path: Path) -> tuple[Any, Any]:
    """The schema, and a function that loads the named columns."""
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        # partitioning=None: a folder named a=1 above the file is no column of it
        return pyarrow.parquet.read_schema(path), lambda names: pyarrow.parquet.read_table(
            path, columns=names, partitioning=None
        )
    import pyarrow.feather

    whole = pyarrow.feather.read_table(path)
    return whole.schema, whole.select


def _labels(table: Any, name: str, path: Path) -> NDArray[Any]:
    """Words, or numbers as float64; a gap is an empty word or NaN."""
    import pyarrow as pa

    column = table.column(name)
    if pa.types.is_dictionary(column.type):  # as pandas writes its categories
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return np.array(["" if word is None else word.strip() for word in column.to_pylist()], dtype=np.str_)
    if not _is_number(column.type):
        raise InputError(
            f"In '{path}' column '{name}' holds {column.type} values, neither words nor numbers: take another column "
            "for the labels."
        )
    return np.asarray(column.cast(pa.float64()).to_numpy())


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return any(is_kind(kind) for is_kind in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))


def _pandas_index(schema: Any) -> list[str]:
    notes = (schema.metadata or {}).get(b"pandas")
    # a plain range is noted as a dictionary and has no column
    return [name for name in json.loads(notes)["index_columns"] if isinstance(name, str)] if notes else []


def _refuse_text(fields: Sequence[Any], path: Path) -> None:
    odd = [f for f in fields if not _is_number(f.type)]
    if odd:
        names = [f.name for f in odd]
        verb, them = ("holds", "it") if len(odd) == 1 else ("hold", "them")
        raise InputError(
            f"In '{path}' column {quoted(names)} {verb} {odd[0].type} values, not numbers: "
            f"leave {them} out ({leave_out(names)})."
        )

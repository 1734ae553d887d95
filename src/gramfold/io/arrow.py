"""Read and write Parquet, Feather and Arrow files with pyarrow."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from gramfold.errors import InputError
from gramfold.io.columns import Columns
from gramfold.io.content import Content
from gramfold.io.reading import Reading
from gramfold.io.selection import Selection, shortened
from gramfold.neighbors.arrow_tables import pandas_index

Found = TypeVar("Found")
PARQUET = (".parquet", ".pq")
STREAM = b"\xff\xff\xff\xff"  # first bytes of an Arrow stream
FIRST_VERSION = b"FEA1"  # of Feather, whose schema cannot be read separately


def read(content: Content, selection: Selection) -> Columns:
    """Read only the columns that are used; a pandas index is not data unless it is selected by name."""
    path = content.path
    selection.form.require(f"a {content.ending} file", (), path)
    schema = _parsed(lambda: _schema(content), content)
    names = _parsed(lambda: list(schema.names), content)  # which may fail to decode
    index = pandas_index(schema)
    needed = selection.needed(names, f"'{path}'", index)
    table = _parsed(lambda: _columns(content, schema, needed), content)
    kind = "parquet" if content.ending in PARQUET else "arrow"
    arrays = {j: table.column(place) for place, j in enumerate(needed)}
    return Columns(path, names, Reading(kind, content.compression), arrays, aside=index)


def read_several(path: Path, contents: Sequence[Content], selection: Selection) -> Columns:
    """Read Parquet files with the same columns as one table, in the order of their names."""
    import pyarrow as pa

    parts = [read(content, selection) for content in contents]
    first = parts[0]
    for part in parts[1:]:
        if part.names != first.names:
            odd = next(
                (name for name in (*part.names, *first.names) if (name in part.names) != (name in first.names)), ""
            )
            what = f"column '{shortened(odd)}' in only one of them" if odd else "their columns in another order"
            raise InputError(
                f"'{part.source}' and '{first.source}' have {what}, so they are not one table: give one of them."
            )
    try:
        arrays = {j: _joined(pa, [part.arrays[j] for part in parts]) for j in first.arrays}
    except pa.ArrowException as error:
        raise InputError(
            f"The files of '{path}' have other kinds of values in the same column, so they are not one table: give one "
            "of them."
        ) from error
    return Columns(path, first.names, Reading("parquet", files=len(parts)), arrays, aside=first.aside)


def names_of(content: Content) -> list[str]:
    """Names of all columns, without reading the rows."""
    return _parsed(lambda: list(_schema(content).names), content)


def write(path: Path, table: Any, ending: str) -> None:
    """Write a table of Arrow."""
    if ending in PARQUET:
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)
        return
    import pyarrow as pa

    if ending == ".arrows":
        with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
        return
    import pyarrow.feather

    # memory maps of Arrow files are read by many programs, of which not all unpack
    pyarrow.feather.write_feather(table, path, compression="lz4" if ending == ".feather" else "uncompressed")


def _joined(pa: Any, columns: Sequence[Any]) -> Any:
    kind = (
        pa.unify_schemas([pa.schema([("x", column.type)]) for column in columns], promote_options="permissive")
        .field(0)
        .type
    )
    return pa.chunked_array([chunk for column in columns for chunk in column.cast(kind).chunks], type=kind)


def _parsed(parse: Callable[[], Found], content: Content) -> Found:
    try:
        return parse()
    except InputError:
        raise
    except Exception as error:  # damaged bytes make a parser raise anything
        raise InputError(
            f"'{content.path}' is not a readable {content.ending} file (it may be truncated): save it again."
        ) from error


def _opened(content: Content) -> Any:
    import pyarrow as pa

    return pa.OSFile(str(content.path)) if content.in_file else pa.BufferReader(content.data)


def _schema(content: Content) -> Any:
    import pyarrow as pa

    if content.ending in PARQUET:
        import pyarrow.parquet

        with _opened(content) as stream:
            return pyarrow.parquet.read_schema(stream)
    import pyarrow.feather

    with content.stream() as stream:
        head = stream.read(len(STREAM))
    with _opened(content) as stream:
        if head == FIRST_VERSION:
            return pyarrow.feather.read_table(stream).schema
        opener = pa.ipc.open_stream if head == STREAM else pa.ipc.open_file
        with opener(stream) as file:
            return file.schema


def _columns(content: Content, schema: Any, positions: list[int]) -> Any:
    """Read these columns in this order, and validate them."""
    import pyarrow as pa

    names = [schema.names[j] for j in positions]
    unique = len(set(schema.names)) == len(schema.names)
    wanted = names if unique else None
    with _opened(content) as stream:
        if content.ending in PARQUET:
            import pyarrow.parquet

            # a single file: a folder above it named a=1 is not a column (Hive partitioning)
            with pyarrow.parquet.ParquetFile(stream) as file:
                table = file.read(columns=wanted)
        elif stream.read(len(STREAM)) == STREAM:
            stream.seek(0)
            table = pa.ipc.open_stream(stream).read_all()
        else:
            import pyarrow.feather

            stream.seek(0)
            table = pyarrow.feather.read_table(stream, columns=wanted)
    table = table.select([table.schema.get_field_index(name) for name in names] if unique else positions)
    table.validate(full=True)
    return table

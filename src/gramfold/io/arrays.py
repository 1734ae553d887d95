"""Read and write .npy and .npz files."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gramfold.errors import InputError
from gramfold.io.columns import Columns
from gramfold.io.content import Content
from gramfold.io.reading import Reading
from gramfold.io.selection import Selection, listed, numbered, shortened

Found = TypeVar("Found")


def read_npy(content: Content, selection: Selection) -> Columns:
    """Read the array of a .npy file."""
    selection.form.require("a .npy file", (), content.path)
    array = _array(content.stream, content.size, f"'{content.path}'")
    _require_table(array, f"'{content.path}'")
    return Columns(content.path, numbered(array.shape[1]), Reading("npy", content.compression), {}, array)


def read_npz(content: Content, selection: Selection) -> Columns:
    """Read the array `X` of a .npz file, or its only 2-D array, with `names` and arrays of one value for each row."""
    path = content.path
    selection.form.require("a .npz file", ("array",), path)
    with content.stream() as stream, _archive(stream, path) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        key = selection.form.array or ("X" if "X" in members else _only_table(archive, members, path))
        if key not in members:
            raise InputError(f"'{path}' has no array '{shortened(key)}'; it has {listed(list(members))}.")

        def load(name: str) -> NDArray[Any]:
            member = members[name]
            return _array(lambda: archive.open(member), member.file_size, f"'{name}' of '{path}'")

        array = load(key)
        _require_table(array, f"'{key}' of '{path}'")
        names = load("names") if "names" in members else None
        fits = names is not None and names.shape == array.shape[1:]
        columns = _words(names) if names is not None and fits else numbered(array.shape[1])
        asked = [selection.labels] if selection.labels is not None else []
        if selection.everything:
            asked = [
                name for name in members if name not in (key, "names") and _is_label(archive, members[name], array)
            ]
        beside = [name for name in asked if name in members and name not in columns]
        loaded = [_labels(load(name), len(array), f"'{name}' of '{path}'") for name in beside]
    import pyarrow as pa

    arrays = {array.shape[1] + j: pa.chunked_array([pa.array(values)]) for j, values in enumerate(loaded)}
    reading = Reading("npz", content.compression, part=key if key != "X" else None)
    return Columns(path, [*columns, *beside], reading, arrays, array, beside)


def write_npy(path: Path, values: NDArray[Any]) -> None:
    """Write the values; the format does not hold column names."""
    with path.open("wb") as stream:
        np.save(stream, values, allow_pickle=False)


def write_npz(path: Path, values: NDArray[Any], names: Sequence[str], beside: Mapping[str, NDArray[Any]]) -> None:
    """Write the values as `X`, the column names as `names`, and other columns under their own names."""
    others = {name: _without_objects(column) for name, column in beside.items()}
    with path.open("wb") as stream:
        np.savez_compressed(stream, X=values, names=np.array(names, dtype=np.str_), **others)  # type: ignore[arg-type]


def _without_objects(column: NDArray[Any]) -> NDArray[Any]:
    """Numbers or strings, empty at gaps: objects would be pickled, which nobody should read."""
    if column.dtype.kind in "biufU":
        return column
    return np.array(["" if value is None else str(value) for value in column.tolist()], dtype=np.str_)


def _is_label(archive: ZipFile, member: ZipInfo, array: NDArray[Any]) -> bool:
    """Whether an array has one string or number for each row, by its header."""
    try:
        with archive.open(member) as stream:
            shape, dtype = _header(stream)
    except Exception:  # noqa: BLE001 - the archive may also hold other files
        return False
    return shape == (len(array),) and dtype.kind in "biufU"


def _archive(stream: IO[bytes], path: Path) -> ZipFile:
    try:
        return ZipFile(stream)
    except Exception as error:  # damaged bytes make a parser raise anything
        raise InputError(f"'{path}' is not a readable .npz file: save it again with numpy.savez.") from error


def _only_table(archive: ZipFile, members: dict[str, ZipInfo], path: Path) -> str:
    """Name of the only 2-D array, found from the headers; no array is loaded."""
    held, tables = [], []
    for key, member in members.items():
        try:
            with archive.open(member) as stream:
                shape, _ = _header(stream)
        except Exception:  # noqa: BLE001 - the archive may also hold other files
            held.append(f"{shortened(key)} (not an array)")
            continue
        held.append(f"{shortened(key)} {shape}")
        if len(shape) == 2 and key != "names":
            tables.append(key)
    if len(tables) == 1:
        return tables[0]
    raise InputError(
        f"'{path}' holds {listed(held) or 'no arrays'}: it is not clear which array is the table. Save the table under "
        "the name X, or name it (`--array NAME`, or array='NAME' in Python)."
    )


def _array(opened: Callable[[], IO[bytes]], size: int, source: str) -> NDArray[Any]:
    """Read the array from a stream of `size` bytes; raise an error if its header declares another size."""
    announced = _parsed(_announced, opened, source)
    if announced is not None and announced != size:
        found = "is truncated" if announced > size else "has extra bytes after its array"
        raise InputError(
            f"{source} {found}: its header declares {announced:,} bytes, but there are {size:,}. Save it again."
        )
    # pickles run code: a data file must not
    return _parsed(lambda stream: np.asarray(npy.read_array(stream, allow_pickle=False)), opened, source)


def _parsed(parse: Callable[[IO[bytes]], Found], opened: Callable[[], IO[bytes]], source: str) -> Found:
    try:
        with opened() as stream:
            return parse(stream)
    except MemoryError:
        raise
    except Exception as error:  # damaged bytes make a parser raise anything
        raise InputError(
            f"{source} is not a readable array: save it again with numpy.save or numpy.savez, with a numeric or "
            "string dtype. Pickled object arrays are not read."
        ) from error


def _announced(stream: IO[bytes]) -> int | None:
    """Number of bytes that the header declares, including itself; None for pickles, which are never read."""
    shape, dtype = _header(stream)
    return None if dtype.hasobject else stream.tell() + math.prod(shape) * dtype.itemsize


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(stream)
    # version 3 differs from version 2 only in the encoding of field names, which tables do not have
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    if any(length < 0 for length in shape):
        raise ValueError(f"negative shape {shape}")
    return shape, dtype


def _words(names: NDArray[Any]) -> list[str]:
    return [name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) for name in names.tolist()]


def _labels(array: NDArray[Any], n: int, source: str) -> NDArray[Any]:
    """Check that an array holds one string or number for each row."""
    if array.shape != (n,):
        raise InputError(f"{source} has shape {array.shape}, but the table has {n} rows: save one label for each row.")
    if array.dtype.kind not in "biufU":
        raise InputError(f"{source} has dtype {array.dtype}: labels must be strings or numbers.")
    return np.strings.strip(array) if array.dtype.kind == "U" else array


def _require_table(array: NDArray[Any], source: str) -> None:
    if array.dtype.names is not None:
        raise InputError(
            f"{source} is a structured array with fields {listed(list(array.dtype.names))}: save it as a 2-D array, "
            "numpy.lib.recfunctions.structured_to_unstructured(array)."
        )
    if array.ndim != 2:
        change = "reshape(-1, 1)" if array.ndim < 2 else "reshape(len(array), -1)"
        raise InputError(f"{source} has shape {array.shape}, but a table must be 2-D: save array.{change}.")
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{source} holds values of dtype {array.dtype}, which are not real numbers: save it as floating point."
        )

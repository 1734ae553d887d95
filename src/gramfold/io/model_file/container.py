"""The container: one text and numbered arrays in one file, in the layout of safetensors.

    8 bytes     length N of the header, little-endian
    N bytes     header: JSON, filled up with spaces to a multiple of 64 bytes
    the rest    the arrays, one after another, little-endian

The header says of each array its type, shape and place; its `__metadata__` holds the text and the SHA-256 digest of the
text. The text lists the digest of each array. So every byte of a file is checked: of the header there is one spelling
only, which is compared. Arrays are ordered by the size of their items, so that each is aligned as it is in memory.
Nothing is compressed: what is in a file takes as much memory as it has bytes.
"""

import json
import math
import mmap as memory_map
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gramfold.errors import InputError, ModelFileError
from gramfold.runtime.memory import require_room

FORMAT = 1
_FAMILY = "gramfold"
_LENGTH = 8  # bytes of the number in front
_ALIGNMENT = 64  # of the first array
_MOST_TEXT = 1 << 30  # bytes; a text of a real model has a thousandth of that
_MOST_DIMENSIONS = 32
_MOST_ITEMS = 1 << 59  # of an array: of 8 bytes each, they can be counted in 64 bits
# safetensors' name of each type of items
_TYPES = {
    "<f8": "F64", "<i8": "I64", "<u8": "U64", "<f4": "F32", "<i4": "I32", "<u4": "U32",
    "<f2": "F16", "<i2": "I16", "<u2": "U16", "|i1": "I8", "|u1": "U8", "|b1": "BOOL",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """An array of a container: what the text says of it."""

    dtype: str  # as numpy writes it
    shape: tuple[int, ...]  # as it lies in the file, row by row
    digest: str

    @property
    def bytes(self) -> int:
        """Its size."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def storable(array: np.ndarray) -> np.ndarray | None:
    """The array, row by row and little-endian; None where a container has no name for its items."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return plain.reshape(array.shape) if plain.dtype.str in _TYPES else None


# --- write


def write_container(stream: BinaryIO, told: dict[str, Any], arrays: list[np.ndarray]) -> None:
    """Write what `told` says, with a list of these arrays, and the arrays."""
    arrays = [np.asarray(array) for array in arrays]
    entries = [Entry(array.dtype.str, array.shape, sha256(_bytes(array)).hexdigest()) for array in arrays]
    listed = [[entry.dtype, list(entry.shape), entry.digest] for entry in entries]
    stream.write(_front(_json({**told, "arrays": listed}), entries))
    stream.writelines(_bytes(arrays[number]) for number in _order(entries))


def _bytes(array: np.ndarray) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _order(entries: list[Entry]) -> list[int]:
    """Numbers of the arrays in the order of the file: large items first."""
    return sorted(range(len(entries)), key=lambda number: -np.dtype(entries[number].dtype).itemsize)


def _front(text: str, entries: list[Entry]) -> bytes:
    """All that stands before the arrays; there is one spelling of it."""
    digest = sha256(text.encode("utf8")).hexdigest()
    header: dict[str, Any] = {
        "__metadata__": {"format": _FAMILY, "version": str(FORMAT), "digest": digest, "model": text}
    }
    place = 0
    for number in _order(entries):
        entry = entries[number]
        offsets = [place, place + entry.bytes]
        header[str(number)] = {"dtype": _TYPES[entry.dtype], "shape": list(entry.shape), "data_offsets": offsets}
        place += entry.bytes
    words = _json(header).encode("utf8")
    words += b" " * (-(_LENGTH + len(words)) % _ALIGNMENT)
    return len(words).to_bytes(_LENGTH, "little") + words


# --- read


class Container:
    """A container that was opened: its text, checked, and its arrays, read when they are asked for."""

    def __init__(self, path: str | os.PathLike[str], *, mmap: bool = False) -> None:
        self.path, self._mmap = Path(path), mmap
        try:
            with self.path.open("rb") as stream:
                self.size = _size_of(stream, self.path)
                self.told, self.entries, self._first = _read_front(stream, self.size, self.path)
                self.arrays = self._mapped(stream) if mmap else self._read(stream)
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def _places(self) -> Iterator[tuple[int, int]]:
        place = self._first
        for number in _order(self.entries):
            yield number, place
            place += self.entries[number].bytes

    def _read(self, stream: BinaryIO) -> list[np.ndarray]:
        """Arrays of their own, each compared with its digest."""
        require_room(self.size, f"the model in '{self.path}'", "use load(path, mmap=True), which reads what is used")
        arrays: list[Any] = [None] * len(self.entries)
        for number, place in self._places():
            entry = self.entries[number]
            stream.seek(place)
            array = np.empty(entry.shape, dtype=entry.dtype)
            read = stream.readinto(_bytes(array))  # type: ignore[attr-defined]
            if read != entry.bytes or sha256(_bytes(array)).hexdigest() != entry.digest:
                raise _damaged(self.path, f"array {number} differs from its digest")
            arrays[number] = array
        return arrays

    def _mapped(self, stream: BinaryIO) -> list[np.ndarray]:
        """Arrays in the file itself; a change of one stays in this process."""
        held = memory_map.mmap(stream.fileno(), 0, access=memory_map.ACCESS_COPY)
        arrays: list[Any] = [None] * len(self.entries)
        for number, place in self._places():
            entry = self.entries[number]
            arrays[number] = np.ndarray(entry.shape, dtype=entry.dtype, buffer=held, offset=place)
        return arrays


def _size_of(stream: BinaryIO, path: Path) -> int:
    if not path.is_file():
        raise ModelFileError(f"'{path}' is not a file: pass the name of a model file.")
    return os.fstat(stream.fileno()).st_size


def _read_front(stream: BinaryIO, size: int, path: Path) -> tuple[dict[str, Any], list[Entry], int]:
    """What the text says, the arrays that it lists, and where the first of them begins."""
    length = int.from_bytes(stream.read(_LENGTH), "little")
    begins = stream.read(min(2, max(size - _LENGTH, 0)))
    if begins != b'{"':
        raise ModelFileError(
            f"'{path}' is not a model file of gramfold: pass a file that model.save() or gramfold.save() wrote."
        )
    if length > min(size - _LENGTH, _MOST_TEXT):
        raise _damaged(path, f"its header would have {length:,} bytes, and the file has {size:,}")
    words = begins + stream.read(length - len(begins))
    text = _text_of(words, path)
    try:
        told = json.loads(text)
        entries = [_entry(*one) for one in told["arrays"]]
        if not isinstance(told, dict):
            raise TypeError  # noqa: TRY301 - told as the others
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _damaged(path, "its text is not that of a model") from error
    front = _front(text, entries)
    if front != length.to_bytes(_LENGTH, "little") + words:
        raise _damaged(path, "its header differs from its digest")
    whole = len(front) + sum(entry.bytes for entry in entries)
    if whole != size:
        raise _damaged(path, f"it has {size:,} bytes, and its arrays end at {whole:,}")
    return told, entries, len(front)


def _text_of(words: bytes, path: Path) -> str:
    """The text within a header, compared with its digest."""
    try:
        metadata = json.loads(words)["__metadata__"]
        family, version, digest, text = (metadata[name] for name in ("format", "version", "digest", "model"))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _damaged(path, "its header is not that of a model file") from error
    if family != _FAMILY or not isinstance(text, str) or not isinstance(version, str):
        raise ModelFileError(
            f"'{path}' holds arrays, but no model of gramfold: pass a file that model.save() or gramfold.save() wrote."
        )
    if version != str(FORMAT):
        newer = version.isdigit() and len(version) < _LENGTH and int(version) > FORMAT
        if newer:
            raise ModelFileError(
                f"'{path}' is a model file of format {version}, and this gramfold reads formats up to {FORMAT}: "
                "install a newer gramfold to load it."
            )
        raise _damaged(path, "its format has no number")
    if digest != sha256(text.encode("utf8", "surrogatepass")).hexdigest():
        raise _damaged(path, "its text differs from its digest")
    return text


def _entry(dtype: Any, shape: Any, digest: Any) -> Entry:
    """What the text says of an array, if it can be so."""
    lengths = isinstance(shape, list) and len(shape) <= _MOST_DIMENSIONS
    if dtype not in _TYPES or not lengths or not isinstance(digest, str):
        raise ValueError
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError
    if math.prod(max(length, 1) for length in shape) >= _MOST_ITEMS:  # an empty array may have no such shape either
        raise ValueError
    return Entry(dtype, tuple(shape), digest)


def _damaged(path: Path, why: str) -> ModelFileError:
    return ModelFileError(f"'{path}' is damaged ({why}): use another copy of it, or fit and save the model again.")


def _unreadable(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"There is no file '{path}': pass the name of a model file.")
    return InputError(f"'{path}' cannot be read ({error.strerror or error}): pass the name of a model file.")

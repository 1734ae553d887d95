"""The bytes of a file, unpacked, or of standard input; and which kind of file it is."""

import bz2
import errno
import gzip
import io
import lzma
import re
import stat
import sys
import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any
from weakref import WeakKeyDictionary

from gramfold.errors import InputError, MemoryForecastError
from gramfold.io.signatures import COMPRESSIONS, LONGEST, ending_by_content, refuse_another_kind
from gramfold.runtime.memory import GIGABYTE, available_memory, fits

STANDARD_INPUT = "-"
PACKED_ENDINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
_PIECE = 1 << 24  # bytes unpacked at a time
_COPIES = 3  # of a text in memory: its bytes, its columns, the table
_ADDRESS = re.compile(r"(https?|ftp|s3|gs|file):/", re.IGNORECASE)
_FROM_PIPES: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()  # standard input can be read only once


@dataclass(frozen=True)
class Content:
    """A file that is there, or standard input."""

    path: Path
    ending: str  # .csv, .npy, …: of the name, without that of its compression, or by its first bytes
    compression: str | None

    @cached_property
    def data(self) -> bytes | mmap:
        """All bytes, unpacked; of a file that is not packed as they are needed."""
        if self.in_file:
            _require_room(_COPIES * self.size, self.path)
            with self.path.open("rb") as stream:
                return mmap(stream.fileno(), 0, access=ACCESS_READ)
        packed = _standard_input() if str(self.path) == STANDARD_INPUT else self.path.read_bytes()
        return packed if self.compression is None else _unpacked(packed, self.compression, self.path)

    @property
    def in_file(self) -> bool:
        """Whether the bytes can be read from the file in any order."""
        return self.compression is None and str(self.path) != STANDARD_INPUT

    def stream(self) -> IO[bytes]:
        """The bytes as a stream that can be read in any order."""
        return self.path.open("rb") if self.in_file else io.BytesIO(self.data)

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.path.stat().st_size if self.in_file else len(self.data)


def content_of(path: Path, known: tuple[str, ...]) -> Content:
    """Find out what a file is; an error if it is not there, is empty, or is another thing than its name says."""
    if str(path) == STANDARD_INPUT:
        head = _standard_input()[:LONGEST]
        if not head:
            raise InputError("Standard input is empty: a table needs at least one row.")
    else:
        require_file(path)
        with path.open("rb") as stream:
            head = stream.read(LONGEST)
    compression = next((name for first, name in COMPRESSIONS.items() if head.startswith(first)), None)
    named = Path(path.stem) if path.suffix.lower() in PACKED_ENDINGS else path
    content = Content(path, named.suffix.lower(), compression)
    if compression is not None:
        head = content.data[:LONGEST]
        if not head:
            raise InputError(f"'{path}' is empty: a table needs at least one row.")
    if content.ending in known:
        refuse_another_kind(str(path), content.ending, head)
        return content
    by_content = ending_by_content(head)
    if content.ending and by_content in ("", ".csv"):  # any file may be taken for text
        raise unknown_ending(path, known, "read")
    refuse_another_kind(str(path), by_content, head)
    found = Content(path, by_content, compression)
    if compression is not None:
        found.__dict__["data"] = content.data  # unpacked already
    return found


def unknown_ending(path: Path, known: tuple[str, ...], verb: str) -> InputError:
    """Error for a file name whose ending is not one of those."""
    named = Path(path.stem) if path.suffix.lower() in PACKED_ENDINGS else path
    ending = named.suffix
    found = f"ends in '{ending}', which cannot be {verb}" if ending else "has no ending, so its format is unknown"
    return InputError(f"'{path}' {found}: use one of {', '.join(known)}.")


def require_file(path: Path) -> None:
    """Raise an error if the path is not a regular file with content."""
    if _ADDRESS.match(str(path)):
        address = str(path).replace(":/", "://", 1)  # as it was given: a path has one slash
        raise InputError(f"'{address}' is an address, and only files are read: download it first and give its name.")
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
            f"'{path}' is a pipe or a device, but a table must be read more than once: save it to a file first, or "
            "pipe it into standard input and give '-' as its name."
        )
    if found.st_size == 0:
        raise InputError(f"'{path}' is empty: a table needs at least one row.")


def _standard_input() -> bytes:
    if sys.stdin not in _FROM_PIPES:
        _FROM_PIPES[sys.stdin] = sys.stdin.buffer.read()
    return _FROM_PIPES[sys.stdin]


def _unpacked(packed: bytes, compression: str, path: Path) -> bytes:
    pieces, size = [], 0
    try:
        with _unpacker(packed, compression) as stream:
            while piece := stream.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                _require_room(_COPIES * size, path)
    except (EOFError, OSError, lzma.LZMAError, zlib.error, ValueError) as error:
        raise InputError(
            f"'{path}' is compressed with {compression}, but is truncated or damaged: copy or download it again."
        ) from error
    return b"".join(pieces)


def _unpacker(packed: bytes, compression: str) -> Any:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=io.BytesIO(packed))
    if compression == "bzip2":
        return bz2.BZ2File(io.BytesIO(packed))
    if compression == "xz":
        return lzma.LZMAFile(io.BytesIO(packed))
    import pyarrow as pa

    return pa.CompressedInputStream(pa.BufferReader(packed), compression)


def packed(stream: Any, compression: str | None) -> Any:
    """A stream that packs what is written to it; `stream` is a binary stream of pyarrow."""
    import pyarrow as pa

    if compression is None:
        return nullcontext(stream)
    if compression == "xz":
        return lzma.LZMAFile(stream, "wb")
    return pa.CompressedOutputStream(stream, "bz2" if compression == "bzip2" else compression)


def _require_room(size: int, path: Path) -> None:
    if not fits(size):
        raise MemoryForecastError(
            f"'{path}' needs at least {size / GIGABYTE:.1f} GB to be read, but only "
            f"{available_memory() / GIGABYTE:.1f} GB are free: give a part of it.",
            size,
        )

"""Which encoding a text has."""

import codecs
import io
import re
from dataclasses import dataclass
from mmap import mmap
from typing import Any

from gramfold.errors import InputError
from gramfold.io.content import Content

# Marks at the beginning; that of UTF-32 begins with that of UTF-16.
_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_LOOKED_AT = 4096  # bytes
_SHARE_OF_ZEROS = 0.3  # of the bytes of UTF-16 without a mark, at every other place: of Latin text it is a half
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # not tab, line ends, form feed, escape
_MOST_CONTROLS = 0.05  # share of such characters up to which it is text, if odd


class _Bytes(io.RawIOBase):
    """Bytes from a place on as a stream, without a copy of them."""

    def __init__(self, data: bytes | mmap, start: int) -> None:
        self._left = memoryview(data)[start:]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


@dataclass(frozen=True)
class Decoded:
    """A text in UTF-8, and the encoding that it had."""

    data: bytes | mmap
    encoding: str
    start: int = 0  # of the text, behind a mark

    def lines(self) -> io.TextIOWrapper:
        """The lines of the text, with their ends."""
        stream = io.BufferedReader(_Bytes(self.data, self.start))
        return io.TextIOWrapper(stream, encoding="utf-8", newline="")


def decoded(content: Content, encoding: str | None) -> Decoded:
    """Bring a text to UTF-8; raise an error for bytes that are no text.

    If its beginning is UTF-8, the rest is taken for it: the parser finds out.
    """
    if encoding is not None:
        return _as_told(content, encoding)
    head = content.data[:_LOOKED_AT]
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked is None and b"\0" in head:
        marked = _without_mark(head)
    if marked not in (None, "utf-8-sig"):
        return _as_told(content, marked)
    if len(_CONTROLS.findall(head)) > max(1, _MOST_CONTROLS * len(head)):
        raise InputError(f"'{content.path}' holds binary data, not text: save the table of it as .csv in UTF-8.")
    return Decoded(content.data, marked or "utf-8", len(codecs.BOM_UTF8) if marked else 0)


def _as_told(content: Content, encoding: str) -> Decoded:
    try:
        return Decoded(content.data[:].decode(encoding).removeprefix("\ufeff").encode(), encoding)
    except (UnicodeError, ValueError) as error:
        found = f" (byte {error.start:,})" if isinstance(error, UnicodeDecodeError) else ""
        raise InputError(
            f"'{content.path}' is not text in {encoding}{found}: save it as UTF-8, or name another encoding."
        ) from error


def _without_mark(head: bytes) -> str | None:
    for start, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if head[start::2].count(0) > _SHARE_OF_ZEROS * len(head) and not head[1 - start :: 2].count(0):
            return name
    return None


def decoded_otherwise(content: Content) -> Decoded:
    """Text that is not UTF-8: Windows-1252, of which Latin-1 is a part, unless all but a few letters are UTF-8."""
    data = content.data[:]
    lenient = data.decode("utf-8", "replace")
    wrong = lenient.count("\ufffd")
    right = sum(letter > "\x7f" for letter in lenient) - wrong
    if right > wrong:
        start = len(lenient[: lenient.index("\ufffd")].encode())
        line = data.count(b"\n", 0, start) + 1
        raise InputError(
            f"'{content.path}' is UTF-8 text, but byte {data[start]:#04x} in line {line} is not: correct that line, or "
            "name the encoding (`--encoding latin-1`, or encoding='latin-1' in Python)."
        )
    try:
        return Decoded(data.decode("cp1252").encode(), "cp1252")
    except UnicodeDecodeError:  # five bytes have no meaning there
        return Decoded(data.decode("latin-1").encode(), "latin-1")

"""A picture as the bytes of a PNG file: header, one compressed block, end (ISO/IEC 15948)."""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TRUECOLOR = 2  # three bytes for a pixel
_UP = 2  # each line is written as its difference from the line above: equal lines become zeros
_LEVEL = 6  # of compression: 9 takes twice as long for 3% fewer bytes


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Write the pixels (height, width, 3), the highest line first."""
    height, width, _ = pixels.shape
    lines = np.ascontiguousarray(pixels).reshape(height, 3 * width)
    filtered = np.empty((height, 1 + 3 * width), dtype=np.uint8)
    filtered[:, 0] = _UP
    filtered[0, 1:] = lines[0]
    np.subtract(lines[1:], lines[:-1], out=filtered[1:, 1:])  # modulo 256, as the format asks
    header = struct.pack(">IIBBBBB", width, height, 8, _TRUECOLOR, 0, 0, 0)
    data = zlib.compress(filtered.tobytes(), _LEVEL)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

"""Arrays of the page as blocks: little-endian items one after the other, each block one gzip stream.

A number is stored as it is (f64, f32), as a code into a list of exact values, or as  low + code × step  in 16 bits:
whole numbers exactly, and others where rows are so many that nobody sees the 65,535 steps. The code of all ones is
missing.
"""

import gzip
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.types import Floats

Ref = dict[str, Any]  # where an array stands, as the manifest has it

EXACT = 20_000  # rows up to which every number is stored with all its digits
SINGLE = 200_000  # rows up to which others are stored in single precision
_WHOLE = 2**53  # integers up to which float64 holds them
_CODES = 2**16 - 1  # the last one of 16 bits is missing
_FEW_CODES = 2**8 - 1
_MOST_DIFFERENT = 4_096  # values of a dictionary: more of them take more room in the manifest than they save
_REPEATED = 4  # rows for each of them, likewise
_LOOKED_AT = 1_000  # rows by which a dictionary is given up early
_ALIGNED = 8  # bytes
_BLOCK = 8_000_000  # bytes of a block: the browser unpacks several at once
_LEVEL = 6  # of gzip
_NAMES = {"u1": "u8", "u2": "u16", "u4": "u32", "i4": "i32", "f4": "f32", "f8": "f64"}
_ALL_DIGITS, _SINGLE_DIGITS, _CODED_DIGITS = 17, 7, 4
_CENTRAL = (0.25, 0.75)
_SPREAD = 1e-3  # of the range, that lies between these quantiles: with less, steps of equal length would be seen
_SEEN = 2e-5  # of the width of a map: shifts that are not
_MISSING = -1


@dataclass(eq=False)
class Blocks:
    """Arrays are added one by one, and stand in the blocks in that order."""

    _done: list[bytes] = field(default_factory=list)
    _open: bytearray = field(default_factory=bytearray)
    _awaited: bool = False  # whether something stands in the open block, if only an empty array

    def add(self, values: NDArray[Any], **coded: Any) -> Ref:
        """Where these values stand from now on; `coded` says how a code becomes a number."""
        flat = np.ascontiguousarray(values).ravel()
        little = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
        if self._open and len(self._open) + little.nbytes > _BLOCK:
            self._close()
        self._open += bytes(-len(self._open) % _ALIGNED)
        name = _NAMES[little.dtype.str[1:]]
        found = {"block": len(self._done), "at": len(self._open), "count": len(little), "type": name, **coded}
        self._open += little.tobytes()
        self._awaited = True
        return found

    def finished(self) -> tuple[bytes, ...]:
        """All blocks, compressed. The same arrays give the same bytes."""
        if self._awaited:
            self._close()
        return tuple(self._done)

    def _close(self) -> None:
        self._done.append(gzip.compress(bytes(self._open), _LEVEL, mtime=0))
        self._open, self._awaited = bytearray(), False

    # --- numbers

    def numbers(self, values: Floats) -> tuple[Ref, int]:
        """Where numbers (n,) stand, NaN where one is missing, and how many of their digits are theirs."""
        values = np.asarray(values, dtype=np.float64)
        known = values[~np.isnan(values)]
        finite = bool(np.isfinite(known).all())
        if finite:
            exact = self._whole(values, known) or self._different(values, known)
            if exact is not None:
                return exact, _ALL_DIGITS
        single = _single(known)
        if single is not None and np.array_equal(single, known):
            return self.add(values.astype(np.float32)), _ALL_DIGITS
        if len(values) <= EXACT or single is None:
            return self.add(values), _ALL_DIGITS
        if len(values) <= SINGLE or not finite or not _spread_out(known):
            return self.add(values.astype(np.float32)), _SINGLE_DIGITS
        return self.coded(values), _CODED_DIGITS

    def coded(self, values: Floats) -> Ref:
        """Numbers (n,) in steps of equal length, 65,534 from the least to the largest; infinite ones are missing."""
        values = np.where(np.isfinite(values), np.asarray(values, dtype=np.float64), np.nan)
        known = ~np.isnan(values)
        low, high = (float(values[known].min()), float(values[known].max())) if known.any() else (0.0, 0.0)
        step = high / (_CODES - 1) - low / (_CODES - 1)  # the difference of large numbers would overflow
        codes = np.full(len(values), _CODES, dtype=np.uint16)
        if step > 0:
            codes[known] = np.clip(np.rint(values[known] / step - low / step), 0, _CODES - 1)
        else:
            codes[known] = 0
        return self.add(codes, low=low, step=step)

    def coordinates(self, values: Floats) -> Ref:
        """One coordinate (n,) of a map, NaN where a row has no place: single precision where nobody sees it."""
        values = np.asarray(values, dtype=np.float64)
        known = values[~np.isnan(values)]
        single = _single(known)
        if single is None or (len(known) and np.abs(single - known).max() > _SEEN * np.ptp(known)):
            return self.add(values)
        return self.add(values.astype(np.float32)) if len(values) <= SINGLE else self.coded(values)

    def _whole(self, values: Floats, known: Floats) -> Ref | None:
        """Whole numbers within 65,534 of each other."""
        if not len(known):
            return self.add(np.full(len(values), _CODES, dtype=np.uint16), low=0.0, step=1.0)
        low, high = float(known.min()), float(known.max())
        signed = bool(np.signbit(known[known == 0]).any())  # of a zero, which a code would lose
        if signed or max(-low, high) > _WHOLE or high - low >= _CODES or not np.array_equal(known, np.floor(known)):
            return None
        codes = np.full(len(values), _CODES, dtype=np.uint16)
        codes[~np.isnan(values)] = known - low
        return self.add(codes, low=low, step=1.0)

    def _different(self, values: Floats, known: Floats) -> Ref | None:
        """Few numbers that come again and again."""
        most = min(_MOST_DIFFERENT, len(values) // _REPEATED)
        if len(np.unique(known[:_LOOKED_AT])) > most:
            return None
        different, which = np.unique(known, return_inverse=True)
        if len(different) > most or np.signbit(different[different == 0]).any():
            return None
        last, kind = (_FEW_CODES, np.uint8) if len(different) <= _FEW_CODES else (_CODES, np.uint16)
        codes = np.full(len(values), last, dtype=kind)
        codes[~np.isnan(values)] = which
        return self.add(codes, dictionary=different.tolist())

    # --- categories and texts

    def codes(self, codes: NDArray[np.integer], levels: int) -> Ref:
        """Codes (n,) of so many categories, −1 where one is missing."""
        kind = next(one for one in (np.uint8, np.uint16, np.uint32) if levels <= np.iinfo(one).max)
        written = np.where(codes == _MISSING, np.iinfo(kind).max, codes)
        return self.add(written.astype(kind))

    def texts(self, texts: list[str]) -> dict[str, Ref]:
        """Texts, one after the other, and where each of them ends."""
        parts = [text.encode("utf-8", "backslashreplace") for text in texts]
        ends = np.cumsum([len(part) for part in parts], dtype=np.uint64).astype(np.uint32)
        return {"texts": self.add(np.frombuffer(b"".join(parts), dtype=np.uint8)), "ends": self.add(ends)}


def _single(known: Floats) -> NDArray[np.float32] | None:
    """The same in single precision; None where numbers become infinite or zero."""
    with np.errstate(over="ignore", under="ignore"):
        single = known.astype(np.float32)
    lost = (np.isinf(single) & np.isfinite(known)) | ((np.abs(single) < np.finfo(np.float32).tiny) & (known != 0))
    return None if lost.any() else single


def _spread_out(known: Floats) -> bool:
    """Whether steps of equal length tell most numbers apart."""
    low, high = np.quantile(known, _CENTRAL)
    return bool(high / 2 - low / 2 >= _SPREAD * (known.max() / 2 - known.min() / 2))

"""A page as its scripts see it, read back by a decoder of its own: manifest, blocks, columns."""

import base64
import gzip
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

_TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}
_NONE = {"u8": 2**8 - 1, "u16": 2**16 - 1, "u32": 2**32 - 1}


def stored(ref: dict[str, Any], blocks: list[bytes]) -> np.ndarray:
    """What stands where a reference points."""
    assert ref["at"] % 8 == 0
    return np.frombuffer(blocks[ref["block"]], _TYPES[ref["type"]], ref["count"], ref["at"])


def numbers(ref: dict[str, Any], blocks: list[bytes]) -> np.ndarray:
    """The numbers that a reference points to."""
    codes = stored(ref, blocks)
    if "dictionary" in ref:
        exact = np.append(np.array(ref["dictionary"], dtype=np.float64), np.nan)
        return exact[np.where(codes == _NONE[ref["type"]], len(exact) - 1, codes)]
    if "step" in ref:
        return np.where(codes == _NONE[ref["type"]], np.nan, ref["low"] + codes.astype(float) * ref["step"])
    return codes.astype(np.float64)


def values(column: dict[str, Any], blocks: list[bytes]) -> list[Any] | np.ndarray:
    """A column: numbers, or texts (None where a category is missing)."""
    if column["kind"] in ("number", "date"):
        return numbers(column["values"], blocks)
    if column["kind"] == "category":
        codes, none = stored(column["codes"], blocks), _NONE[column["codes"]["type"]]
        return [None if code == none else column["levels"][code] for code in codes]
    text = stored(column["values"]["texts"], blocks).tobytes()
    ends = stored(column["values"]["ends"], blocks)
    starts = [0, *ends[:-1]]
    return [text[start:end].decode() for start, end in zip(starts, ends, strict=True)]


class _Parts(HTMLParser):
    """Elements, scripts and all text of a page, as a browser takes them apart."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside: dict[str, str | None] | None = None
        self._held = ""
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self._inside, self._held = dict(attrs), ""
        self._style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._inside is not None:
            self.scripts.append((self._inside, self._held))
            self._inside = None
        self._style = False

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self._held += data
        elif not self._style:
            self.text += data


@dataclass(frozen=True, eq=False)
class Page:
    """A page that was written."""

    html: str
    text: str  # what can be read without scripts
    elements: list[tuple[str, dict[str, str | None]]]
    manifest: dict[str, Any]
    blocks: list[bytes]

    @classmethod
    def of(cls, path: Path) -> "Page":
        """Of a file."""
        html = Path(path).read_text(encoding="utf-8")
        parts = _Parts()
        parts.feed(html)
        (manifest,) = [text for attrs, text in parts.scripts if attrs.get("id") == "manifest"]
        packed = {
            int(str(attrs["id"]).removeprefix("block-")): text
            for attrs, text in parts.scripts
            if re.fullmatch(r"block-\d+", attrs.get("id") or "")
        }
        blocks = [gzip.decompress(base64.b64decode(packed[k])) for k in range(len(packed))]
        return cls(html, parts.text, parts.elements, json.loads(manifest), blocks)

    def column(self, name: str) -> Any:
        """The values of a column."""
        (found,) = [column for column in self.manifest["columns"] if column["name"] == name]
        return values(found, self.blocks)

    def kind(self, name: str) -> str:
        """What a column holds."""
        return next(column["kind"] for column in self.manifest["columns"] if column["name"] == name)

    @property
    def names(self) -> list[str]:
        """Of all columns."""
        return [column["name"] for column in self.manifest["columns"]]

    @property
    def places(self) -> np.ndarray:
        """The map (n, p)."""
        return np.column_stack([numbers(ref, self.blocks) for ref in self.manifest["maps"][0]["coordinates"]])

    @property
    def rows(self) -> np.ndarray:
        """Numbers of the rows that are drawn."""
        ref = self.manifest["number"]
        return np.arange(self.manifest["rows"]["shown"]) if ref is None else stored(ref, self.blocks)

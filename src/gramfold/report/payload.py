"""What the scripts of the page read: a manifest and blocks of numbers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FORMAT = 1  # of the manifest


@dataclass(frozen=True, eq=False)
class Payload:
    """A manifest, and the blocks that it points into."""

    manifest: Mapping[str, Any]
    blocks: tuple[bytes, ...]  # each one gzip stream

    @property
    def text(self) -> str:
        """The manifest as JSON that can stand in a script element: no `<`, and nothing that ends a line early."""
        written = json.dumps(self.manifest, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        for odd, escape in _ESCAPED.items():
            written = written.replace(odd, escape)
        return written.encode("utf-8", "backslashreplace").decode("utf-8")


_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029", "\x7f": "\\u007f"}

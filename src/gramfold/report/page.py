"""Assemble the page: one file of text, style, data and scripts, which asks the network for nothing."""

import re
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Literal

from gramfold.report.markup import clean
from gramfold.report.payload import Payload
from gramfold.report.subject import Sections

App = Literal["map", "compare"]

_FILES = Path(__file__).parent / "page"
_STYLES = {
    "map": ("base.css", "sections.css", "app.css"),
    "compare": ("base.css", "sections.css", "app.css", "compare.css"),
}
_ENTRIES = {"map": "app/main.js", "compare": "compare/main.js"}
_LIBRARY = "vendor/regl-scatterplot.js"
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r'^import .* from "(\.{1,2}/[^"]+)";[ \t]*\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|class|const|let)", re.MULTILINE)


def assemble(sections: Sections, payload: Payload, still: str, app: App = "map") -> str:
    """The whole page.

    Parameters
    ----------
    sections : Sections
        HTML, whose texts are escaped already.
    payload : Payload
        Data of the scripts.
    still : str
        HTML of the picture of the map, which stands for it on paper and where there are no scripts or no WebGL.
    app : {"map", "compare"}
        Which scripts read the payload.

    Returns
    -------
    str
    """
    return _filled(
        _file("page.html"),
        {
            "title": clean(payload.manifest["title"]),
            "style": "\n".join(_file(name) for name in _STYLES[app]),
            "app": app,
            "head": sections.head,
            "verdict": sections.verdict,
            "map": _map(still) if app == "map" else still,
            "below": sections.below,
            "manifest": payload.text,
            "blocks": "\n".join(
                f'<script type="application/octet-stream" id="block-{k}">{b64encode(block).decode("ascii")}</script>'
                for k, block in enumerate(payload.blocks)
            ),
            "library": _in_script(_file(_LIBRARY)),
            "script": _in_script(script_of(_ENTRIES[app])),
        },
    )


def _map(still: str) -> str:
    return f'<section id="map" aria-labelledby="map-title">\n<h2 id="map-title">The map</h2>\n{still}\n</section>'


def _filled(template: str, slots: dict[str, str]) -> str:
    """The template with all slots filled in one pass, so that what is filled in is never read as a slot."""
    return _SLOT.sub(lambda found: slots[found[1]], template)


@cache
def _file(name: str) -> str:
    return (_FILES / name).read_text("utf-8")


@cache
def script_of(entry: str) -> str:
    """All modules that the entry imports, each once and before those that import it, as one module."""
    return "\n".join(_without_imports(_file(name)) for name in _in_order(entry, {}))


def _in_order(name: str, seen: dict[str, None]) -> dict[str, None]:
    if name in seen:
        return seen
    folder = Path(name).parent
    under_way = dict(seen)
    for wanted in _IMPORT.findall(_file(name)):
        path = (_FILES / folder / wanted).resolve().relative_to(_FILES.resolve()).as_posix()
        if path != name:
            under_way = _in_order(path, under_way)
    return {**under_way, name: None}


def _without_imports(source: str) -> str:
    return _EXPORT.sub("", _IMPORT.sub("", source))


def _in_script(source: str) -> str:
    """A script that no HTML parser takes for the end of its element."""
    return re.sub(r"<(?=/script|script|!--)", r"\\x3c", source, flags=re.IGNORECASE)

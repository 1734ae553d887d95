"""What the scripts of the page read: a manifest and blocks of numbers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.report.arrows import arrows_of
from gramfold.report.blocks import Blocks
from gramfold.report.choice import Choice
from gramfold.report.columns import Column, free_name
from gramfold.report.edges import Around, edges_of
from gramfold.report.pictures import Pictures
from gramfold.report.sections.found import faults_in
from gramfold.report.subject import Subject
from gramfold.report.thinning import Thinned
from gramfold.types import Floats

FORMAT = 1  # of the manifest
_ABOUT = {
    "torn": "Share of the neighbours of the row in the data that are far from it on the map.",
    "glued": "Share of the neighbours of the row on the map that are far from it in the data.",
    "strained": "How far distances from the row to its neighbours differ from those in the data.",
    "density": "−log10 of the distance from the row to the last of its neighbours in the data: larger where rows are "
    "dense, one more where ten times nearer.",
    "extrapolation": "How far outside of all other rows the row lies, as if it were new: the distance to the nearest "
    "of them over its neighbourhood radius; above 3 it stands alone.",
    "moved": "How far the row moves when the map is fitted again on a part of the rows, in sizes of the map.",
}


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


def payload_of(
    subject: Subject,
    choice: Choice,
    drawn: Thinned,
    near: Around | None,
    pictures: Pictures | None,
    axes: Any,
    notes: tuple[str, ...],
    inverse: bool,
) -> Payload:
    """The data of a page about one map."""
    blocks = Blocks()
    places = drawn.take(subject.Y)
    coordinates = [blocks.coordinates(places[:, j]) for j in range(places.shape[1])]
    columns = [column.written(blocks) for column in choice.columns]
    faults: dict[str, int] = {}
    taken = {column.name for column in choice.columns}
    for name, values in known_of_rows(subject, near).items():
        column = Column(free_name(name, taken), name, "number", drawn.take(values), derived=True)
        faults[name] = len(columns)
        columns.append({**column.written(blocks), "about": _ABOUT[name]})
    manifest = {
        "format": FORMAT,
        "title": subject.title,
        "app": "map",
        "rows": {"total": drawn.total, "shown": drawn.shown, "note": drawn.note},
        "notes": list(notes),
        "number": None if drawn.rows is None else blocks.add(drawn.rows.astype(np.uint32)),
        "maps": [
            {
                "name": subject.method,
                "axes": list(subject.axes),
                "coordinates": coordinates,
                "shown": list(shown_axes(subject)),
                "note": "",
                "arrows": arrows_of(axes, subject.Y),
            }
        ],
        "columns": columns,
        "first_color": choice.color,
        "label": choice.label,
        "data_columns": list(choice.data),
        "faults": faults,
        "edges": edges_of(subject, near, blocks) if drawn.rows is None else None,
        "pictures": None if pictures is None or not pictures.pixels.size else pictures.written(blocks),
        "inverse": inverse,
    }
    return Payload(manifest, blocks.finished())


def known_of_rows(subject: Subject, near: Around | None) -> dict[str, Floats]:
    """What is known of each row of the map, by name: its faults, how dense the data are there, how alone it is."""
    found: dict[str, Floats] = {}
    judged = subject.judged
    faults = None if judged is None else faults_in(judged)
    if faults is not None:
        found = {name: getattr(faults, name).per_point for name in ("torn", "glued", "strained")}
    if near is not None:
        found |= {"density": near.density, "extrapolation": near.alone}
    moved = None if subject.stability is None else subject.stability.per_point
    if moved is not None:
        found["moved"] = moved
    n = len(subject.Y)
    return {name: values for name, values in found.items() if len(values) == n and np.isfinite(values).any()}


def shown_axes(subject: Subject) -> tuple[int, ...]:
    """The coordinates that are seen first: of a spectral embedding that was clustered those that rows fill best."""
    p = subject.Y.shape[1]
    if p <= 2 or not hasattr(subject.model, "labels_"):
        return tuple(range(min(p, 2)))
    placed = subject.Y[np.isfinite(subject.Y).all(axis=1)]
    spans = np.ptp(placed, axis=0) if len(placed) else np.zeros(p)
    fill = np.divide(placed.std(axis=0), spans, out=np.zeros(p), where=spans > 0) if len(placed) else spans
    return tuple(sorted(int(j) for j in np.argsort(-fill, kind="stable")[:2]))

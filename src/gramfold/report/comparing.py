"""Write the page of a comparison: all maps with the same rows and columns, side by side."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gramfold.io import replacing
from gramfold.report.blocks import Blocks
from gramfold.report.choice import Candidates, Choice, candidates, read
from gramfold.report.columns import Column, Raw, free_name
from gramfold.report.compared import ComparedEntry, ComparedSubject
from gramfold.report.markup import named
from gramfold.report.page import assemble
from gramfold.report.payload import FORMAT, Payload
from gramfold.report.pictures import Pictures, are_pixels, pictures_of
from gramfold.report.provenance import versions
from gramfold.report.sections.comparison import Tile, compared, maps_section
from gramfold.report.still import shading_of, still_png
from gramfold.report.subject import Subject
from gramfold.report.thinning import Thinned, thinned
from gramfold.report.writing import checked, checked_most

_SIZE = (360, 270)  # of a picture, as the page measures it


def write_comparison(
    path: str | os.PathLike[str],
    subject: ComparedSubject,
    X: Any,
    *,
    table: Any = None,
    color: Any = None,
    label: Any = None,
    pictures: Any = None,
    most: int = 200_000,
) -> Path:
    """Write the page of `subject`; X are the rows, whose columns are shown unless there is another table."""
    path = checked(path)
    rows = Subject(subject.title, None, np.zeros((subject.n_given, 1)), X)
    shown = X if table is None and not are_pixels(pictures, X) else table
    among = with_labels(candidates(replace(rows, X=None), None, shown, color, label), subject.labels)
    colored = None if among.color is None else among.raws[among.color].read().as_classes()
    drawn = thinned(subject.n_given, checked_most(most), colored)
    choice = read(among, drawn, None, colored)
    drawings = pictures_of(pictures, rows, drawn, table)
    payload = payload_of(subject, choice, drawn, drawings)
    seen = None if choice.color is None else choice.columns[choice.color]
    tiles = {one.name: tile for one in subject.drawn if (tile := _tile(one, seen, drawn)) is not None}
    notes = [note for note in (drawn.note, choice.note, "" if drawings is None else drawings.note) if note]
    maps = maps_section(subject, tiles, _key(seen, drawn), notes)
    page = assemble(compared(subject, versions()), payload, maps, "compare")
    with replacing(path) as draft:
        draft.write_text(page, encoding="utf-8", errors="backslashreplace")
    return path


def with_labels(among: Candidates, labels: Any) -> Candidates:
    """The columns and the labels, which are the first colour unless another was asked for."""
    if labels is None:
        return among
    name = free_name("labels", {raw.name for raw in among.raws})
    data, ranked = (tuple(j + 1 for j in places) for places in (among.data, among.ranked))
    color, label = (None if j is None else j + 1 for j in (among.color, among.label))
    raws = (Raw(name, name, np.asarray(labels), classes=True), *among.raws)
    return Candidates(raws, data, 0 if color is None else color, label, ranked, among.first)


# --- payload


def payload_of(subject: ComparedSubject, choice: Choice, drawn: Thinned, pictures: Pictures | None) -> Payload:
    """What the scripts read."""
    blocks = Blocks()
    maps = [_map(one, drawn, blocks) for one in subject.drawn]
    columns = [one.written(blocks) for one in choice.columns]
    manifest = {
        "format": FORMAT,
        "title": subject.title,
        "app": "compare",
        "rows": {"total": drawn.total, "shown": drawn.shown, "note": drawn.note},
        "number": None if drawn.rows is None else blocks.add(drawn.rows.astype(np.uint32)),
        "maps": maps,
        "columns": columns,
        "first_color": choice.color,
        "label": choice.label,
        "data_columns": [],
        "faults": {},
        "edges": None,
        "pictures": None if pictures is None or not pictures.pixels.size else pictures.written(blocks),
        "inverse": False,
        "neighbors": subject.n_neighbors,
    }
    return Payload(manifest, blocks.finished())


def _map(one: ComparedEntry, drawn: Thinned, blocks: Blocks) -> dict[str, Any]:
    assert one.places is not None
    places = drawn.take(one.places)
    kept = one.measures.get("r_nx")
    return {
        "name": one.name,
        "axes": [f"{one.name} {j + 1}" for j in range(places.shape[1])],
        "coordinates": [blocks.coordinates(places[:, j]) for j in range(places.shape[1])],
        "note": "",
        "arrows": [],
        "kept": None if kept is None or kept.per_point is None else blocks.coded(drawn.take(kept.per_point)),
    }


# --- pictures


def _tile(one: ComparedEntry, column: Column | None, drawn: Thinned) -> Tile | None:
    assert one.places is not None
    found = still_png(drawn.take(one.places)[:, :2], column, _SIZE)
    if found is None:
        return None
    data, words, _ = found
    by = "" if column is None else f" Coloured by {column.name}."
    p = one.places.shape[1]
    first = f"The first 2 of {p} coordinates." if p > 2 else ""
    return Tile(data, *_SIZE, f"Map {one.name}: {words}{by}", first)


def _key(column: Column | None, drawn: Thinned) -> str:
    """What the colours of the pictures mean."""
    if column is None:
        return ""
    return f"<p>Colour: {named(column.name)}</p>{shading_of(column, drawn.shown).legend}"

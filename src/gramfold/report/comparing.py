"""Write the page of a comparison: all maps with the same rows and columns, side by side."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.io import replacing
from gramfold.report.blocks import Blocks
from gramfold.report.columns import Column, Raw, columns_of, find, free_name
from gramfold.report.compared import ComparedEntry, ComparedSubject
from gramfold.report.page import assemble
from gramfold.report.payload import FORMAT, Payload
from gramfold.report.provenance import versions
from gramfold.report.sections.comparison import Tile, compared, maps_section
from gramfold.report.still import shading_of, still_png
from gramfold.report.thinning import Thinned, thinned

_MOST_COLUMNS = 60  # of the table: more cannot be found in a list
_MOST_VALUES = 4_000_000  # in all of these, so that the page can be sent by mail
_FEWEST_COLUMNS = 4  # which are shown however many rows there are
_SIZE = (360, 270)  # of a picture, as the page measures it


@dataclass(frozen=True, eq=False)
class Shown:
    """The columns of the page."""

    columns: tuple[Column, ...]
    color: int | None  # the first one that maps are coloured by
    label: int | None  # the one that names rows
    note: str = ""


def write_comparison(
    path: str | os.PathLike[str],
    subject: ComparedSubject,
    X: Any,
    *,
    table: Any = None,
    color: Any = None,
    label: str | None = None,
    pictures: Any = None,
    most: int = 200_000,
) -> Path:
    """Write the page of `subject`; X are the rows, whose columns are shown unless there is another table."""
    shown = shown_columns(subject, X if table is None else table, color, label)
    first = None if shown.color is None else shown.columns[shown.color]
    drawn = thinned(subject.n_given, most, first)
    payload = payload_of(subject, shown, drawn)
    seen = None if first is None else first.take(drawn.rows)
    tiles = {one.name: tile for one in subject.drawn if (tile := _tile(one, seen, drawn)) is not None}
    maps = maps_section(subject, tiles, _key(seen, drawn), [note for note in (drawn.note, shown.note) if note])
    page = assemble(compared(subject, versions()), payload, maps, "compare")
    with replacing(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return Path(path)


# --- columns


def shown_columns(subject: ComparedSubject, table: Any, color: Any, label: Any) -> Shown:
    """The colour and the names of rows first, then the labels, then the columns of the table."""
    n = subject.n_given
    raws = [] if table is None else columns_of(table, n)
    taken = {raw.name for raw in raws}
    read: dict[int, Column] = {}

    def column(at: int) -> Column:
        return read.setdefault(at, raws[at].read())

    named = None if label is None else column(find(raws, label, "label"))
    colored = None
    if color is not None and _is_name(color, raws):
        at = find(raws, color, "color")
        colored = read[at] = column(at).as_classes()
        named = colored if named is not None and named.name == colored.name else named
    elif color is not None:
        colored = _given(color, n, "color", free_name("color", taken))
    labels = None if subject.labels is None else _given(subject.labels, n, "labels", free_name("labels", taken))
    colored, labels = (labels, None) if colored is None else (colored, labels)
    first = list({one.name: one for one in (named, colored, labels) if one is not None}.values())
    room = max(_FEWEST_COLUMNS, min(_MOST_COLUMNS, _MOST_VALUES // max(n, 1)))
    others = [raw for j, raw in enumerate(raws) if j not in read]
    columns = (*first, *(raw.read() for raw in islice(others, room)))
    left = len(others) - room
    note = (
        f"The first {room:,} of {len(others):,} columns are shown: pass a table with those that you want to see."
        if left > 0
        else ""
    )
    where = {id(one): j for j, one in enumerate(columns)}
    return Shown(columns, where.get(id(colored)), where.get(id(named)), note)


def _is_name(color: Any, raws: Iterable[Raw]) -> bool:
    """Whether it names a column, and is not a value for each row."""
    if isinstance(color, str):
        return True
    return not hasattr(color, "__len__") or (isinstance(color, tuple) and any(raw.key == color for raw in raws))


def _given(values: Any, n: int, what: str, name: str) -> Column:
    """Values that were passed for each row."""
    if np.ndim(values) != 1 and not hasattr(values, "iloc"):
        raise InputError(f"{what} has {np.ndim(values)} dimensions: pass one value for each row.")
    if len(values) != n:
        raise InputError(f"{what} has {len(values)} values and the maps have {n} rows: pass one for each row.")
    own = getattr(values, "name", None)
    name = own if isinstance(own, str) and own and name == what else name
    return Raw(name, name, values).read().as_classes()


# --- payload


def payload_of(subject: ComparedSubject, shown: Shown, drawn: Thinned) -> Payload:
    """What the scripts read."""
    blocks = Blocks()
    columns: list[dict[str, Any]] = []
    maps = [_map(one, drawn, blocks, columns) for one in subject.drawn]
    written = [one.take(drawn.rows).written(blocks) for one in shown.columns]
    manifest = {
        "format": FORMAT,
        "title": subject.title,
        "app": "compare",
        "rows": {"total": drawn.total, "shown": drawn.shown, "note": drawn.note},
        "number": None if drawn.rows is None else blocks.add(drawn.rows.astype(np.uint32)),
        "maps": maps,
        "columns": written,
        "first_color": shown.color,
        "label": shown.label,
        "data_columns": [],
        "faults": {},
        "edges": None,
        "pictures": None,
        "inverse": False,
        "neighbors": subject.n_neighbors,
    }
    return Payload(manifest, blocks.finished())


def _map(one: ComparedEntry, drawn: Thinned, blocks: Blocks, columns: list[dict[str, Any]]) -> dict[str, Any]:
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
    return "" if column is None else shading_of(column, drawn.shown).legend

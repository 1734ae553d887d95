"""What to try next, from the shape of the data and the faults of the map."""

from math import ceil
from typing import Any

import numpy as np

from gramfold.diagnostics.four_faults import Faults
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.shapes.shape import Shape
from gramfold.diagnostics.tables import Remembered, Rows
from gramfold.neighbors.metrics import sees_units
from gramfold.neighbors.scales import LoudColumns

_TENTH = 0.1  # of chance: the least limit of these faults
_DRAWABLE = 3  # dimensions of a map that can be looked at
_MOST_DIMENSIONS = 10  # that a user may want
_FEW_KEPT = 0.5  # of the neighbours: fewer, and a row on the map is mostly among others than in the data
_MANY_KEPT = 0.7  # that a map of a shape without noise has, if it can lie flat
_FLAT = ("line", "ring", "sheet")  # shapes that can
_FEW = 6  # neighbours, below which a graph falls apart
_MANY_ROWS = 20_000  # beyond which methods are advised that do without the distances of all pairs


def next_step(judged: Judged, shape: Shape, found: Faults, model: Any = None, names: Any = None) -> str:
    """One sentence; `names` are those of the columns of the data."""
    named = {*found.named, *usual_faults(found)}
    if shape.test == "number of rows":
        return "collect more rows before reading anything from this map"
    loud = loud_columns(judged)
    if loud is not None and shape.kind != "noise":
        return f"{loud.words(names)}, and map again"
    if shape.kind == "noise":
        return "read no groups or curves from this map, and look for columns that have to do with each other"
    if "collapsed" in named:
        return _of_collapsed(found, model)
    if shape.columns:
        first = shape.columns[0] if names is None else f"'{names[shape.columns[0]]}'"
        which = f"column {first}" if len(shape.columns) == 1 else "the columns that make the groups"
        return f"map again without {which}, to see what the others hold"
    enough = not named and shape.kind == "unclear" and not shape.closed and found.kept.value >= _MANY_KEPT
    lacking = None if enough else _lacking(judged, shape)
    if lacking is not None:
        return lacking
    if not named and found.kept.value < _MANY_KEPT and shape.kind in _FLAT:
        p = int(judged.map.rows.shape[1])
        other = "another n_neighbors" if _is(model, "Isomap") else f"Isomap(n_components={p})"
        return f"a {shape.kind} has room in {p} dimensions: see whether {other} keeps more neighbours"
    if not named and found.kept.value < _FEW_KEPT:
        return "trust regions of this map rather than the neighbours of single rows, and check these in the data"
    if not named:
        return "diagnostics.sweep shows whether the map holds for other numbers of neighbours"
    return _of_shape(judged, shape, named, model)


def usual_faults(found: Faults) -> list[str]:
    """Faults that many rows have, but no more than on the map of PCA, so that they are not named."""
    return [
        fault.name for fault in (found.glued, found.torn) if not fault.named and fault.total > _TENTH * fault.chance
    ]


def _of_collapsed(found: Faults, model: Any) -> str:
    if "dominated by" in found.collapsed.words:
        named = found.collapsed.words.split("dominated by ", 1)[1].split(";")[0]
        trim = " or set loose_rows='trim'" if hasattr(model, "loose_rows") else ""
        return f"map again without {named}{trim}"
    others = [name for name in ("Isomap", "PCA") if not _is(model, name)]
    calls = {"Isomap": "Isomap(n_neighbors=10)", "PCA": "PCA()"}
    return f"map again by another method, such as {' or '.join(calls[name] for name in others)}"


def _of_shape(judged: Judged, shape: Shape, named: set[str], model: Any) -> str:
    p, needed, many = int(judged.map.rows.shape[1]), _needed(shape), judged.n_all > _MANY_ROWS
    if named == {"strained"} and shape.kind in _FLAT and needed is not None and p > needed:
        return f"map to n_components={needed}, as many dimensions as the data have: more of them bend what is flat"
    if shape.kind == "groups":
        return f"find the groups in the data, SpectralClustering(n_clusters={shape.n_groups}), and map each by itself"
    if shape.kind == "branches" and _is(model, "DiffusionMap") and p >= _DRAWABLE:
        return "diagnostics.sweep shows whether the branches hold for other numbers of neighbours"
    if shape.kind == "branches":
        return f"try DiffusionMap(n_components={max(p, _DRAWABLE)}), on which branches come apart"
    if "glued" in named or "torn" in named:
        what = "a sheet" if shape.kind == "sheet" else "the data"
        return _other_graph(model, {"line": 1, "ring": 2}.get(shape.kind, p), what, many)
    known = ("LandmarkIsomap",) if many else ("Isomap", "SDE")
    others = [f"{name}(n_components={p})" for name in known if not _is(model, name)]
    if not others:
        return "diagnostics.sweep shows for which numbers of neighbours lengths are kept best"
    keep = "which keep" if len(others) > 1 else "which keeps"
    return f"try {' or '.join(others)}, {keep} lengths along the data"


def _is(model: Any, name: str) -> bool:
    """Whether the map was made by this method: it is not advised again."""
    return type(model).__name__ == name


def _lacking(judged: Judged, shape: Shape) -> str | None:
    """What to do where the shape has more dimensions than the map; None where it has not."""
    p, needed = int(judged.map.rows.shape[1]), _needed(shape)
    if needed is None or p >= needed:
        return None
    if needed > _MOST_DIMENSIONS:
        return f"no map of {p} dimensions can hold about {needed}: check in the data what its neighbours share"
    why = "a closed surface cannot lie flat" if shape.closed else f"the data have about {needed} dimensions"
    return f"fit n_components={needed}, since {why}"


def _needed(shape: Shape) -> int | None:
    """Dimensions that a map of this shape needs; None where that is not known."""
    if shape.closed:
        return 3
    known = {"line": 1, "ring": 2, "sheet": 2, "sphere": 3}
    if shape.kind in known:
        return known[shape.kind]
    return ceil(shape.dimension - 0.5) if shape.kind == "unclear" and np.isfinite(shape.dimension) else None


def _other_graph(model: Any, p: int, what: str, many: bool) -> str:
    k, dropped = getattr(model, "n_neighbors", None), getattr(model, "drop_edges", None)
    drop = (
        "" if dropped == "short_circuits" else ", or with drop_edges='short_circuits', which removes edges across gaps"
    )
    if isinstance(k, int) and k > _FEW and hasattr(model, "drop_edges"):
        return f"fit again with n_neighbors={max(_FEW, k // 2)}{drop}"
    if _is(model, "Isomap") and not drop:
        return "diagnostics.sweep shows for which numbers of neighbours the graph neither breaks nor crosses gaps"
    return (
        f"try {'LandmarkIsomap' if many else 'Isomap'}(n_components={p}, n_neighbors=8, drop_edges='short_circuits'), "
        f"which neither cuts nor folds {what}"
    )


def loud_columns(judged: Judged) -> LoudColumns | None:
    """The few columns with nearly all of the variance, so that the shape is hardly more than these."""
    table = judged.data.table if isinstance(judged.data, Remembered) else judged.data
    if not isinstance(table, Rows) or not sees_units(table.metric.name):
        return None
    return LoudColumns.of(table.rows)

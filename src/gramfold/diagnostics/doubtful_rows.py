"""Where on a map rows are not to be trusted, in words."""

from dataclasses import dataclass

import numpy as np

from gramfold.diagnostics.four_faults import Faults, percent
from gramfold.diagnostics.judged import Judged
from gramfold.types import Floats

_HALF, _QUARTER = 0.5, 0.25  # of the neighbours of a row
_MOST = 2 / 3  # of these rows are in one third of an axis: that is where they are
_SIDES = (("left", "right"), ("lower", "upper"))
_NAMED = 3  # rows in a sentence
_ALL = 0.6  # share of the rows above which no part of the map is named


@dataclass(frozen=True)
class Doubtful:
    """Rows that are not to be trusted: their share, and words that complete "Do not trust …"."""

    share: float
    words: str


def doubtful_rows_of(judged: Judged, found: Faults) -> Doubtful:
    """Rows of which a named fault has a quarter of the neighbours, and those that lost more than half of them."""
    named = [fault for fault in found if fault.named]
    kept = np.asarray(found.kept.per_point)
    known = np.any([~np.isnan(kept), *(~np.isnan(fault.per_point) for fault in named)], axis=0)
    lost = np.nan_to_num(kept, nan=1.0) < _HALF
    bad = np.any([lost, *(_above(fault.per_point, fault.threshold) for fault in named)], axis=0)
    what = f"{'have a fault, or ' if named else ''}lost more than half of their neighbours"
    share = float(bad.sum() / max(known.sum(), 1))
    if not bad.any():
        return Doubtful(0.0, "no row stands out")
    if share >= _ALL:
        return Doubtful(share, f"single rows: {percent(share)} of them {what}, all over the map")
    rows = np.flatnonzero(bad)
    worst = _worst(found, rows)[:_NAMED]
    worst = worst if judged.drawn is None else judged.drawn[worst]
    names = f"row{'s' * (len(worst) > 1)} {', '.join(map(str, sorted(worst)))}"
    such = "such as " if len(rows) > len(worst) else ""
    where = f"{percent(share)} of the rows {what}, {_place(judged, rows)}, {such}{names}"
    return Doubtful(share, f"it everywhere: {where}")


def _above(values: Floats, threshold: float) -> np.ndarray:
    return np.nan_to_num(values, nan=0.0) > max(_QUARTER, threshold)


def _worst(found: Faults, rows: np.ndarray) -> np.ndarray:
    """The rows, those with the most faults first."""
    sums = np.sum([np.nan_to_num(fault.per_point[rows]) for fault in found], axis=0)
    return np.asarray(rows[np.argsort(-sums, kind="stable")])


def _place(judged: Judged, rows: np.ndarray) -> str:
    """The part of the map that has most of these rows."""
    places = judged.map.rows
    if places.shape[1] > 2:
        return "spread over the map" if not _close(places, judged, rows) else "in one region of the map"
    here = np.searchsorted(judged.kept, rows)
    sides = []
    for axis in range(places.shape[1]):
        low, high = np.quantile(places[:, axis], [1 / 3, 2 / 3])
        column = places[here, axis]
        if np.mean(column <= low) >= _MOST:
            sides.append(_SIDES[axis][0])
        elif np.mean(column >= high) >= _MOST:
            sides.append(_SIDES[axis][1])
    if not sides:
        return "spread over the map"
    return f"mostly in its {' '.join(reversed(sides))} part"


def _close(places: Floats, judged: Judged, rows: np.ndarray) -> bool:
    """Whether these rows are nearer to their middle than the others are."""
    here = np.searchsorted(judged.kept, rows)
    away = np.linalg.norm(places - np.median(places[here], axis=0), axis=1)
    return bool(np.median(away[here]) < np.quantile(away, 1 / 3))

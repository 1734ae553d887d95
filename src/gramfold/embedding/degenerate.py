"""Maps that show little of the data, found by a look at their coordinates and at the distances of some rows.

    taken axis       98% of the rows lie within 15% of its length, and the few rows that hold half of its sum of squares
                     are at most a third as far out in the data as they are on the map (not asked where they leave the
                     others less than 1% of the first axis)
    localised axis   the same, known from the graph: few rows that few edges tie to the others hold half of its sum of
                     squares (kernels/loose.py), wherever they lie in the data
    few places       among rows that differ in the data fewer than a third have a place of their own, to within 5e-4 of
                     the map's size
    lost neighbours  of the 5 nearest on the map the share s of strangers, rows that are not among the nearest third in
                     the data, is above that on the map of PCA:  s − s_PCA > 0.06 + gain,  gain = (o / o_PCA − 1)₊, o
                     the share of the 10 nearest on the map that are among the 10 nearest in the data

A map that keeps more of the nearest than PCA does may have a few more strangers (groups that lie beside others); for
one that keeps less than two thirds of them half the limit holds. The limits were found on 2,300 maps: every method
with 5 to 15 neighbours on digits, faces, cells, tables, mixtures, groups, sheets, spheres and rings. There the
difference of s follows that of the accuracy of the 5 nearest labels (correlation 0.76) more closely than mean ranks or
the overlap of neighbours do. At most 600 rows are looked at, at even steps, the same ones every time.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from gramfold.errors import DegenerateMapWarning
from gramfold.kernels.localization import LocalizedAxis
from gramfold.kernels.plain_map import Data, classical_map
from gramfold.runtime.counting import some_rows
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

_FEWEST = 50  # rows below which nothing is told
_SAMPLE = 600  # rows that are looked at
_OTHERS = 300  # of those that are not at the end of an axis

_INNER = 0.98
_TAKEN = 0.15
_SPECK = 0.01  # of an axis: the others are one dot in a picture, whether or not the data are so
_AS_IN_DATA = 3.0
_EXTREME = 50  # rows at the end of an axis that are looked up in the data

_PLACE = 5e-4
_OWN_PLACE = 1 / 3

_NEIGHBORS, _OVERLAP = 5, 10
_STRANGER = 1 / 3
_MORE_STRANGERS = 0.06
_FEWER_NEAREST = 2 / 3  # of those that PCA keeps, below which half as many more strangers are too many
_SURE = 4.0  # standard errors


def warn_of_degenerate_map(
    places: Floats,
    data: Data | None,
    remedy: str,
    *,
    keeps_neighbors: bool = True,
    localized: "Mapping[int, LocalizedAxis] | None" = None,
) -> None:
    """Say so where a map (n, p) has an axis taken by few rows, few places, or fewer neighbours than that of PCA.

    With data that are not known (None) nothing is compared, and neighbours only where the map is meant to keep them.
    `remedy` is what a user may change, in words; `localized` are coordinates that few rows of a graph hold, by number.
    """
    rows = np.flatnonzero(np.isfinite(places).all(axis=1))
    if len(rows) < _FEWEST or not places[rows].any():  # that all columns are zero was told as a matter of rank
        return
    places = places.astype(np.float64) / np.abs(places[rows]).max()  # so that no square overflows or vanishes
    looked = rows[even_steps(len(rows), _SAMPLE)]
    found = [*_taken_axes(places, rows, data, localized or {}), *_compare(places, looked, data, keeps_neighbors)]
    if found:
        warn(f"{'; '.join(found)}. Try {remedy}.", DegenerateMapWarning)


def even_steps(n: int, most: int) -> Integers:
    """At most so many numbers below n, at even steps."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


# --- an axis that is taken by few rows


@dataclass(frozen=True)
class TakenAxis:
    """What few rows leave of an axis to the others."""

    share: float  # of the axis' length, in which 98% of the rows lie
    inner: Integers  # these rows
    rows: Integers  # those of the others that hold half of the sum of squares, the farthest first


def taken_axis(column: Floats) -> TakenAxis | None:
    """The few rows that one column of a map is made of; None where there are none such."""
    away = np.abs(column - np.median(column))
    inner = int(_INNER * len(column))
    nearest = np.argpartition(away, inner - 1)
    length = float(np.ptp(column))
    share = float(np.ptp(column[nearest[:inner]])) / length if length > 0 else 1.0
    if share > _TAKEN:
        return None
    outer = nearest[inner:]
    outer = outer[np.argsort(-away[outer], kind="stable")]
    half = int(np.searchsorted(np.cumsum(away[outer] ** 2), 0.5 * float(away @ away)))
    return TakenAxis(share, nearest[:inner], outer[: half + 1])


def _taken_axes(places: Floats, rows: Integers, data: Data | None, localized: Mapping[int, LocalizedAxis]) -> list[str]:
    told = []
    for axis in range(places.shape[1]):
        if axis in localized:
            told.append(f"coordinate {axis + 1} {localized[axis].words()}")
            continue
        column = places[rows, axis]
        found = taken_axis(column)
        if found is None:
            continue
        speck = axis == 0 and found.share <= _SPECK
        if not speck and data is not None and _as_far_out(column, rows, found, axis, data):
            continue
        who, them = some_rows(rows[found.rows], len(found.rows))
        told.append(
            f"coordinate {axis + 1} is dominated by {who}: {_INNER:.0%} of the rows lie within "
            f"{_percent(found.share)} of its range and can hardly be distinguished along it; fitting without {them} "
            "may help"
        )
    return told


def _as_far_out(column: Floats, rows: Integers, taken: TakenAxis, axis: int, data: Data) -> bool:
    """Whether the rows at the end of an axis lie about as far out in the data as they do on the map."""
    outer = taken.rows[:_EXTREME]
    others = np.sort(taken.inner)[even_steps(len(taken.inner), _OTHERS)]
    among = data.squares(rows[others], rows[others])
    # |x − mean of the others|² beyond that of one of the others
    beyond = np.sqrt(np.maximum(data.squares(rows[outer], rows[others]).mean(axis=1) - among.mean(), 0.0))
    spread = np.std(classical_map(among, axis + 1)[:, -1])
    on_map = np.abs(column[outer] - column[others].mean())
    return bool(np.median(on_map) * spread <= _AS_IN_DATA * np.median(beyond) * np.std(column[others]))


def _compare(places: Floats, rows: Integers, data: Data | None, keeps_neighbors: bool) -> list[str]:
    points = places[rows]
    inner = np.quantile(points, [0.5 - _INNER / 2, 0.5 + _INNER / 2], axis=0)
    own = _own_places(points, _PLACE * float((inner[1] - inner[0]).max()))
    distinct, told = len(rows), []
    if data is not None:
        in_data = data.squares(rows, rows)
        distinct = _apart(in_data, _PLACE**2 * float(in_data.mean()))
        if keeps_neighbors and distinct >= _FEWEST:
            plain = data.plain_map(rows, places.shape[1])
            in_data /= float(in_data.max()) or 1.0  # whose squares may be no numbers of float32
            told += _lost_neighbors(points, plain, in_data.astype(np.float32))
    if own < _OWN_PLACE * distinct:
        looked = "distinct rows" if len(rows) == len(places) else "distinct rows of a sample"
        told.append(
            f"{distinct} {looked} have only {own} distinct positions (to within {_PLACE:.2%} of the size of the "
            "embedding): the embedding may separate groups but shows no structure within them"
        )
    return told


def _lost_neighbors(points: Floats, plain_points: Floats, in_data: Floats) -> list[str]:
    far = max(int(_STRANGER * in_data.shape[1]), _OVERLAP + 1)
    cuts = np.partition(in_data, [_OVERLAP, far], axis=1)[:, [_OVERLAP, far]]  # the row itself is the first
    seen, plain = (_Kept.on(one, in_data, cuts) for one in (points, plain_points))
    more = seen.strangers - plain.strangers
    gain = seen.overlap / max(plain.overlap, 1e-9) - 1.0
    limit = _MORE_STRANGERS + max(gain, 0.0) if 1.0 + gain > _FEWER_NEAREST else 0.5 * _MORE_STRANGERS
    if more.mean() <= max(limit, _SURE * float(np.std(more)) / np.sqrt(len(more))):
        return []
    sentence = (
        f"the embedding preserves neighbours worse than PCA: of the {_NEIGHBORS} nearest rows of a row in the "
        f"embedding, {_percent(seen.strangers.mean())} are not even among the nearest third of all rows in the data "
        f"(PCA: {_percent(plain.strangers.mean())})"
    )
    return [sentence]


@dataclass(frozen=True)
class _Kept:
    strangers: Floats  # (m,) share of each row's nearest that are far in the data
    overlap: float  # share of the nearest that are the nearest in the data

    @classmethod
    def on(cls, points: Floats, in_data: Floats, cuts: Floats) -> "_Kept":
        """What a map keeps of neighbours, by places on it, squares in the data, and how far near and far are there."""
        found = cKDTree(points).query(points, _OVERLAP + 1)[1]
        itself = found == np.arange(len(points))[:, None]
        itself[~itself.any(axis=1), -1] = True  # among more than so many at one place it may not be the first
        distances = np.take_along_axis(in_data, found[~itself].reshape(len(points), _OVERLAP), axis=1)
        strangers = (distances[:, :_NEIGHBORS] > cuts[:, 1:]).mean(axis=1)
        return cls(strangers, float((distances <= cuts[:, :1]).mean()))


def _own_places(points: Floats, limit: float) -> int:
    """How many of the points have none before them within this distance."""
    pairs = cKDTree(points).query_pairs(limit, output_type="ndarray")
    return len(points) - len(np.unique(pairs.max(axis=1, initial=-1))) if len(pairs) else len(points)


def _apart(squared: Floats, limit: float) -> int:
    """How many of the rows have none before them within this distance."""
    return int((~np.tril(squared <= limit, -1).any(axis=1)).sum())


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"

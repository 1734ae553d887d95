"""Which columns a page shows: those of a table, those that were mapped, and what the map says of each row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gramfold.diagnostics import Loadings
from gramfold.errors import InputError
from gramfold.report.arrows import spreads_of, weights_of
from gramfold.report.columns import Column, Raw, columns_of, find, free_name
from gramfold.report.subject import Subject
from gramfold.report.thinning import Thinned
from gramfold.types import Integers

MOST_COLUMNS = 60  # so that one finds them in a list
MOST_VALUES = 4_000_000  # in all of these columns, so that a page can be sent
FEWEST_COLUMNS = 4  # that are shown however many rows there are
_HEAD = 50  # rows by which columns of the same values are looked for
_KINDS = 20  # categories up to which a column colours the map when nobody has chosen


@dataclass(frozen=True, eq=False)
class Candidates:
    """All columns that could be shown, in their order, none of them read."""

    raws: tuple[Raw, ...]
    data: tuple[int, ...]  # which of them were mapped
    color: int | None  # as it was asked for
    label: int | None
    ranked: tuple[int, ...]  # the columns of the map, those first that matter most to its axes
    first: str = ""  # why these are shown, where not all can be


@dataclass(frozen=True, eq=False)
class Choice:
    """The columns that are shown, with the rows that are drawn."""

    columns: tuple[Column, ...]
    data: tuple[int, ...]
    color: int | None
    label: int | None
    note: str = ""  # what was left out


def candidates(subject: Subject, found: Loadings | None, table: Any, color: Any, label: Any) -> Candidates:
    """Everything that a page could show of each row."""
    n = len(subject.Y)
    own = _own(subject, n)
    if table is None:
        raws, data = list(own), list(range(len(own)))
    else:
        raws = columns_of(table, n)
        by_key = {raw.key if isinstance(raw.key, str) else raw.name: j for j, raw in enumerate(raws)}
        matched = (
            {raw.name: by_key[raw.name] for raw in own if subject.names and raw.name in by_key}
            if subject.names or issparse(subject.X)
            else _alike(own, raws)
        )
        taken = {raw.name for raw in raws}
        data = []
        for raw in own:
            if raw.name in matched:
                data.append(matched[raw.name])
            elif not matched:
                data.append(len(raws))
                raws.append(Raw(free_name(raw.name, taken), raw.key, raw.values))
    ranks = _ranked(subject, found, len(own))
    chosen = [_chosen(raws, one, what, n) for one, what in ((color, "color"), (label, "label"))]
    ranked = tuple(data[j] for j in ranks) if len(data) == len(own) else tuple(data)
    first = "that matter most to the axes" if found is not None else "that vary most"
    return Candidates(tuple(raws), tuple(data), chosen[0], chosen[1], ranked, first)


def _own(subject: Subject, n: int) -> list[Raw]:
    """The columns of the rows as the method saw them."""
    X = subject.X
    if X is None or subject.precomputed or getattr(X, "ndim", 2) != 2:
        return []
    raws = columns_of(X, n, "X")
    if len(subject.names) != len(raws):
        return raws
    taken: set[str] = set()
    return [
        Raw(free_name(name or raw.name, taken), name, raw.values) for name, raw in zip(subject.names, raws, strict=True)
    ]


def _alike(own: list[Raw], raws: list[Raw]) -> dict[str, int]:
    """Which columns of the table hold the values of columns without a name; constants tell nothing."""
    by_head: dict[bytes, list[int]] = {}
    for j, raw in enumerate(raws):
        head = _numbers(raw, _HEAD)
        if head is not None:
            by_head.setdefault(head.tobytes(), []).append(j)
    found = {}
    for raw in own:
        head = _numbers(raw, _HEAD) if by_head else None
        for j in by_head.get(head.tobytes(), []) if head is not None else []:
            ours, theirs = _numbers(raw), _numbers(raws[j])
            if ours is None or theirs is None or not (ours != ours[0]).any():
                continue
            if np.array_equal(ours, theirs, equal_nan=True):
                found[raw.name] = j
                break
    return found


def _numbers(raw: Raw, most: int | None = None) -> NDArray[np.float32] | None:
    """The first values in single precision, in which one of both tables may be; None where they are no numbers."""
    column = raw.read(np.arange(min(len(raw.values), most)) if most else None)
    with np.errstate(over="ignore"):
        return column.values.astype(np.float32) + np.float32(0) if column.kind == "number" else None


def _ranked(subject: Subject, found: Loadings | None, count: int) -> list[int]:
    """The columns of the map, those first that matter most to its axes; without axes, those that vary most."""
    if found is not None and len(found.names) == count:
        return [int(j) for j in np.argsort(-weights_of(found, spreads_of(subject.Y)), kind="stable")]
    X = subject.X
    if count <= MOST_COLUMNS or X is None or (not issparse(X) and X.dtype.kind not in "biuf"):
        return list(range(count))
    if issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        spread = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            spread = np.nan_to_num(np.nanvar(X, axis=0))
    return [int(j) for j in np.argsort(-spread, kind="stable")]


def _chosen(raws: list[Raw], asked: Any, what: str, n: int) -> int | None:
    """Where the column stands that was asked for by name, or that was given as a value for each row."""
    if asked is None:
        return None
    named = isinstance(asked, str | tuple | int | np.integer) and not isinstance(asked, bool)
    values = isinstance(asked, tuple) and len(asked) == n and not any(_named(raw, asked) for raw in raws)
    if named and not values:
        return find(raws, asked, what)
    try:
        (raw,) = columns_of(
            {what: asked if hasattr(asked, "dtype") or hasattr(asked, "type") else list(asked)}, n, what
        )
    except (InputError, TypeError) as error:
        raise InputError(
            f"{what} is neither the name of a column nor {n} values: pass the name of a column of the table, or one "
            "value for each row."
        ) from error
    name = getattr(asked, "name", None)
    raws.append(Raw(free_name(what if name is None else str(name), {one.name for one in raws}), what, raw.values))
    return len(raws) - 1


def _named(raw: Raw, key: Any) -> bool:
    return type(raw.key) is type(key) and bool(raw.key == key)


def read(among: Candidates, drawn: Thinned, labels: Integers | None, color: Column | None, few: bool = False) -> Choice:
    """The columns that are shown, read in the rows that are drawn.

    Parameters
    ----------
    among : Candidates
        All columns.
    drawn : Thinned
        Which rows.
    labels : ndarray of int or None
        Clusters of a clusterer.
    color : Column or None
        What colours the rows, read already.
    few : bool
        Whether columns of the data that have no names, such as pixels, are left out.
    """
    kept = _kept(among, drawn.shown, few)
    columns = [
        color.take(drawn.rows) if color is not None and j == among.color else among.raws[j].read(drawn.rows)
        for j in kept
    ]
    place = {j: k for k, j in enumerate(kept)}
    shown = None if among.color is None else place[among.color]
    if labels is not None:
        names = free_name("cluster", {column.name for column in columns})
        columns.append(cluster_column(labels, names).take(drawn.rows))
        shown = len(columns) - 1 if shown is None else shown
    data = tuple(place[j] for j in among.data if j in place)
    if shown is None:
        shown = _first_color(columns, [place[j] for j in among.ranked if j in place], data)
        if shown is not None:
            columns[shown] = columns[shown].as_classes() if columns[shown].kind == "text" else columns[shown]
    return Choice(
        tuple(columns), data, shown, None if among.label is None else place[among.label], _left_out(among, kept, few)
    )


def _kept(among: Candidates, shown: int, few: bool) -> list[int]:
    """As many columns as there is room for: those of the table in their order, of those that were mapped the best."""
    most = max(FEWEST_COLUMNS, min(MOST_COLUMNS, MOST_VALUES // max(shown, 1)))
    asked = {j for j in (among.color, among.label) if j is not None}
    data = set(among.data)
    order = [*asked, *(j for j in range(len(among.raws)) if j not in data)]
    if not (few and all(type(among.raws[j].key) is int for j in data)):
        order += among.ranked
    return sorted(dict.fromkeys(order[: most + len(asked)]).keys())[: most + len(asked)]


def _left_out(among: Candidates, kept: Sequence[int], few: bool) -> str:
    lost = len(among.raws) - len(kept)
    if not lost:
        return ""
    of = f"{len(kept):,} of {len(among.raws):,} columns are on this page"
    if few and not any(j in set(kept) for j in among.data):
        return "The columns that were mapped are the pictures, and are not listed one by one."
    lost_data = len(set(among.data) - set(kept))
    return f"{of}, of those that were mapped the ones {among.first}." if lost_data else f"{of}, the first ones."


def _first_color(columns: Sequence[Column], ranked: Sequence[int], data: Sequence[int]) -> int | None:
    """Categories that are no data, else the column that matters most to the axes."""
    for j, column in enumerate(columns):
        if j not in data and column.kind == "category" and 1 < len(column.levels) <= _KINDS:
            return j
    return ranked[0] if ranked and columns[ranked[0]].kind != "text" else None


def cluster_column(labels: Integers, name: str) -> Column:
    """Clusters as categories; −1 is none."""
    different = np.unique(labels[labels >= 0])
    codes = np.where(labels >= 0, np.searchsorted(different, labels), -1)
    return Column(name, name, "category", codes, tuple(str(one) for one in different.tolist()))

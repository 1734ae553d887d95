"""The shape of data: which of the tests holds first.

groups      parts that no edge of the neighbour graph connects (groups.py)
curve       the skeleton is thin (skeleton.py): a line, a ring, branches
groups      the density has valleys that chance does not make (groups.py)
noise       shuffled columns are like the columns (independence.py), the rows have more than two dimensions, or as
            many as there are columns, there is no valley of half that depth, and no column has two modes (modes.py)
surface     of about two dimensions (surface.py): a sheet if it has an edge, a sphere if it has neither edge nor loop
unclear     everything else, with the reason
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np
from scipy.sparse import issparse

from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.shapes.cloud import FEWEST, Cloud, cloud_of, euclidean
from gramfold.diagnostics.shapes.groups import Groups, columns_of, groups_of
from gramfold.diagnostics.shapes.independence import independence_of
from gramfold.diagnostics.shapes.modes import modes_of
from gramfold.diagnostics.shapes.skeleton import THIN, Skeleton, skeleton_of
from gramfold.diagnostics.shapes.surface import Surface, surface_of
from gramfold.diagnostics.tables import Remembered, Rows
from gramfold.runtime.counting import counted
from gramfold.types import Integers

Kind = Literal["line", "ring", "sheet", "sphere", "branches", "groups", "noise", "unclear"]
Sure = Literal["clear", "likely", "not known"]

_TWO = (1.5, sqrt(6.0))  # dimensions of a surface: halfway to one, and to three by ratio
_CONNECTED = 0.9  # share of the rows in one connected component, below which there is no one shape
_DOUBLE = 0.5  # of a threshold, or twice it: what is beyond is clear
_MANY = 200  # rows from which anything is clear, ...
_MANY_ON_A_SURFACE = 500  # ... and holes of a sheet, or that there are none in a sphere
_BENT = 0.05  # share of negative eigenvalues from which a plane is none
_MOST_LOOPS = 2  # of curves: more may be holes of something wider
_NAMED = 4  # groups whose sizes are told


@dataclass(frozen=True, eq=False)
class Shape:
    """The shape of data, with the test behind it.

    `words` complete the sentence "The data …"; `number` is what the test `test` found.
    """

    kind: Kind
    sure: Sure
    words: str
    number: float
    test: str
    dimension: float = float("nan")
    n_groups: int = 1
    closed: bool = False
    columns: tuple[int, ...] = ()  # whose values are the groups


def shape_of(judged: Judged, names: Sequence[str] | None = None) -> Shape:
    """The shape of the data of a map; the map is not looked at. `names` are those of the columns."""
    cloud = cloud_of(judged)
    if cloud is None:
        few = f"have fewer than {FEWEST} distinct rows, too few to see a shape"
        return Shape("unclear", "not known", few, float(judged.n), "number of rows")
    found = next(_found(cloud, judged.generator(42)))
    if found.kind == "groups":
        found = _with_columns(found, cloud, judged, names)
    if found.sure == "clear" and len(cloud) < _MANY:
        found = replace(found, sure="likely")
    return found


def _found(cloud: Cloud, random: np.random.Generator) -> Iterator[Shape]:
    """What holds, in the order of the tests; only the first is asked for."""
    if cloud.near.tied > _DOUBLE and cloud.dimension > _TWO[0]:  # rows along a curve may be evenly spaced
        words = "lie on a coarse grid, where most distances are equal and no shape can be seen"
        yield Shape("unclear", "not known", words, cloud.near.tied, "equal distances", cloud.dimension)
    groups = groups_of(cloud)
    if groups.n_parts > 1 and len(groups) > 1:
        yield _of_groups(groups, cloud)
    if len(cloud.main) < _CONNECTED * len(cloud):
        share = 1.0 - len(cloud.main) / len(cloud)
        words = f"fall into many small parts: {share:.0%} of the rows are not connected with the largest"
        yield Shape("unclear", "not known", words, share, "connected components", cloud.dimension)
    skeleton = skeleton_of(cloud)
    if skeleton.thin:
        yield _of_skeleton(skeleton, cloud)
    if len(groups) > 1:
        yield _of_groups(groups, cloud)
    perhaps = len(groups_of(cloud, _DOUBLE))
    if cloud.table is not None and perhaps < 2:
        yield from _of_noise(cloud, cloud.table, random)
    flat = cloud.table is not None and cloud.table.shape[1] <= 2  # two columns are a plane anyway
    if _TWO[0] <= cloud.dimension < _TWO[1] and not (flat and perhaps > 1):
        yield _of_surface(surface_of(cloud), cloud)
    yield _of_dimension(cloud, perhaps)


def _of_groups(found: Groups, cloud: Cloud) -> Shape:
    shares = [f"{size / len(cloud):.0%}" for size in found.sizes[:_NAMED]]
    more = ", …" if len(found.sizes) > _NAMED else ""
    words = (
        f"fall into {len(found)} or more groups ({', '.join(shares)}{more} of the rows), with "
        f"{_percent(found.mixed)} of the nearest neighbours in another group"
    )
    sure: Sure = "clear" if found.depth > found.threshold / _DOUBLE else "likely"
    return Shape("groups", sure, words, found.mixed, "valleys of the density", cloud.dimension, len(found))


def _with_columns(shape: Shape, cloud: Cloud, judged: Judged, names: Sequence[str] | None) -> Shape:
    """Groups, with the columns of which they are no more than the values."""
    table = judged.data.table if isinstance(judged.data, Remembered) else judged.data
    if not isinstance(table, Rows) or issparse(table.rows):
        return shape
    columns = columns_of(groups_of(cloud).label, np.asarray(table.rows[cloud.rows], dtype=np.float64))
    if not columns:
        return shape
    shown = [str(j) if names is None else f"'{names[j]}'" for j in columns[:_NAMED]]
    some = f"column{'s' * (len(columns) > 1)} {', '.join(shown)}"
    more = ", …" if len(columns) > _NAMED else ""
    return replace(shape, words=f"{shape.words}: they are the values of {some}{more}", columns=tuple(columns))


def _of_skeleton(found: Skeleton, cloud: Cloud) -> Shape:
    times = 1.0 / found.width if found.width > 0 else float("inf")
    long = f"{times:.0f} times as long as wide" if times < 1000 else "without width"
    sure: Sure = "clear" if found.width < _DOUBLE * THIN else "likely"
    test = "skeleton of the geodesic distance"

    def shape(kind: Kind, words: str) -> Shape:
        return Shape(kind, sure if kind != "unclear" else "not known", words, times, test, cloud.dimension)

    if found.n_loops == 0 and found.n_ends == 2 and found.n_close:
        words = f"lie along one line whose two ends nearly meet, or along a ring with a gap, {long}"
        return replace(shape("line", words), sure="likely")
    if found.n_loops == 0 and found.n_ends == 2:
        return shape("line", f"lie along one line with two ends, {long}")
    if found.n_loops == 1 and found.n_ends == 0 and found.n_joined:
        words = (
            f"lie along a closed ring with one gap, as chance makes it, or along a line whose ends nearly meet, {long}"
        )
        return replace(shape("ring", words), sure="likely")
    if found.n_loops == 1 and found.n_ends == 0:
        return shape("ring", f"lie along a closed ring, {long}")
    if found.n_loops == 0 and found.n_ends > 2:
        return shape("branches", f"lie along branches with {found.n_ends} ends, {long} in all")
    if found.n_loops > _MOST_LOOPS:
        words = f"have no shape that has a name here: seen from far they are a net with {found.n_loops} or so holes"
        return replace(shape("unclear", words), number=float(found.n_loops))
    ends = counted(found.n_ends, "end")
    return shape(
        "unclear", f"lie along curves with {counted(found.n_loops, 'loop')} and {ends}, which is no named shape"
    )


def _of_noise(cloud: Cloud, table: np.ndarray, random: np.random.Generator) -> Iterator[Shape]:
    """Independent columns, unless most of them are as good as constant; or a cloud that is only wider one way."""
    columns = table[:, table.any(axis=0)]
    dimension = cloud.dimension
    if cloud.n_directions:  # with the directions that were taken away
        everything = euclidean(columns)
        dimension = min(Cloud(cloud.rows, everything, None, 0.0, 0, 0).dimension, columns.shape[1])
    if dimension < _TWO[1] and columns.shape[1] > 2:
        return
    found = independence_of(columns, dimension, random)
    if not found.holds:
        return
    words = "look like noise: with the values of each column shuffled they would look the same"
    sure: Sure = "clear" if found.gain < _DOUBLE * found.limit else "likely"
    modes = modes_of(table, random)
    if len(modes.certain):
        names = _columns(modes.certain)
        words = f"have no shape of several columns together, but {names} by itself has two modes, which may be groups"
        yield Shape("unclear", "likely", words, modes.largest, "dip of single columns", dimension)
    if len(modes.perhaps):
        words, sure = f"{words}; {_columns(modes.perhaps)} by itself may have two modes", "likely"
    yield Shape("noise", sure, words, found.gain, "shuffled columns", dimension)


def _columns(numbers: Integers) -> str:
    """Some columns, counted from 0."""
    more = f" (and {len(numbers) - 1} more)" if len(numbers) > 1 else ""
    return f"column {int(numbers[0])}{more}"


def _of_surface(found: Surface, cloud: Cloud) -> Shape:
    number, d = found.edge, cloud.dimension
    rim, many = f"{_percent(found.edge)} of the rows at an edge", len(cloud) >= _MANY_ON_A_SURFACE
    if not found.closed:
        holes = found.n_loops if many else 0
        sure: Sure = "clear" if found.edge > found.threshold / _DOUBLE and not found.n_loops else "likely"
        hole = f", perhaps with {counted(holes, 'hole')} or closed to a wide ring" if holes else ""
        words = f"lie on a sheet{hole}: they have about {d:.2g} dimensions, and {rim}"
        return Shape("sheet", sure, words, number, "gaps around rows", d)
    if found.bent > _BENT:
        words = (
            f"have about {d:.2g} dimensions, in a metric in which an edge cannot be seen: a sheet or a closed surface"
        )
        return Shape("unclear", "not known", words, found.bent, "negative eigenvalues of neighbourhoods", d)
    surface = f"about {d:.2g} dimensions, {rim}"
    if found.n_loops == 0 and found.loops.hinted:
        words = f"lie on a closed surface: {surface}; too few rows to see whether it has a hole, as a torus has"
        return Shape("unclear", "likely", words, float(found.loops.hinted), "persistent loops", d, closed=True)
    if found.n_loops == 0 and not found.loops.seen:
        words = (
            f"lie on a closed surface, perhaps like a sphere: {surface}; too few rows to see whether it has a hole, "
            "but nothing hints at one"
        )
        return Shape("sphere", "likely", words, number, "gaps around rows", d, closed=True)
    if found.n_loops == 0:
        sure = "clear" if found.edge < _DOUBLE * found.threshold and many else "likely"
        words = f"lie on a closed surface like a sphere: {surface}, and no hole"
        return Shape("sphere", sure, words, number, "gaps around rows", d, closed=True)
    words = (
        f"lie on a closed surface with a hole, such as a torus: {surface}, and "
        f"{counted(found.n_loops, 'loop')} that cannot be drawn together"
    )
    return Shape("unclear", "likely", words, float(found.n_loops), "persistent loops", d, closed=True)


def _of_dimension(cloud: Cloud, perhaps: int) -> Shape:
    d = cloud.dimension
    if perhaps > 1:
        words = (
            f"have no shape that is certain: perhaps {perhaps} groups, but chance can make such valleys between them"
        )
    elif d < _TWO[0]:
        words = "have no shape that has a name here: a cloud that is longer one way, but too wide for a curve"
    else:
        words = f"have no shape that has a name here: one connected cloud of about {d:.2g} dimensions"
    return Shape("unclear", "not known", words, d, "dimension between 8 and 32 neighbours", d)


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.1 else f"{share:.0%}"

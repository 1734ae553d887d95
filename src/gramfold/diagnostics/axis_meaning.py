"""What the axes of a map mean: the columns along which it changes, over the whole map and in regions of it.

    slope of axis a by column j:   ∂y_a/∂x_j · s_j / s(y_a),    s standard deviations: units do not matter
    share of column j:             its squared slope over the sum of all, the mean of the squares over cells of the map

Slopes are derivatives of the map (`sensitivity`), averaged over cells, where the map is a smooth function of the
columns: linear maps, kernel functions, mixtures, distances. Everywhere else they are those of ridge regression within
cells (cell_slopes.py). The derivatives of maps of a neighbour graph are exact, but they are those of a staircase: a
step to the next neighbour or path changes more than the slope between. On a planted map of 40 columns, averaged over
cells, they explain half of an axis of Isomap and 15% of one of diffusion maps, regression more than 90% of both. A
mixture of affine maps of many columns (kernel eigenmaps of images) has steep slopes along columns that hardly vary:
there regression explains more too, and is taken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gramfold.diagnostics.axis_words import axis_lines, leading
from gramfold.diagnostics.cell_slopes import (
    CellSlopes,
    derived,
    left_by,
    regressed,
    shares_explained,
    spreads_of,
    varies_with,
)
from gramfold.diagnostics.map_regions import Cells
from gramfold.diagnostics.placed_rows import FEWEST, PlacedRows, of_data, of_model
from gramfold.diagnostics.randomness import check_seed
from gramfold.embedding import Estimator, Model
from gramfold.embedding.reading import check_count
from gramfold.embedding.sensitivity import kind_of, sensitivity_blocks
from gramfold.errors import InputError
from gramfold.extension.graph_source import GraphSource
from gramfold.runtime.counting import counted
from gramfold.runtime.threads import at_work
from gramfold.types import Floats, Integers

By = Literal["derivative", "regression"]

_SAMPLE = 5_000
_DERIVED = 1_000  # rows at which derivatives are computed: their means change little with more
_WIDE = 1_500  # columns, beyond which no more rows than that are looked at: their cost grows with the cube of the fewer
_TOGETHER = 0.8
# Of an axis: derivatives that explain so much are taken, and others unless regression explains so much more.
_ENOUGH, _BETTER = 0.7, 0.2
_AS_MUCH = 0.05  # of an axis: one slope for the whole map is preferred to many that explain so little more


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """What the axes mean in one region of a map.

    Attributes
    ----------
    name : str
        Where it lies: "left", "upper right", "top", "centre", …
    rows : ndarray of int
        The rows that were looked at in it.
    center : ndarray of shape (n_components,)
        The mean of their coordinates.
    slopes, shares : ndarray of shape (n_components, n_columns)
        As of `Loadings`, in the region.
    explained, explained_by_whole : ndarray of shape (n_components,)
        Share of the variance within the cells of the region that these slopes explain, and that those of the whole map
        explain. Where the first is larger, the axis means something else here.
    """

    name: str
    rows: Integers
    center: Floats
    slopes: Floats
    shares: Floats
    explained: Floats
    explained_by_whole: Floats

    def __repr__(self) -> str:
        return f"Region({self.name}, {len(self.rows):,} rows)"


@dataclass(frozen=True, eq=False, repr=False)
class Loadings:
    """What the axes of a map mean. `str` is a line of words for each axis.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    slopes : ndarray of shape (n_components, n_columns)
        How far each axis rises, in its standard deviations, where a column rises by one of its own: the mean over the
        map. Columns that vary together share a slope.
    shares : ndarray of shape (n_components, n_columns)
        Share of each column in an axis: its squared slope, relative to the sum of all. Each row sums to 1.
    explained : ndarray of shape (n_components,)
        Share of the variance of each axis that the slopes explain, in rows that they were not made of: over the whole
        map where `straight`, else within cells of it. An axis of which little is explained has no meaning in columns.
    straight : ndarray of bool of shape (n_components,)
        Whether one slope for the whole map explains as much of the axis as slopes of its own for each cell.
    regions : tuple of Region
        Parts of the map, with slopes and shares of their own. None where rows are few.
    kin : ndarray of bool of shape (n_components, n_columns)
        Columns that vary together (correlation above 0.8 or below −0.8) with one of those that make half of the axis:
        where they lead in a region, the axis means the same there.
    spreads : ndarray of shape (n_columns,)
        Standard deviation of each column.
    by : {"derivative", "regression"}
        How slopes were computed.
    n_rows : int
        Number of rows that were looked at.
    n_far : int
        Number of rows that were left out because they lie far outside of the rest of the map: more than ten
        interquartile ranges beyond a quartile of an axis. They are at most two, or 2% of the rows: more are a part of
        the map, and stay.
    """

    names: tuple[str, ...]
    slopes: Floats
    shares: Floats
    explained: Floats
    straight: np.ndarray
    regions: tuple[Region, ...]
    kin: np.ndarray
    spreads: Floats
    by: By
    n_rows: int
    n_far: int = 0

    def top(self, axis: int = 0, count: int = 5, *, region: str | None = None) -> list[tuple[str, float, float]]:
        """Name, share and slope of the columns with the largest shares.

        Parameters
        ----------
        axis : int, default=0
            Number of the axis, from 0.
        count : int, default=5
            How many columns.
        region : str, optional
            Name of a region; by default the whole map.

        Returns
        -------
        columns : list of (str, float, float)
            The largest share first.
        """
        found = self if region is None else next((one for one in self.regions if one.name == region), None)
        if found is None:
            raise InputError(f"region={region!r} is not on this map: use one of {[one.name for one in self.regions]}.")
        order = np.argsort(-found.shares[axis], kind="stable")[:count]
        return [(self.names[j], float(found.shares[axis, j]), float(found.slopes[axis, j])) for j in order]

    def to_pandas(self) -> Any:
        """All shares and slopes as a table.

        Returns
        -------
        table : pandas.DataFrame
            Columns `axis` (from 1), `region`, `column`, `share`, `slope` and `explained`, the largest share first.
        """
        import pandas as pd

        parts, told_of = [], [("whole map", self.shares, self.slopes, self.explained)]
        told_of += [(one.name, one.shares, one.slopes, one.explained) for one in self.regions]
        for name, shares, slopes, explained in told_of:
            for axis in range(len(self.shares)):
                order = np.argsort(-shares[axis], kind="stable")
                told = {"axis": axis + 1, "region": name, "column": [self.names[j] for j in order]}
                numbers = {"share": shares[axis, order], "slope": slopes[axis, order]}
                parts.append(pd.DataFrame({**told, **numbers, "explained": explained[axis]}))
        return pd.concat(parts, ignore_index=True)

    def __str__(self) -> str:
        return "\n".join(axis_lines(self))

    def __repr__(self) -> str:
        axes = "; ".join(", ".join(name for name, *_ in self.top(axis, 3)) for axis in range(min(2, len(self.shares))))
        return f"Loadings({len(self.shares)} x {counted(len(self.names), 'column')}: {axes})"


def loadings(
    model: Any,
    X: Any = None,
    *,
    names: Sequence[str] | None = None,
    by: Literal["auto", "derivative", "regression"] = "auto",
    sample: int = _SAMPLE,
    random_state: int = 0,
) -> Loadings:
    """Find out what the axes of a map mean: the columns along which it changes, everywhere and in parts of it.

    Of anybody's map: ``loadings(X, Y)`` for data X and coordinates Y, of t-SNE or UMAP say. Of a model of gramfold:
    ``loadings(model)``.

    Parameters
    ----------
    model : fitted estimator, or {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns)
        A fitted model, or the data that a map was made of.
    X : array-like, optional
        With a model: rows to look at in place of those it was fitted on. With data: the map of these,
        (n_rows, n_components); rows with NaN are left out.
    names : sequence of str, optional
        Names of the columns. By default those of the DataFrame, or "column 0", "column 1", …
    by : {"auto", "derivative", "regression"}, default="auto"
        "derivative": by the derivative of the model (`sensitivity`). "regression": by ridge regression of coordinates
        on columns within cells of the map. "auto": derivatives of models that are smooth functions of the columns
        (linear maps, kernel functions, mixtures, distances), unless regression explains far more of the axes;
        regression for maps of a neighbour graph, whose derivatives are those of a staircase, and for maps without a
        model.
    sample : int, default=5000
        Number of rows that are looked at, at least 10, drawn at random among more; derivatives at most at 1,000 of
        them, and of more than 1,500 columns at most 1,500 rows.
    random_state : int, default=0
        Seed of what is drawn, and of the cells.

    Returns
    -------
    loadings : Loadings
        `shares`, signed `slopes` and how much of each axis they explain (`explained`), for the whole map and for each
        of its `regions`. ``print(loadings)`` says it in words.

    Notes
    -----
    A share is about the map, not about causes. Columns that vary together share what is theirs: each of ten copies of a
    column has a tenth. A column on which an axis depends as on a square, up and down alike at one place of the map, has
    no slope there; `explained` is small where much of an axis is like that.

    A few rows far outside of the rest would be all the variance of an axis: they are left out, and counted in `n_far`
    and in the words.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import Isomap
    >>> from gramfold.diagnostics import loadings
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((500, 4)) * (4, 2, 0.1, 0.1)
    >>> found = loadings(Isomap().fit(X), names=["age", "dose", "hour", "room"])
    >>> print(found)
    The first axis is mostly age (+): 99.7% of it. The columns explain 99%.
    The second axis is mostly dose (−): 98% of it. The columns explain 98%.
    """
    if by not in {"auto", "derivative", "regression"}:
        raise InputError(f"by={by!r} is not known: use 'auto', 'derivative' or 'regression'.")
    sample = max(check_count(sample, "sample"), FEWEST)
    random_state = check_seed(random_state)
    table = of_model(model, X, names) if isinstance(model, Estimator) else of_data(model, X, names)
    if by == "derivative" and table.fitted is None:
        raise InputError("by='derivative' needs a fitted model, but data and a map were passed: use by='regression'.")
    if table.X.shape[1] > _WIDE:
        sample = min(sample, _WIDE)
    with at_work(None):
        if by == "regression" or (by == "auto" and not _is_smooth(model, table.fitted)):
            return _found(table.drawn(sample, random_state, distinct=True), "regression", random_state)
        found = _found(table.drawn(min(sample, _DERIVED), random_state, distinct=False), "derivative", random_state)
        if by == "derivative" or found.explained.min() >= _ENOUGH:
            return found
        other = _found(table.drawn(sample, random_state, distinct=True), "regression", random_state)
        return other if other.explained.mean() > found.explained.mean() + _BETTER else found


def _is_smooth(estimator: Any, fitted: Model | None) -> bool:
    """Whether the map is a function of the columns, with the same formula around every row."""
    return fitted is not None and kind_of(estimator) == "exact" and not isinstance(fitted.source, GraphSource)


def _found(table: PlacedRows, by: By, random_state: int) -> Loadings:
    spreads, sizes = spreads_of(table.X), spreads_of(table.places)
    units = np.where(sizes > 0, sizes, 1.0)
    Y = (table.places - table.places.mean(axis=0)) / units
    cells = Cells.of(Y, table.X.shape[1], random_state)
    one, each = (
        _regressed(table, Y, spreads, cells) if by == "regression" else _derived(table, Y, spreads, units, cells)
    )
    straight = one.explained_by_all >= each.explained_by_all - _AS_MUCH
    mean, shares = _together(each, np.arange(len(each.rows)))
    alone, alone_shares = _together(one, np.arange(1))
    words = dict.fromkeys(cells.words) if len(cells.words) > 1 else {}
    slopes, shares = (np.where(straight[:, None], *both) for both in ((alone, mean), (alone_shares, shares)))
    left = left_by(slopes, table.X, Y, spreads, cells.cell)
    return Loadings(
        names=table.names,
        slopes=slopes,
        shares=shares,
        explained=np.where(straight, one.explained_by_all, each.explained_by_all),
        straight=straight,
        regions=tuple(_region(word, cells, each, left, table) for word in words),
        kin=np.stack([varies_with(table.X, spreads, leading(one, tied=False), _TOGETHER) for one in shares]),
        spreads=spreads,
        by=by,
        n_rows=len(Y),
        n_far=table.n_far,
    )


def _regressed(table: PlacedRows, Y: Floats, spreads: Floats, cells: Cells) -> tuple[CellSlopes, CellSlopes]:
    """Slopes of the whole map, and of each cell."""
    everybody = np.zeros(len(Y), dtype=np.intp)
    return regressed(table.X, Y, spreads, everybody), regressed(table.X, Y, spreads, cells.cell)


def _derived(
    table: PlacedRows, Y: Floats, spreads: Floats, units: Floats, cells: Cells
) -> tuple[CellSlopes, CellSlopes]:
    """The same; those of the whole are the mean of all derivatives, which are computed once."""

    def blocks() -> Iterator[tuple[slice, Floats]]:
        assert table.fitted is not None
        for some, values in sensitivity_blocks(table.fitted, table.X, None):
            yield some, values * spreads / units[:, None]

    each = derived(table.X, Y, spreads, cells.cell, blocks())
    mean, everybody = _together(each, np.arange(len(each.rows)))[0], np.zeros(len(Y), dtype=np.intp)
    total = np.square(Y - Y.mean(axis=0)).sum(axis=0)[None]
    left = left_by(mean, table.X, Y, spreads, everybody)
    return CellSlopes(mean[None], np.array([len(Y)]), left, total), each


def _together(slopes: CellSlopes, cells: Integers) -> tuple[Floats, Floats]:
    """Mean slopes (p, d) and shares (p, d) of some cells."""
    weights = slopes.rows[cells] / slopes.rows[cells].sum()
    mean = np.tensordot(weights, slopes.values[cells], axes=1)
    squares = np.tensordot(weights, np.square(slopes.values[cells]), axes=1)
    sums = squares.sum(axis=1, keepdims=True)
    return mean, np.divide(squares, sums, out=np.zeros_like(squares), where=sums > 0)


def _region(word: str, cells: Cells, slopes: CellSlopes, left: Floats, table: PlacedRows) -> Region:
    some = cells.named(word)
    rows = np.flatnonzero(np.isin(cells.cell, some))
    total = slopes.total[some].sum(axis=0)
    own, whole = (shares_explained(one[some].sum(axis=0), total) for one in (slopes.unexplained, left))
    return Region(word, table.numbers[rows], table.places[rows].mean(axis=0), *_together(slopes, some), own, whole)

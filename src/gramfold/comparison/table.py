"""The table of a comparison: a row for each map."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramfold.alignment import similarity
from gramfold.comparison.best import Best, best_of
from gramfold.comparison.judging import PURPOSES, Judgement
from gramfold.comparison.words import as_html, as_text
from gramfold.diagnostics import Faults, Measure, Stability
from gramfold.errors import InputError
from gramfold.types import Floats

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure, SubFigure
    from pandas import DataFrame

_NONE = float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class ComparedMap:
    """One map of a comparison.

    Attributes
    ----------
    name : str
        Under which it was compared.
    embedding : ndarray of shape (n_rows, n_components), or None
        Its coordinates; None where the fit failed.
    model : estimator or None
        The fitted one; None for a finished map, where the fit failed, and where models are not kept.
    measures : dict of str to Measure
        As `gramfold.diagnostics.measures` has them, and "strain", the total of `faults.strained`; empty where the map
        was not judged.
    faults : Faults or None
        As `gramfold.diagnostics.faults` has them.
    stability : Stability or None
        How far rows move over refits; None where it was not measured.
    not_measured : str
        Why the stability was not measured.
    seconds : float
        Of the fit, without the neighbour search that methods share; NaN for a finished map.
    megabytes : float
        By which the memory of the process rose during the fit, at its peak; NaN for a finished map. Memory that an
        earlier fit left to the process, and that is used again, is not seen.
    n_rows : int
        Rows that have coordinates.
    warned : dict of str to int
        Categories of the warnings that fit and measures gave, each counted once for the fit and once for the measures.
    examples : dict of str to str
        One of the warnings of each category.
    failure : str
        Why there is no map, or why it was not judged; empty where nothing failed.
    made : str
        The estimator with its parameters, as one would write it; empty for a finished map.
    """

    name: str
    embedding: Floats | None = None
    model: Any = None
    measures: Mapping[str, Measure] = field(default_factory=dict)
    faults: Faults | None = None
    stability: Stability | None = None
    not_measured: str = ""
    seconds: float = _NONE
    megabytes: float = _NONE
    n_rows: int = 0
    warned: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""
    made: str = ""

    def __repr__(self) -> str:
        if self.failure:
            return f"ComparedMap({self.name}, failed: {self.failure})"
        numbers = ", ".join(f"{name} {measure.value:.3g}" for name, measure in self.measures.items())
        return f"ComparedMap({self.name}: {numbers}, {self.faults})"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several maps of the same rows, judged alike. Printed, it is a table with the best map for each purpose.

    Attributes
    ----------
    rows : tuple of ComparedMap
        One for each map, in the order that they were given. `comparison[name]` is one of them.
    n_given : int
        Rows of the table.
    n_judged : int
        Rows that all maps have coordinates for, on which they are judged.
    n_sampled : int
        Rows among these that were drawn for measures of all distances; as many where all were looked at.
    n_neighbors : int
        Number of neighbours by which maps are judged.
    searches : int
        Neighbour searches that were made for all fits together.
    search_seconds, judging_seconds : float
        Time of these searches, and of judging all maps.
    labels : ndarray of shape (n_rows,), or None
        As they were given.
    asked : dict of str to object
        The other arguments of `compare` that tell maps apart or judge them, by name.
    """

    rows: tuple[ComparedMap, ...]
    n_given: int
    n_judged: int
    n_sampled: int
    n_neighbors: int
    searches: int
    search_seconds: float
    judging_seconds: float
    labels: Any
    _judgements: Mapping[str, Judgement]
    asked: Mapping[str, Any] = field(default_factory=dict)
    _table: Any = None  # X as it was passed

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ComparedMap]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> ComparedMap:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"'{name}' is not among the maps {', '.join(row.name for row in self.rows)}")

    @property
    def maps(self) -> dict[str, Floats]:
        """The coordinates of each map, by name."""
        return {row.name: row.embedding for row in self.rows if row.embedding is not None}

    @property
    def models(self) -> dict[str, Any]:
        """The fitted estimators, by name."""
        return {row.name: row.model for row in self.rows if row.model is not None}

    @property
    def failures(self) -> dict[str, str]:
        """What failed and why, by name."""
        return {row.name: row.failure for row in self.rows if row.failure}

    @property
    def purposes(self) -> list[str]:
        """Those that a best map can be named for."""
        known = {name for one in self._judgements.values() for name in one.added}
        return [purpose for purpose, (measure, _) in PURPOSES.items() if measure in known]

    def best_for(self, purpose: str) -> Best:
        """The best map for a purpose, by how much, and whether that is more than noise.

        Parameters
        ----------
        purpose : {"local", "global", "isometry", "clusters"}
            "local": most neighbours are kept (`r_nx`). "global": the order of all distances is kept
            (`distance_correlation`). "isometry": lengths between neighbours are changed least (`strain`). "clusters":
            neighbours have the same label (`neighborhood_purity`), where labels were given.

        Returns
        -------
        best : Best
            Its `sentence` says all in words. A map that collapsed does not win, and is named.
        """
        return best_of(purpose, self._judgements)

    def aligned_maps(self) -> dict[str, Floats]:
        """The maps, each rotated, mirrored, scaled and shifted onto the first, to be compared by eye.

        One of another number of dimensions, or without any agreement, is left as it is. One with infinite coordinates
        is left out: it cannot be drawn.
        """
        maps = {name: places for name, places in self.maps.items() if not np.isinf(places).any()}
        if not maps:
            return {}
        first = next(iter(maps.values()))
        return {name: _aligned(places, first) for name, places in maps.items()}

    def to_pandas(self) -> "DataFrame":
        """The table with a row for each map, and a column for each number.

        Returns
        -------
        pandas.DataFrame
            For each measure its value and, where it was estimated from a sample, `_low` and `_high` of its 95%
            interval; the four faults, and the names of those above their thresholds; stability (NaN where it was not
            measured), seconds, megabytes, rows with coordinates, number of warnings, failure.
        """
        from pandas import DataFrame

        return DataFrame.from_records(self.records(), index="map")

    def records(self) -> list[dict[str, Any]]:
        """The rows of `to_pandas`."""
        names = list(dict.fromkeys(name for row in self.rows for name in row.measures))
        estimated = {name for row in self.rows for name, one in row.measures.items() if one.interval is not None}
        return [_record(row, names, estimated) for row in self.rows]

    def figure(self, **options: Any) -> "Figure | SubFigure":
        """All maps in one figure, with their numbers and faults.

        Parameters
        ----------
        **options
            As for `gramfold.plotting.plot_comparison`.

        Returns
        -------
        matplotlib.figure.Figure or SubFigure
        """
        from gramfold.plotting import plot_comparison

        return plot_comparison(self, **options)

    def report(
        self,
        path: "str | os.PathLike[str]",
        *,
        table: Any = None,
        color: Any = None,
        label: str | None = None,
        pictures: Any = None,
        title: str | None = None,
        most: int = 200_000,
    ) -> Path:
        """Write one page that shows all maps side by side, their numbers, and which of them is best for what.

        It is one HTML file that opens without a network. A row under the pointer is marked on all maps, and so are the
        rows that were chosen on one of them.

        Parameters
        ----------
        path : str or path-like
            File to write or replace.
        table : {DataFrame, Arrow table, dict of arrays}, default=None
            Columns to show of each row, and to colour maps by; as many rows as X. None: the columns of X, unless it
            holds distances.
        color : str or array-like of shape (n_rows,), default=None
            The first colour: a column by its name, or a value for each row. None: the labels of the comparison, if
            there are any.
        label : str, default=None
            The column that names rows.
        pictures : tuple of int or ndarray, default=None
            The picture of each row: an array (n_rows, height, width) or (n_rows, height, width, 3), or its shape
            without the first where the rows of X are pictures.
        title : str, default=None
            Title of the page.
        most : int, default=200_000
            Rows that are drawn. Of more some are drawn at random, and the page says so; numbers are those of all.

        Returns
        -------
        pathlib.Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> from gramfold import compare
        >>> from gramfold.datasets import make_swiss_roll
        >>> roll = make_swiss_roll(300, random_state=0)
        >>> found = compare(roll.points, ["pca", "isomap"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = found.report(Path(folder) / "maps.html", color=roll.truth[:, 0], title="A roll")
        ...     "ahead of" in page.read_text(encoding="utf-8")
        True
        """
        from gramfold.comparison.reported import write

        options = {"table": table, "color": color, "label": label, "pictures": pictures, "most": most}
        return write(self, path, self._table, title, options)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _aligned(places: Floats, first: Floats) -> Floats:
    both = np.flatnonzero(~np.isnan(places).any(axis=1) & ~np.isnan(first).any(axis=1))
    if places is first or places.shape[1] != first.shape[1] or len(both) <= places.shape[1]:
        return places
    try:
        alignment, _ = similarity(places, first, np.column_stack([both, both]))
    except InputError:  # one of them is a point, or they have nothing in common: there is no turn to speak of
        return places
    return alignment.outward(places, places.dtype)


def _record(row: ComparedMap, names: list[str], estimated: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"map": row.name}
    for name in names:
        measure = row.measures.get(name, Measure(_NONE))
        found[name] = measure.value
        if name in estimated:
            found[f"{name}_low"], found[f"{name}_high"] = measure.interval or (measure.value, measure.value)
    for name in ("glued", "torn", "strained", "collapsed"):
        found[name] = _NONE if row.faults is None else getattr(row.faults, name).total
    return found | {
        "faults": "" if row.faults is None else ", ".join(row.faults.named),
        "stability": _NONE if row.stability is None else row.stability.value,
        "seconds": row.seconds,
        "megabytes": row.megabytes,
        "rows": row.n_rows,
        "warnings": sum(row.warned.values()),
        "failure": row.failure,
    }

"""A fitted model: frozen data, and all that `transform` and `inverse_transform` read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from scipy.sparse import issparse

from gramfold.embedding.frame import Alignment
from gramfold.embedding.reading import Columns, Reads
from gramfold.errors import InputError, NoPreimageError, PrecomputedInputError
from gramfold.extension.extrapolation import Ball, Surroundings, corners
from gramfold.extension.inverse import LocalInverse
from gramfold.extension.local_slopes import Slopes
from gramfold.extension.mixture_inverse import MixtureInverse
from gramfold.extension.placement import Known, Part
from gramfold.extension.ridge_inverse import RidgeInverse
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.units import Unit
from gramfold.types import COORDINATES, ROWS, Floats, Graph, Integers, Kernel, LeftOut, Neighbors, Plain, Spectrum

NO_FUNCTION = (
    "inverse='fixed-point' needs a Gaussian kernel function, which {} does not have: use 'mixture', 'barycentric' or "
    "'ridge'."
)


class Inverse(Protocol):
    """Computes pre-images, and its own cross-validated error."""

    def __call__(self, places: Floats) -> Any:
        """Rows for these coordinates."""

    def judge(self) -> float:
        """Root mean square misfit of such rows, relative to their spread."""


class OwnInverse(Protocol):
    """What a method knows of the inverse of its map, as data from which it is made."""

    @property
    def everywhere(self) -> bool:
        """Whether "auto" is one rule for the whole map, wherever the training rows are."""

    def make(self, way: str, model: "Model", n_jobs: int | None) -> Inverse | None:
        """The inverse of this name; None where it is not the method's own."""


class Source(Protocol):
    """Where rows come from, and how new rows meet them."""

    @property
    def unit(self) -> Unit:
        """What rows are measured in."""

    @property
    def rows(self) -> Any:
        """The training rows, in the unit; None where X holds distances, edges or kernel values."""

    @property
    def metric(self) -> Metric | None:
        """By which rows are near; None likewise."""

    def place(self, X: Any, parts: tuple[Part, ...], known: Known, n_jobs: int | None) -> Floats:
        """Places (m, p) of new rows."""

    def slopes(self, X: Any, parts: tuple[Part, ...], n_jobs: int | None) -> Slopes:
        """Derivatives of the places of new rows, in the unit."""

    def outside(self, X: Any, n_jobs: int | None) -> Floats:
        """How far outside of the training rows these lie, (m,)."""

    def compacted(self, parts: tuple[Part, ...]) -> Self:
        """The source without what `place` does not read; the parts are compact already."""


@dataclass(frozen=True, eq=False)
class Remains(Plain):
    """What a compact model keeps of the training rows that it was fitted on."""

    n_rows: int
    extent: Floats | None = None  # (2, p) the least and the largest coordinates on the map, in the model's unit


@dataclass(frozen=True, eq=False)
class Drawn(Plain):
    """Of a fit on rows in partitions: a model holds some of them, and knows what the others were by sums and places."""

    n_rows: int  # in all partitions
    rows: Integers  # the numbers of those that the model holds, counted through all partitions


@dataclass(frozen=True, eq=False)
class Fitted(Plain, ABC):
    """What every fit leaves."""

    name: str  # of the estimator's class
    reads: Reads
    columns: Columns
    timings: Mapping[str, float]  # seconds of each stage
    found: Mapping[str, Any]  # the method's own attributes, by name
    warned: tuple[str, ...] = field(default=(), kw_only=True)  # what the fit warned of
    remains: Remains | None = field(default=None, kw_only=True)  # of what was left out of a compact model
    drawn: Drawn | None = field(default=None, kw_only=True)  # which rows of a table in partitions it holds

    @property
    @abstractmethod
    def n_held(self) -> int:
        """How many of the rows that it was fitted on it holds, or held before it was compacted."""

    @property
    def n_rows(self) -> int:
        """How many rows it was fitted on."""
        return self.n_held if self.drawn is None else self.drawn.n_rows

    def compacted(self) -> Self:
        """The same model without what only the training rows, or looking at the fit, need."""
        raise InputError(
            f"{self.name} has no coordinates for new rows, so that a compact model would hold nothing: save it without "
            "compact=True."
        )

    def shortened(self, n: int) -> dict[str, Any]:
        """What was found, without what has an entry for each of the n training rows."""
        return {name: LeftOut(name) if _by_row(value, n) else value for name, value in self.found.items()}


@dataclass(frozen=True, eq=False)
class FittedMap(Fitted):
    """What every fit of a map leaves."""

    embedding: Floats = field(
        metadata=COORDINATES
    )  # (n, p) in the user's unit, before alignment; NaN where a row has no place
    alignment: Alignment | None = field(default=None, kw_only=True)  # with an earlier map

    @cached_property
    def aligned(self) -> Floats:
        """The map that the user sees."""
        places = self.embedding
        return places if self.alignment is None else self.alignment.outward(places, places.dtype)

    @property
    def n_held(self) -> int:
        return len(self.embedding) if self.remains is None else self.remains.n_rows

    @property
    def dimensions(self) -> int:
        """How many coordinates a row has."""
        extent = None if self.remains is None else self.remains.extent
        return int((self.embedding if extent is None else extent).shape[1])

    @property
    def kept(self) -> np.ndarray:
        """Which rows have a place."""
        return np.asarray(~np.isnan(self.embedding[:, 0]))


@dataclass(frozen=True, eq=False)
class Model(FittedMap):
    """A map and how new rows are placed on it."""

    source: Source
    parts: tuple[Part, ...]  # one for each connected component
    degree: float = 0.0  # the power of the rows' unit that the map comes in
    own: OwnInverse | None = None
    rebuilt: Any = field(
        default=None, metadata=ROWS
    )  # the rows that the inverse rebuilds, where they are not those of the source

    @property
    def kernel(self) -> Kernel:
        """Of the largest component."""
        self._require_all("kernel_")
        kernel: Kernel = self.parts[0].kernel
        return kernel

    @property
    def spectrum(self) -> Spectrum:
        """Of the largest component, over its rows."""
        self._require_all("spectrum_")
        spectrum, rows = self.parts[0].spectrum, self.kernel.rows
        assert isinstance(spectrum, Spectrum)
        if np.array_equal(rows, np.arange(len(spectrum.eigenvectors))):
            return spectrum
        return replace(spectrum, eigenvectors=spectrum.eigenvectors[rows])

    @property
    def graph(self) -> Graph:
        """Over the data rows, where these come from a graph."""
        self._require_all("graph_")
        graph: Graph = self.source.graph  # type: ignore[attr-defined]
        return graph

    @property
    def neighbors(self) -> Neighbors:
        """The nearest neighbours of each data row, likewise."""
        self._require_all("neighbors_")
        neighbors: Neighbors = self.source.neighbors  # type: ignore[attr-defined]
        return neighbors

    @property
    def dropped_edges(self) -> Integers:
        """The data rows of edges that were taken out of the graph, likewise, (m, 2)."""
        self._require_all("dropped_edges_")
        dropped: Integers = self.source.dropped  # type: ignore[attr-defined]
        return dropped

    def _require_all(self, what: str) -> None:
        if self.remains is not None:
            raise LeftOut(what).error

    def compacted(self) -> Self:
        """The same model, in which `LeftOut` stands for all that places of new rows do not need."""
        if self.remains is not None:
            return self
        n, alignment = len(self.embedding), self.alignment
        parts = tuple(part if part.placement is None else part.placement.compacted(part) for part in self.parts)
        return replace(
            self,
            found=self.shortened(n),
            source=self.source.compacted(parts),
            parts=parts,
            embedding=LeftOut("embedding_"),  # type: ignore[arg-type]
            own=LeftOut.of("inverse_transform", self.own),
            rebuilt=LeftOut.of("training rows", self.rebuilt),
            alignment=None if alignment is None else alignment.without("rows", "residuals"),
            remains=Remains(n, corners(self.inner_map[self.kept])),
        )

    # --- there

    def place(self, X: Any, n_jobs: int | None) -> Floats:
        """Places (m, p) of new rows."""
        return self.outward(self.source.place(X, self.parts, self._known_places, n_jobs), X.dtype)

    def _known_places(self) -> Floats:
        """Those of the training rows, or the corners of the box about them."""
        extent = None if self.remains is None else self.remains.extent
        return self.inner_map[self.kept] if extent is None else extent

    def slopes(self, X: Any, n_jobs: int | None) -> Floats:
        """Derivatives (m, p, d) of the places of new rows by their columns, both as the user sees them."""
        unit, found = self.source.unit, self.source.slopes(X, self.parts, n_jobs).values
        shown = np.asarray(unit.shown(found, self.degree - 1, X.dtype, "derivatives of the map"))
        return shown if self.alignment is None else self.alignment.outward_slopes(shown)

    def outward(self, places: Floats, dtype: Any) -> Floats:
        """Places in the user's unit, and in the frame that the map was aligned with."""
        shown = np.asarray(self.source.unit.shown(places, self.degree, dtype, "coordinates"))
        return shown if self.alignment is None else self.alignment.outward(shown, dtype)

    def inward(self, places: Floats) -> Floats:
        """Places in the unit and the frame that the model was made in."""
        places = places if self.alignment is None else self.alignment.inward(places)
        return np.asarray(self.source.unit.inward(places, self.degree))

    @property
    def inner_map(self) -> Floats:
        """The map in that unit and frame."""
        return np.asarray(self.source.unit.inward(self.embedding, self.degree))

    # --- and back

    @property
    def rows(self) -> Any:
        """The training rows as the inverse rebuilds them; None where they were never seen."""
        return self.source.rows if self.rebuilt is None else self.rebuilt

    def known(self) -> tuple[Floats, Any]:
        """Places and rows of the training rows that have a place."""
        kept = self.kept
        return (self.inner_map, self.rows) if kept.all() else (self.inner_map[kept], self.rows[kept])

    def distinct(self) -> tuple[Floats, Any]:
        """The same, identical rows once: a copy is no neighbour, and would be rebuilt by itself where it is left out.

        So an inverse depends on what the rows are, not on how often they are given or what they weigh.
        """
        places, rows = self.known()
        if issparse(rows):
            return places, rows
        first = collapse_rows(rows).first
        return (places[first], rows[first]) if 1 < len(first) < len(places) else (places, rows)

    def inverse(self, way: str, n_jobs: int | None) -> Inverse:
        """The inverse of this name, made from places and rows."""
        self.require_rows()
        own = None if self.own is None else self.own.make(way, self, n_jobs)
        if own is not None:
            return own
        if way == "fixed-point":
            raise NoPreimageError(NO_FUNCTION.format(self.name))
        places, rows = self.distinct()
        if way in {"auto", "barycentric"}:
            return LocalInverse(places, rows, n_jobs)
        if issparse(rows):
            raise NoPreimageError(
                f"inverse={way!r} computes dense rows, but {self.name} was fitted on a sparse table: use "
                "'barycentric', which returns sparse rows."
            )
        return MixtureInverse(places, rows) if way == "mixture" else RidgeInverse(places, rows)

    def require_rows(self) -> None:
        """Refuse to rebuild rows that were never seen, or are not of numbers."""
        if self.reads.mixed:
            raise NoPreimageError(
                f"{self.name} was fitted with metric='gower', whose rows may hold categories and gaps, so "
                "inverse_transform cannot reconstruct them: fit on a table of numbers with another metric."
            )
        if self.rows is None:
            raise PrecomputedInputError(
                f"{self.name} was fitted on precomputed input, so inverse_transform has no rows to reconstruct from: "
                "fit it on a table of rows."
            )

    def rebuild(self, inverse: Inverse, places: Floats) -> Any:
        """Rows, in the user's unit, that belong to places in the model's."""
        what = "pre-images"
        return self.source.unit.shown(inverse(places), 1, self.embedding.dtype, what)

    # --- how far outside of the map

    def around(self, n_jobs: int | None) -> Surroundings:
        """The places of the training rows, asked how far others lie outside of them."""
        return Surroundings(self.inner_map[self.kept].astype(np.float64), n_jobs)

    def outside_map(self, places: Floats, way: str, around: Callable[[], Surroundings]) -> Floats:
        """How far outside of the map places lie; of an inverse that is one rule everywhere only those beyond all."""
        if way != "auto" or self.own is None or not self.own.everywhere:
            return around()(places)
        return Ball.of(self.inner_map[self.kept]).outside(places, around)


def _by_row(value: Any, n: int) -> bool:
    """Whether some of it has an entry for each of n rows."""
    if is_dataclass(value):
        return any(_by_row(getattr(value, one.name), n) for one in fields(value))
    if isinstance(value, Mapping | tuple | list):
        inside = value.values() if isinstance(value, Mapping) else value
        return len(value) == n or any(_by_row(one, n) for one in inside)
    return n in getattr(value, "shape", ())

"""Kernel PCA itself: kernel -> leading spectrum -> coordinates V Λ^a, for each part, and the parts on one map."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gramfold.embedding.degenerate import warn_of_degenerate_map
from gramfold.embedding.groups import Neighborhood
from gramfold.embedding.model import Model
from gramfold.errors import RankWarning
from gramfold.extension.graph_source import GraphSource
from gramfold.extension.placement import Built, Part, widened
from gramfold.extension.project import place_everybody, positive_directions
from gramfold.extension.side_by_side import side_by_side
from gramfold.kernels.localization import LocalizedAxis
from gramfold.kernels.plain_map import Data, all_distances, rows_by
from gramfold.neighbors.duplicates import Collapse
from gramfold.runtime.counting import last_columns_are
from gramfold.runtime.warning import warn
from gramfold.types import Integers, Kernel, Spectrum

if TYPE_CHECKING:
    from gramfold.embedding.fit import Fit

Choose = Callable[[Kernel, int], Spectrum]  # the eigenpairs that the map is made of, at most so many
Few = Callable[[Spectrum, int, int], str]  # words on a spectrum of fewer positive directions than asked for

_REMEDY = "another method, or columns scaled to unit variance"


class Vertices(Protocol):
    """What one part of a map is made of: data rows, and the vertex of each."""

    @property
    def rows(self) -> Integers:
        """Data rows in it."""

    @property
    def numbers(self) -> Integers:
        """The vertex of each."""

    def __len__(self) -> int:
        """How many vertices there are."""


@dataclass(frozen=True)
class Whole:
    """All rows of a table as one part; copies of a row may be one vertex."""

    copies: Collapse

    @property
    def rows(self) -> Integers:
        """All of them."""
        return np.arange(len(self.copies.vertex))

    @property
    def numbers(self) -> Integers:
        """The vertex of each."""
        return self.copies.vertex

    def __len__(self) -> int:
        return len(self.copies)


def few_positive(_: Spectrum, positive: int, wanted: int) -> str:
    """Say that the last columns of a map are zero."""
    return (
        f"n_components={wanted}, but the kernel has only {positive} positive eigenvalues: "
        f"{last_columns_are(wanted - positive)} zero."
    )


def solve_part(
    fit: "Fit",
    vertices: Any,
    build: Callable[[Any, "Fit"], Built],
    choose: Choose,
    few: Few = few_positive,
) -> Part:
    """The kernel of these vertices, its spectrum, and the coordinates of each."""
    if len(vertices) == 1:
        return single_point(fit.n_components)
    with fit.stages("kernel"):
        built = build(vertices, fit)
        kernel = built.kernel
    with fit.stages("spectrum"):
        count = min(fit.n_components, len(kernel.mass) - kernel.null.shape[1])
        spectrum = choose(kernel, count)
    positive = int(positive_directions(spectrum).sum())
    if kernel.exponent > 0 and positive < max(count, 1):
        warn(few(spectrum, positive, fit.n_components), RankWarning)
    coordinates = widened(place_everybody(kernel, spectrum), fit.n_components)
    if kernel.landmarks is None:  # over the vertices; a user's is over data rows
        kernel = kernel.over(vertices.numbers)
    return Part(kernel, spectrum, built.placement, coordinates, np.zeros(fit.n_components), built.found)


def single_point(dimensions: int) -> Part:
    """A component of one row, which is where it is."""
    return Part(None, None, None, np.zeros((1, dimensions)), np.zeros(dimensions))


def lay_out(
    fit: "Fit",
    source: Any,
    vertices: Sequence[Vertices],
    parts: list[Part],
    degree: float,
    found: Mapping[str, Any] | None = None,
) -> Model:
    """The model of a map whose parts lie side by side, in coordinates of this power of the rows' unit.

    Rows that are in no part have no place, or that of new rows where the graph has only some of them.
    """
    parts = side_by_side(parts)
    places = np.full((fit.X.shape[0], len(parts[0].offset)), np.nan, dtype=fit.X.dtype)
    for part, one in zip(parts, vertices, strict=True):
        places[one.rows] = (part.coordinates + part.offset)[one.numbers]
    if isinstance(source, GraphSource) and source.components.subset is not None:
        others = np.setdiff1d(np.arange(len(places)), source.components.subset)
        rows = source.rows[others]
        places[others] = source.placed(rows, source.met(rows), tuple(parts), fit.n_jobs)
    return Model(
        name=fit.name,
        reads=fit.reads,
        columns=fit.columns,
        timings=fit.stages.seconds,
        found={**parts[0].found, **(found or {})},
        source=source,
        parts=tuple(parts),
        embedding=source.unit.shown(places, degree, fit.X.dtype, "coordinates"),
        degree=degree,
    )


def judged(
    fit: "Fit",
    model: Model,
    hood: Neighborhood | None = None,
    *,
    remedy: str = "",
    keeps_neighbors: bool = True,
    distances: bool = False,
    localized: Mapping[int, LocalizedAxis] | None = None,
) -> Model:
    """The model, with a warning where its map shows little of the data.

    `remedy` is what of the method's may be changed, beside its neighbourhood; `keeps_neighbors` whether rows that are
    near are meant to be near on the map; `distances` whether precomputed values are such, as those of graphs are;
    `localized` the coordinates that a method knows to be localised.
    """
    source = model.source
    data: Data | None = None if source.metric is None else rows_by(source.metric, source.rows)
    if fit.reads.precomputed and (distances or hood is not None) and not fit.weighted:
        data = all_distances(source.unit.inward(fit.X))
    words = [word for word in (remedy, "" if hood is None or fit.weighted else _another(hood), _REMEDY) if word]
    warn_of_degenerate_map(
        model.embedding, data, ", ".join(words), keeps_neighbors=keeps_neighbors, localized=localized or {}
    )
    return model


def _another(hood: Neighborhood) -> str:
    now = f"n_neighbors (now {hood.n_neighbors}" if hood.radius is None else f"radius (now {hood.radius:g}"
    return f"another {now})"

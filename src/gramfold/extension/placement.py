"""How a new row gets its place: what it met, and the object that puts that on the map."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from gramfold.extension.extrapolation import corners
from gramfold.neighbors.index import Index
from gramfold.types import COORDINATES, Floats, Graph, Kernel, Neighbors, Plain


@dataclass(frozen=True, eq=False)
class Part(Plain):
    """A connected component (or all rows), its kernel, and its part of the map."""

    kernel: Any  # its Kernel; None for a single point
    spectrum: Any  # its Spectrum; None for a single point
    placement: Any  # its Placement; None for a single point
    coordinates: Floats = field(metadata=COORDINATES)  # (n_vertices, p), in its own frame
    offset: Floats  # (p,) of its frame on the map
    found: Mapping[str, Any] = field(default_factory=dict)  # what the method found out on the way, by name
    box: Floats | None = None  # (2, p) the corners of the coordinates, where they were left out

    @property
    def extent(self) -> Floats:
        """Coordinates that reach as far as all of them."""
        return self.coordinates if self.box is None else self.box

    def boxed(self) -> "Part":
        """Without the coordinates, but for how far they reach, and without what was found out."""
        return replace(self.without("coordinates"), box=corners(self.coordinates), found={})


@dataclass(frozen=True, eq=False)
class Built:
    """What a method makes of a component: its kernel, how that meets new rows, and what else was found out."""

    kernel: Kernel
    placement: "Placement"
    found: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class NewRows:
    """New rows and the vertices of one component that they meet."""

    rows: Any
    met: Neighbors  # numbered within the component
    graph: Graph  # of the component
    index: Index  # whose vertices `graph.vertices` are
    radii: Floats | None  # neighbourhood radii of the rows


Known = Callable[[], Floats]  # the places of the training rows, for whoever looks at them


class Placement(Protocol):
    """Puts what was met on the map: NewRows of a graph, or the rows themselves."""

    def place(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q) in the frame of the part, q at most the columns of the map."""

    def slopes(self, new: Any, part: Part, n_jobs: int | None) -> Floats | None:
        """Derivatives (m, q, d) of these coordinates by the columns; None where the formula has none.

        At a training row they are those of the formula around it, which a look-up of its coordinates would hide.
        """

    def compacted(self, part: Part) -> Part:
        """The part without what new rows do not read of it."""


class AmongVertices(Placement, Protocol):
    """A placement among the vertices of a graph: it reads NewRows."""

    reads_grams: bool  # whether it asks the index for local Gram matrices

    def read_of(self, graph: Graph) -> Graph:
        """What it reads of the graph."""


class AmongRows(Placement, Protocol):
    """A placement of rows as they are."""

    def needs(self, rows: Any) -> bool:
        """Whether it reads all of these training rows."""


def widened(columns: Floats, count: int) -> Floats:
    """With columns of zeros for directions that were not found."""
    missing = count - columns.shape[1]
    return columns if not missing else np.pad(columns, ((0, 0), (0, missing), *[(0, 0)] * (columns.ndim - 2)))

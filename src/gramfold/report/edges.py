"""Who is near whom: the edges of the neighbour graph, and what the radii of neighbourhoods say of each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.extension.extrapolation import share_of_radius
from gramfold.report.blocks import Blocks
from gramfold.report.subject import Subject
from gramfold.types import Floats, Graph, Neighbors

MOST = 20_000  # rows whose edges a page holds
_RIM = 8  # neighbours by which gramfold says how far outside of the data a row lies


@dataclass(frozen=True, eq=False)
class Around:
    """The nearest neighbours of each row of a map, in the user's unit."""

    lists: Neighbors  # over the n rows of the map; none of a row without a place
    whose: str  # where they come from, in words

    @property
    def radii(self) -> Floats:
        """Distance of each row to its last neighbour, NaN where it has none."""
        return np.where(self.lists.counts > 0, self.lists.farthest, np.nan)

    @property
    def density(self) -> Floats:
        """−log10 of the radius; NaN for rows whose neighbours are copies of them."""
        with np.errstate(divide="ignore"):
            found = -np.log10(self.radii)
        return np.where(np.isfinite(found), found, np.nan)

    @property
    def alone(self) -> Floats:
        """How far outside of all other rows each row would be, if it were new."""
        lists, n = self.lists, len(self.lists)
        some = np.flatnonzero(lists.counts > 0)
        nearest = lists.indices[lists.indptr[some]]
        last = np.minimum(lists.counts, _RIM)
        rim = np.full(n, np.nan)
        filled = last > 0
        rim[filled] = lists.distances[(lists.indptr[:-1] + last - 1)[filled]]
        found = np.full(n, np.nan)
        found[some] = share_of_radius(lists.distances[lists.indptr[some]], rim[nearest])
        return np.where(np.isinf(found), np.nan, found)


def around(subject: Subject) -> Around | None:
    """The neighbours by which the map is judged; of many rows those that the fit found."""
    judged, model = subject.judged, subject.model
    if judged is not None and judged.n <= MOST and judged.n_given == len(subject.Y):
        found = judged.in_data
        counts = np.zeros(judged.n_given, dtype=np.intp)
        counts[judged.kept] = found.counts
        indptr = np.concatenate(([0], np.cumsum(counts)))
        lists = Neighbors(indptr, judged.kept[found.indices], found.distances * _unit(model), judged.n_given)
        return Around(lists, f"{judged.n_neighbors} nearest rows in the data")
    near = getattr(model, "neighbors_", None)
    if not isinstance(near, Neighbors) or len(near) != len(subject.Y):
        return None
    in_unit = Neighbors(near.indptr, near.indices, near.distances * _unit(model), len(near))
    return Around(in_unit, "neighbours of the fit")


def _unit(model: Any) -> float:
    return float(getattr(model, "unit_", 1.0)) if model is not None else 1.0


def edges_of(subject: Subject, near: Around | None, blocks: Blocks) -> dict[str, Any] | None:
    """As the manifest has them: for each row where its edges start, the rows at their ends, and their lengths."""
    if not 1 < len(subject.Y) <= MOST:
        return None
    graph = None if subject.model is None else getattr(subject.model, "graph_", None)
    if isinstance(graph, Graph) and len(graph) == len(subject.Y):
        both, whose = _of_graph(graph, _unit(subject.model)), "neighbour graph of the fit"
    elif near is not None:
        both, whose = _both_ways(near.lists), near.whose
    else:
        return None
    largest = float(both.distances.max(initial=0.0))
    lengths = both.distances / (largest or 1.0)
    single = np.finfo(np.float32)
    plain = float(single.tiny) < largest < float(single.max)  # as numbers of single precision they would be compared
    return {
        "starts": blocks.add(both.indptr.astype(np.uint32)),
        "ends": blocks.add(both.indices.astype(np.uint32)),
        "lengths": blocks.add((both.distances if plain else lengths).astype(np.float32)),
        "of": whose,
    }


def _of_graph(graph: Graph, unit: float) -> Neighbors:
    """The edges over all rows; a copy has one of length 0 to the row that it is a copy of, which has all others."""
    n = len(graph)
    lengths = graph.lengths.tocoo()
    copies = np.flatnonzero((graph.rows != np.arange(n)) & (graph.rows >= 0))
    rows = np.concatenate([lengths.row, copies, graph.rows[copies]])
    ends = np.concatenate([lengths.col, graph.rows[copies], copies])
    found = np.concatenate([lengths.data * unit, np.zeros(2 * len(copies))])
    return Neighbors.from_pairs(rows, ends, found, (n, n))


def _both_ways(lists: Neighbors) -> Neighbors:
    rows, ends = np.concatenate([lists.rows, lists.indices]), np.concatenate([lists.indices, lists.rows])
    return Neighbors.from_pairs(rows, ends, np.tile(lists.distances, 2), (len(lists), len(lists)))

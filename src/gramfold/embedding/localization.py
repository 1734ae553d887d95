"""Eigenvectors of a graph that are localised on few loosely tied rows, in words."""

import numpy as np
from scipy.sparse import csr_array

from gramfold.embedding.degenerate import LocalizedAxis
from gramfold.errors import DegenerateMapWarning
from gramfold.kernels.loose import localized
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph

_FEWEST = 50  # rows below which nothing is told


def localized_axes(weights: csr_array, graph: Graph, vectors: Floats) -> dict[int, LocalizedAxis]:
    """The vectors (n, p) over the vertices of a graph with these edge weights that few rows hold, by number."""
    copies = graph.multiplicity
    return {
        axis: LocalizedAxis(np.sort(graph.rows[part.vertices]), int(copies[part.vertices].sum()), part.edges)
        for axis, part in localized(weights, copies, vectors).items()
    }


def warn_of_localized(weights: csr_array, graph: Graph, vectors: Floats, remedy: str) -> None:
    """Say so where eigenvectors that clusters are made of are localised; `remedy` is what may be changed, in words."""
    if graph.multiplicity.sum() < _FEWEST:
        return
    found = localized_axes(weights, graph, vectors)
    if found:
        told = "; ".join(f"eigenvector {axis + 1} {one.words()}" for axis, one in found.items())
        warn(f"{told}, and a cluster may consist of such rows alone. Try {remedy}.", DegenerateMapWarning)

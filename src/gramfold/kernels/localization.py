"""Eigenvectors of a graph that are localised on few loosely tied rows, in words."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramfold.errors import DegenerateMapWarning
from gramfold.kernels.diffusion import LaplacianKernel
from gramfold.kernels.loose import edge_weights_of, localized
from gramfold.kernels.regularized import graph_laplacian
from gramfold.runtime.counting import some_rows
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Integers, Spectrum

_FEWEST = 50  # rows below which nothing is told


@dataclass(frozen=True)
class LocalizedAxis:
    """A coordinate that few loosely tied rows of a graph hold."""

    rows: Integers  # data rows, without copies, ascending
    count: int  # with copies
    edges: int  # that tie them to the others

    def words(self) -> str:
        """What is so of the coordinate."""
        who, them = some_rows(self.rows, self.count)
        tie = "1 edge connects" if self.edges == 1 else f"only {self.edges} edges connect"
        return f"is localised on {who}, which {tie} to the others: it shows little but {them}"


def localized_axes(weights: csr_array, graph: Graph, vectors: Floats) -> dict[int, LocalizedAxis]:
    """The vectors (n, p) over the vertices of a graph with these edge weights that few rows hold, by number."""
    copies = graph.multiplicity
    return {
        axis: LocalizedAxis(np.sort(graph.rows[part.vertices]), int(copies[part.vertices].sum()), part.edges)
        for axis, part in localized(weights, copies, vectors).items()
    }


def localized_coordinates(kernel: LaplacianKernel, spectrum: Spectrum, graph: Graph) -> dict[int, LocalizedAxis]:
    """The coordinates of a component that are localised on few loosely tied rows."""
    vectors = spectrum.eigenvectors if kernel.scale is None else spectrum.eigenvectors / kernel.scale[:, None]
    return localized_axes(edge_weights_of(graph_laplacian(kernel), kernel.scale), graph, vectors)


def warn_of_localized(weights: csr_array, graph: Graph, vectors: Floats, remedy: str) -> None:
    """Say so where eigenvectors that clusters are made of are localised; `remedy` is what may be changed, in words."""
    if graph.multiplicity.sum() < _FEWEST:
        return
    found = localized_axes(weights, graph, vectors)
    if found:
        told = "; ".join(f"eigenvector {axis + 1} {one.words()}" for axis, one in found.items())
        warn(f"{told}, and a cluster may consist of such rows alone. Try {remedy}.", DegenerateMapWarning)

"""Clusters of the vertices of a graph: its connected components, or clusters from eigenvectors of its Laplacian.

Components are null vectors of the Laplacian, known without solving, and may be the clusters themselves.
Otherwise L y = λ D y: an axis for each component and the next eigenvectors are an embedding, which a rule clusters.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.loose import LooseRows, trimmed
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.kernels.regularized import default_tau, regularized_penalty
from gramfold.methods.spectral_clustering.assign import Assignment, by_appearance
from gramfold.methods.spectral_clustering.few_components import LEFT_OUT
from gramfold.types import COORDINATES, Floats, Integers, Plain, Spectrum


@dataclass(frozen=True, eq=False)
class Division(Plain):
    """An embedding of the vertices, and the rule that assigns clusters to its coordinates."""

    component: Integers  # (n,) of each vertex
    places: Floats = field(metadata=COORDINATES)  # (n, k) an axis for each component, then eigenvectors
    penalties: Floats  # (k,) their eigenvalues
    assignment: Assignment
    tau: float = 0.0  # of a regularised Laplacian
    centers: Floats | None = None  # (count, k) mean coordinates of the rows of each component, where it is such


@dataclass(frozen=True, eq=False)
class Partition:
    """The cluster of each vertex, and the eigenvalues, cut, eigengap and spectrum."""

    labels: Integers  # (n,); −1 where it is in no cluster
    eigenvalues: Floats  # of the normalised Laplacian, ascending
    cut: float = 0.0
    gap: float | None = None
    spectrum: Spectrum | None = None  # None where components are the clusters, without any eigenproblem
    division: Division | None = None  # likewise
    loose: np.ndarray | None = None  # (n,) vertices that were left out of the eigenproblem; None: not asked for

    def by_row(self, vertex: Integers, dtype: np.dtype[Any]) -> dict[str, Any]:
        """Fitted attributes; `vertex` is the vertex of each row."""
        places = None if self.division is None else self.division.places[vertex].astype(dtype, copy=False)
        spectrum = self.spectrum
        return {
            "labels_": self.labels[vertex],
            "n_clusters_": int(self.labels.max()) + 1,
            "eigenvalues_": self.eigenvalues,
            "gap_": self.gap,
            "cut_": self.cut,
            "embedding_": places,
            "loose_": None if self.loose is None else self.loose[vertex],
            "participation_": None
            if spectrum is None
            else replace(spectrum, eigenvectors=spectrum.eigenvectors[vertex]).participation,
            "spectrum_": None if spectrum is None else replace(spectrum, eigenvectors=spectrum.eigenvectors[vertex]),
        }


def into_components(component: Integers) -> Partition:
    """The components as clusters, without any cut, numbered as they first occur."""
    count = int(component.max()) + 1
    number = np.empty(count, dtype=np.intp)
    number[by_appearance(component[component != LEFT_OUT])] = np.arange(count)
    return Partition(np.where(component == LEFT_OUT, LEFT_OUT, number[component]), np.zeros(count))


def component_kernel(
    weights: csr_array, multiplicity: Floats, component: Integers, loose_rows: LooseRows = "keep", count: int = 0
) -> PenaltyKernel:
    """L† in the mass D, with the indicator of each component as a null vector.

    `multiplicity` is the number of rows of each vertex; the loose rows of `count` eigenvectors may be left out, or the
    Laplacian of each component regularised.
    """
    mass = degrees(weights)
    mass = np.where(mass > 0, mass, multiplicity)  # a vertex alone has no edge to count
    inside = np.equal.outer(component, np.arange(int(component.max()) + 1)).astype(np.float64)
    kernel = PenaltyKernel(penalty=laplacian(weights), mass=mass, null=inside, rows=np.arange(len(mass)))
    if loose_rows == "trim" and count > 0:
        kernel = trimmed(kernel, multiplicity, count)
    elif loose_rows == "regularize":
        kernel = regularized_penalty(kernel, multiplicity, default_tau(mass, multiplicity))
    return replace(kernel, null=np.asarray(inside / np.sqrt(kernel.mass @ inside)))  # orthonormal in the mass

"""Clusters of the vertices of a graph: its connected components, or clusters from eigenvectors of its Laplacian.

Components are null vectors of the Laplacian, known without solving, and may be the clusters themselves.
Otherwise L y = λ D y: an axis for each component and the next eigenvectors are an embedding, which a rule clusters.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.methods.spectral_clustering.assign import Assignment, by_appearance
from gramfold.methods.spectral_clustering.few_components import LEFT_OUT
from gramfold.types import Floats, Integers, Plain, Spectrum


@dataclass(frozen=True, eq=False)
class Division(Plain):
    """An embedding of the vertices, and the rule that assigns clusters to its coordinates."""

    component: Integers  # (n,) of each vertex
    places: Floats  # (n, k) an axis for each component, then eigenvectors
    penalties: Floats  # (k,) their eigenvalues
    assignment: Assignment


@dataclass(frozen=True, eq=False)
class Partition:
    """The cluster of each vertex, and the eigenvalues, cut, eigengap and spectrum."""

    labels: Integers  # (n,); −1 where it is in no cluster
    eigenvalues: Floats  # of the normalised Laplacian, ascending
    cut: float = 0.0
    gap: float | None = None
    spectrum: Spectrum | None = None  # None where components are the clusters, without any eigenproblem
    division: Division | None = None  # likewise

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
            "spectrum_": None if spectrum is None else replace(spectrum, eigenvectors=spectrum.eigenvectors[vertex]),
        }


def into_components(component: Integers) -> Partition:
    """The components as clusters, without any cut, numbered as they first occur."""
    count = int(component.max()) + 1
    number = np.empty(count, dtype=np.intp)
    number[by_appearance(component[component != LEFT_OUT])] = np.arange(count)
    return Partition(np.where(component == LEFT_OUT, LEFT_OUT, number[component]), np.zeros(count))


def component_kernel(weights: csr_array, multiplicity: Floats, component: Integers) -> PenaltyKernel:
    """L† in the mass D, with the indicator of each component as a null vector.

    `multiplicity` is the number of rows of each vertex.
    """
    mass = degrees(weights)
    mass = np.where(mass > 0, mass, multiplicity)  # a vertex alone has no edge to count
    inside = np.equal.outer(component, np.arange(int(component.max()) + 1)).astype(np.float64)
    null = np.asarray(inside / np.sqrt(mass @ inside))  # (n, count), orthonormal in the mass
    return PenaltyKernel(penalty=laplacian(weights), mass=mass, null=null, rows=np.arange(len(mass)))

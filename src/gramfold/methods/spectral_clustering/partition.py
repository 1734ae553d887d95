"""The vertices of a graph in clusters: connected components, or what eigenvectors of its Laplacian make of them.

components are null vectors: known without solving, and clusters of their own
else  L y = λ D y;  an axis for each component and the next eigenvectors are a map, whose places a rule labels
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
    """A map of the vertices, and which cluster is where on it."""

    component: Integers  # (n,) of each vertex
    places: Floats  # (n, k) an axis for each component, then eigenvectors
    penalties: Floats  # (k,) their eigenvalues
    assignment: Assignment


@dataclass(frozen=True, eq=False)
class Partition:
    """The cluster of each vertex, and what was found on the way."""

    labels: Integers  # (n,); −1 where it is in no cluster
    eigenvalues: Floats  # of the normalised Laplacian, ascending
    cut: float = 0.0
    gap: float | None = None
    spectrum: Spectrum | None = None  # None where components are the clusters and nothing had to be solved
    division: Division | None = None  # likewise

    def by_row(self, vertex: Integers, dtype: np.dtype[Any]) -> dict[str, Any]:
        """What the user sees of it: `vertex` is that of each row."""
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
    """Components are the clusters: no edge is cut. They are numbered as they first occur."""
    count = int(component.max()) + 1
    number = np.empty(count, dtype=np.intp)
    number[by_appearance(component[component != LEFT_OUT])] = np.arange(count)
    return Partition(np.where(component == LEFT_OUT, LEFT_OUT, number[component]), np.zeros(count))


def component_kernel(weights: csr_array, multiplicity: Floats, component: Integers) -> PenaltyKernel:
    """L† in the mass D, with the components for its null vectors: a column for each, 0 outside of it.

    A vertex stands for so many rows.
    """
    mass = degrees(weights)
    mass = np.where(mass > 0, mass, multiplicity)  # a vertex alone has no edge to count
    inside = np.equal.outer(component, np.arange(int(component.max()) + 1)).astype(np.float64)
    null = np.asarray(inside / np.sqrt(mass @ inside))  # (n, count), orthonormal in the mass
    return PenaltyKernel(penalty=laplacian(weights), mass=mass, null=null, rows=np.arange(len(mass)))

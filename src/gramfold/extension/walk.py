"""A new point on a map of geodesics: it steps to its neighbours, walks the fitted graph, and is projected."""

import numpy as np

from gramfold.extension.project import project
from gramfold.graph.geodesic import squared_geodesics_from
from gramfold.kernels.gram import GramKernel
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Neighbors, Spectrum

_ENTRIES_PER_BLOCK = 20_000_000


def walk_and_project(met: Neighbors, kernel: GramKernel, spectrum: Spectrum, n_jobs: int | None = None) -> Floats:
    """Coordinates (m, p) of points that meet these vertices; the kernel's array holds the squared walks."""
    places = np.empty((len(met), len(spectrum)))
    for part in blocks(len(met), max(1, _ENTRIES_PER_BLOCK // len(kernel.array))):
        squared = squared_geodesics_from(met.take(np.arange(len(met))[part]), kernel.array, n_jobs)
        places[part] = project(kernel.cross(squared), kernel, spectrum)
    return places

"""A new point on a map of geodesics: it steps to its neighbours, walks the fitted graph, and is projected."""

import numpy as np

from gramfold.extension.project import project, scaled
from gramfold.graph.geodesic import squared_geodesics_from
from gramfold.kernels.gram import GramKernel
from gramfold.kernels.mercer import RepairedGram
from gramfold.runtime.threads import blocks
from gramfold.types import Floats, Neighbors, Spectrum

_ENTRIES_PER_BLOCK = 20_000_000


def walk_and_project(met: Neighbors, kernel: GramKernel, spectrum: Spectrum, n_jobs: int | None = None) -> Floats:
    """Coordinates (m, p) of points that meet these vertices; the kernel holds the squared walks."""
    places = np.empty((len(met), len(spectrum)))
    for part in blocks(len(met), max(1, _ENTRIES_PER_BLOCK // len(kernel.array))):
        squared = squared_geodesics_from(met.take(np.arange(len(met))[part]), kernel.everybody, n_jobs)
        places[part] = project(kernel.cross(squared), kernel, spectrum)
    return places


def jump_beside_vertices(kernel: GramKernel, spectrum: Spectrum) -> Floats:
    """Where a new row very near vertex i lands, relative to it, (n, p): −½ m_i (c² + 2a) V_i Λ^-½.

    Under a repair its d~²(x, i) is c² + 2a and not 0, however near it is; all else is as it should be.
    """
    raised = kernel.raised if isinstance(kernel, RepairedGram) else 0.0
    return np.asarray(-0.5 * raised * kernel.mass[:, None] * scaled(spectrum, kernel.exponent - 1.0))
